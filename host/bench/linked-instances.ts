import { toArtifact } from "../compile/artifact.ts";
import { buildComponent } from "../compile/component-build.ts";
import { EventGate } from "../events/events.ts";
import { effectiveLimits, resolvePolicy } from "../manifest/manifest.ts";
import { instantiate, prepare } from "../pool/instance.ts";
import { MemoryPool } from "../pool/memory-pool.ts";
import { BRIDGE_FIELDS } from "../pool/protocol.ts";
import { RunState } from "../pool/run-state.ts";
import type { WorkerBridge } from "../pool/worker-bridge.ts";

/** What is timed of one component. */
export interface Bench {
  /** Makes an instance and gives its memories back. */
  instance(): void;
  /** Makes a run's counters, its memories and its core instances: what an instance takes without its links. */
  core(): void;
  /** An instance that stays: calls it. */
  caller(): () => unknown;
}

const LIMITS = effectiveLimits(resolvePolicy({ caps: { fuel: Number.MAX_SAFE_INTEGER } }), {
  fuel: Number.MAX_SAFE_INTEGER,
});
const PLAIN = { exact: false, profile: false };
const RUN = { name: "run", interfaceName: null, key: "run", calling: "values" } as const;

/** Builds a component for the linker, or for jco's glue, as a pool thread would hold it. */
export async function benchOf(bytes: Uint8Array, only?: "glue"): Promise<Bench> {
  const built = await buildComponent({ bytes, importNames: [], variant: PLAIN }, only);
  const artifact = await toArtifact("bench", "", PLAIN, built);
  const assembly = prepare(artifact.linkage, artifact.key);
  const memories = new MemoryPool(new Int32Array(1), new Int32Array(BRIDGE_FIELDS.count));
  const make = (run: RunState) => instantiate(artifact, assembly, [], run, memories, "recycled");
  /** The core instances of one instance, as they were asked for. */
  const asked: [WebAssembly.Module, WebAssembly.Imports][] = [];
  const original = WebAssembly.Instance;
  WebAssembly.Instance = class extends original {
    constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(module, imports);
      asked.push([module, imports ?? {}]);
    }
  };
  try {
    make(newRun());
  } finally {
    WebAssembly.Instance = original;
  }
  return {
    instance: () => make(newRun()).release(),
    core: () => {
      newRun();
      const shapes = artifact.modules.flatMap(({ memory }) => (memory === null ? [] : [memory]));
      const taken = shapes.map(({ initial, maximum }) => memories.take(initial, maximum, true));
      for (const [module, imports] of asked) new WebAssembly.Instance(module, imports);
      for (const [index, { initial, maximum }] of shapes.entries()) memories.give(taken[index]!, initial, maximum);
    },
    caller: () => {
      const run = newRun();
      const instance = make(run);
      run.beginCall();
      const args = ["twenty-four bytes of text"];
      return () => instance.call(RUN, args);
    },
  };
}

function newRun(): RunState {
  const rules = { subscribable: false, declared: [], validatorOf: () => () => null };
  return new RunState({
    invocation: { runId: "run", capabilityId: "bench", capabilityVersion: "1.0.0", operation: "run" },
    input: "",
    limits: LIMITS,
    fuelInAll: null,
    seed: () => new Uint8Array(32),
    events: new EventGate(rules, LIMITS),
    bridge: {} as WorkerBridge,
    filesystem: null,
    profiler: null,
  });
}
