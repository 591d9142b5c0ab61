import { toArtifact } from "../../compile/artifact.ts";
import { buildComponent } from "../../compile/component-build.ts";
import { EventGate } from "../../events/events.ts";
import type { HostAnswer, InterfaceLink } from "../../imports/imports.ts";
import { effectiveLimits, type Limits, resolvePolicy } from "../../manifest/manifest.ts";
import { instantiate, prepare } from "../../pool/instance.ts";
import { MemoryPool } from "../../pool/memory-pool.ts";
import type { HostCall } from "../../pool/pool-run.ts";
import { BRIDGE_FIELDS, type WorkerEnding } from "../../pool/protocol.ts";
import { RunState } from "../../pool/run-state.ts";
import type { WorkerBridge } from "../../pool/worker-bridge.ts";

/** A function call of a guest to the embedding application, as a test answers it. */
export type HostFunction = (functionName: string, args: readonly unknown[]) => HostAnswer;

export interface Call {
  readonly interfaceName: string | null;
  readonly key: string;
  readonly args: readonly unknown[];
  readonly limits?: Partial<Limits>;
}

/** How one call ended; `fuel` is the guest's, without its setup. */
export interface Ended {
  readonly ending: WorkerEnding;
  readonly fuel: number;
}

export interface Carried {
  readonly kind: "linked" | "glue" | "core";
  /** Makes a new instance and calls it once. */
  run(call: Call): Ended;
}

export interface CarryOptions {
  readonly links?: readonly InterfaceLink[];
  readonly host?: HostFunction;
}

const PLAIN = { exact: false, profile: false };
const LIMITS = resolvePolicy();

/** Builds a component for the linker where it can carry it, or for jco's glue, in this process and without admission. */
export async function carry(
  bytes: Uint8Array,
  { links = [], host }: CarryOptions = {},
  only?: "glue",
): Promise<Carried> {
  const request = { bytes, importNames: links.map(({ name }) => name), variant: PLAIN };
  const artifact = await toArtifact("test", "", PLAIN, await buildComponent(request, only));
  const assembly = prepare(artifact.linkage, artifact.key);
  const memories = new MemoryPool(new Int32Array(1), new Int32Array(BRIDGE_FIELDS.count));
  return {
    kind: artifact.linkage.kind,
    run({ interfaceName, key, args, limits: wanted }) {
      const limits = effectiveLimits(LIMITS, wanted);
      const run = runState(limits, host);
      let instance: ReturnType<typeof instantiate> | undefined;
      try {
        instance = instantiate(artifact, assembly, links, run, memories, "recycled");
        run.beginCall();
        const returned = instance.call({ name: key, interfaceName, key, calling: "values" }, args);
        return { ending: run.classify({ returned }), fuel: run.usage().fuel };
      } catch (thrown) {
        return { ending: run.classify({ thrown }), fuel: run.usage().fuel };
      } finally {
        run.finish();
        instance?.release();
      }
    },
  };
}

/** The same component through both. */
export async function bothWays(bytes: Uint8Array, options?: CarryOptions): Promise<{ linked: Carried; glue: Carried }> {
  const [linked, glue] = [await carry(bytes, options), await carry(bytes, options, "glue")];
  if (linked.kind !== "linked") throw new Error("The linker does not carry this component");
  return { linked, glue };
}

function runState(limits: Limits, host: HostFunction | undefined): RunState {
  const bridge = {
    begin() {},
    say() {},
    ask: ({ functionName, args }: HostCall) => host?.(functionName, args),
  } satisfies Pick<WorkerBridge, "begin" | "say" | "ask"> as unknown as WorkerBridge;
  const rules = { subscribable: true, declared: [], validatorOf: () => () => null };
  return new RunState({
    invocation: { runId: "run", capabilityId: "test", capabilityVersion: "1.0.0", operation: "test" },
    input: "",
    limits,
    fuelInAll: null,
    seed: () => new Uint8Array(32),
    events: new EventGate(rules, limits),
    bridge,
    filesystem: null,
    profiler: null,
  });
}
