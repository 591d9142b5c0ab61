import { HostError, nearest, quote } from "../errors/errors.ts";
import {
  checkPackageSchemas,
  type NativeManifest,
  parseNativeManifest,
  readNativeManifest,
} from "../manifest/manifest.ts";
import { type FunctionDefinition, type FunctionGround, FunctionProvider } from "./function-provider.ts";
import { resolveCatalog } from "./pool-catalog.ts";
import type { Provider } from "./provider.ts";
import { ProviderPool, type ProviderPoolStats } from "./provider-pool.ts";
import type { ProviderRuns } from "./provider-runs.ts";
import { jsonText } from "./run-input.ts";

/** How much a native executor takes on. */
export interface NativeExecutorOptions {
  /** Runs that it carries out at once, of all its capabilities together: a whole number from 1 to 256. */
  readonly capacity: number;
  /** Runs that may wait for a slot: a whole number from 0 to 1,000,000. Default 1,024. */
  readonly queue?: number;
}

/**
 * What a native capability is made of: takes a JSON value that fits the operation's input schema, and gives one that fits its output
 * schema. `context.operation` says which is meant. May be asynchronous. Says no with a `DeclinedError`; anything else that it throws
 * ends the run as `provider-failed`.
 */
export type NativeFunction = FunctionDefinition["call"];

/** A manifest as it is written in code: what has a default may be left out. */
export type NativeManifestInput = Pick<NativeManifest, "id" | "version" | "artifactType" | "operations"> &
  Partial<NativeManifest> & { readonly $schema?: string };

/** An installed native capability. */
export interface NativeCapability {
  /** `id@version`. */
  readonly id: string;
  readonly manifest: NativeManifest;
  readonly operations: readonly string[];
}

const MOST_CAPACITY = 256;
const KEYS = ["capacity", "queue"];
/** The pool's only candidate, whose slots all capabilities take. */
const SLOTS = "native";

/**
 * Runs native capabilities: functions of the application, each with a manifest whose `artifactType` is "native". All of them share one
 * bounded capacity. Their runs are runs like any other; events are validated once the function has returned, and one that is not
 * declared, or breaks its schema, fails the run. Not promised: that a function stops when its run ends. It is trusted code, the
 * slot is free at the run's end, and a function that ignores `context.signal` goes on beside the next.
 *
 * A function that waits for a run of the same executor holds its slot meanwhile. With all slots held by such functions the runs
 * that they wait for cannot begin: the first function's `wallMs`, which every run has, ends that.
 */
export class NativeExecutor {
  readonly capacity: number;
  readonly #runs: ProviderRuns;
  readonly #ground: FunctionGround;
  readonly #pool: ProviderPool;
  readonly #installed = new WeakSet<Provider>();

  /** Use `host.providers.nativeExecutor`. Throws AIRLOCK_PROVIDERS_CAPACITY_INVALID, AIRLOCK_PROVIDERS_CATALOG_INVALID. */
  constructor(runs: ProviderRuns, options: NativeExecutorOptions, ground: FunctionGround = {}) {
    const { capacity, queue } = checkOptions(options);
    const candidates = [{ providerId: SLOTS, capacity }];
    this.capacity = capacity;
    this.#runs = runs;
    this.#ground = ground;
    this.#pool = new ProviderPool(resolveCatalog({ candidates, ...(queue === undefined ? {} : { queue }) }));
    this.#pool.connect(SLOTS, true);
  }

  /**
   * Registers a function under its manifest: an object, or the path of a capability.json or its folder. From then on `host.run` takes its
   * id. Nothing of Wasm gets here: its manifest is refused. Rejects with AIRLOCK_MANIFEST_ARTIFACT_TYPE, AIRLOCK_MANIFEST_INVALID,
   * AIRLOCK_MANIFEST_UNREADABLE, AIRLOCK_ADMISSION_INVALID_SCHEMA, AIRLOCK_PROVIDERS_DEFINITION_INVALID (also for a limit that cannot be
   * held for native code), AIRLOCK_PROVIDERS_DUPLICATE.
   */
  async install(source: string | NativeManifestInput, call: NativeFunction): Promise<NativeCapability> {
    const manifest =
      typeof source === "string" ? readNativeManifest(source) : parseNativeManifest(textOf(source), "manifest");
    const id = `${manifest.id}@${manifest.version}`;
    if (typeof call !== "function") {
      throw new HostError(
        "AIRLOCK_PROVIDERS_DEFINITION_INVALID",
        `Cannot install ${quote(id)}: call is of type ${typeof call}, a function is wanted, which is what a native capability runs`,
      );
    }
    checkSchemas(manifest, id);
    const { emits: events, limits } = manifest;
    const operations = manifest.operations.map(({ name, input, output }) => ({ name, input, output }));
    const provider = new FunctionProvider({ id, call, operations, events, limits, eventsWait: true }, this.#ground);
    await this.#runs.add(provider, { pool: this.#pool, candidate: SLOTS });
    this.#installed.add(provider);
    return Object.freeze({ id, manifest, operations: provider.operations });
  }

  /** Takes a capability out once its runs have ended. Rejects with AIRLOCK_PROVIDERS_MISSING, also for what another one installed. */
  async uninstall(id: string): Promise<void> {
    const provider = this.#runs.resolve(id);
    if (provider === null || !this.#installed.has(provider)) {
      throw new HostError(
        "AIRLOCK_PROVIDERS_MISSING",
        `Cannot uninstall ${quote(id)}: this executor did not install it; host.uninstall takes out a Wasm capability`,
      );
    }
    await this.#runs.remove(provider.id);
  }

  stats(): ProviderPoolStats {
    return this.#pool.stats();
  }
}

function checkOptions(options: NativeExecutorOptions): NativeExecutorOptions {
  const given: unknown = options;
  const fields =
    typeof given === "object" && given !== null ? (given as NativeExecutorOptions) : { capacity: Number.NaN };
  const key = Object.keys(fields).find((each) => !KEYS.includes(each));
  if (key !== undefined) {
    const near = nearest(key, KEYS);
    const hint = near === undefined ? `known are ${KEYS.join(", ")}` : `did you mean ${quote(near)}?`;
    throw new HostError(
      "AIRLOCK_PROVIDERS_DEFINITION_INVALID",
      `Cannot make a native executor: it has the unknown option ${quote(key, 40)}; ${hint}`,
    );
  }
  const { capacity, queue } = fields;
  if (Number.isSafeInteger(capacity) && capacity >= 1 && capacity <= MOST_CAPACITY) {
    return queue === undefined ? { capacity } : { capacity, queue };
  }
  const shown =
    typeof capacity === "number" || capacity === undefined ? String(capacity) : `of type ${typeof capacity}`;
  throw new HostError(
    "AIRLOCK_PROVIDERS_CAPACITY_INVALID",
    `Cannot make a native executor: capacity is ${shown}, a whole number from 1 to ${MOST_CAPACITY} is wanted`,
  );
}

/** A manifest from code came from outside as well: it counts once it was parsed. What JSON cannot carry is refused as no JSON. */
function textOf(source: unknown): string {
  return jsonText(source) ?? "";
}

function checkSchemas(manifest: NativeManifest, id: string): void {
  const problems = checkPackageSchemas(manifest);
  if (problems.length === 0) return;
  throw new HostError("AIRLOCK_ADMISSION_INVALID_SCHEMA", `Cannot install ${quote(id)}: ${problems[0]}`, {
    details: { problems },
  });
}
