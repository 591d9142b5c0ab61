import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { type Allowance, type ResolvedAllowance, resolveAllowance } from "./allowance.ts";
import type { DiskCacheOptions } from "./compile/compile.ts";
import { quote } from "./errors/errors.ts";
import type { BindOptions, Connector } from "./gateway/gateway.ts";
import type { EmbedderImports } from "./invocation/invocation.ts";
import { type LimitPolicy, type Limits, resolvePolicy } from "./manifest/manifest.ts";
import { expectFields, invalidOption as invalid, wholeOption as whole } from "./option-checks.ts";
import { longestTextBytes, TIERS, type Tier } from "./pool/pool.ts";

/** What an application may set. Everything that a capability could reach is denied until it is named here. */
export interface HostOptions {
  /**
   * Threads that run guests; default: the machine's parallelism, at most 8. After the first run one more is kept ready, to take
   * the place of one that has to be ended.
   */
  readonly threads?: number;
  /** Runs that may wait for a thread before `run` throws AIRLOCK_POOL_QUEUE_FULL; default 1,024. */
  readonly queue?: number;
  /**
   * V8 heap that one thread may take, in megabytes, without Wasm memories; default 512. An eighth of it is the most that
   * `inputBytes` and `outputBytes` can be.
   */
  readonly heapMegabytes?: number;
  /**
   * How much of an instance is new for each run: `reset` (default) puts an instance back to where it was after instantiation, where that is
   * proven to be the same as a new one; `recycled` makes a new one on zeroed memories; `fresh` on new memories. Only time differs.
   */
  readonly tier?: Tier;
  /** Times the garbage collections of the threads, for `stats().pool.gc`; default false. */
  readonly gcTimes?: boolean;
  /** Limits when nobody names one, and caps that nobody gets past. */
  readonly limits?: { readonly defaults?: Partial<Limits>; readonly caps?: Partial<Limits> };
  /** Interfaces of the application, offered to guests that are granted them by name. */
  readonly imports?: EmbedderImports;
  /**
   * Ways to the outside, bound for every capability that declares them in `grants.connectors`, or, with `capabilities` beside the
   * connector, for some. `host.connectors` binds more later.
   */
  readonly connectors?: readonly (Connector | ConnectorBinding)[];
  /** What may be let in and granted. */
  readonly allow?: Allowance;
  /** Bytes of a component; default 64 MiB. */
  readonly maxComponentBytes?: number;
  /**
   * Bounds on one compilation, artifacts kept in memory (a capability whose artifact was given up gets it back from the disk cache
   * when it runs, or is compiled again), and processes started ahead for the next install (0 or 1, of use only to whom
   * installs more than one); default 30,000 ms, 2 GiB, 64, 1.
   */
  readonly compile?: {
    readonly timeoutMs?: number;
    readonly memoryBytes?: number;
    readonly cacheEntries?: number;
    readonly spares?: number;
    /**
     * A directory in which results are kept for later and for other processes; it is made where it is missing, and must be this
     * user's alone. Default: none, nothing is written.
     */
    readonly cacheDirectory?: string;
    /** Bytes of all files there, the ones unused longest go first; default 512 MiB. */
    readonly cacheBytes?: number;
  };
}

/** A connector, and how it is bound. */
export interface ConnectorBinding extends BindOptions {
  readonly connector: Connector;
}

/** How a capability is installed. */
export interface InstallOptions {
  /**
   * Makes the outcome of each of its runs say where the fuel went; default false. The fuel is the same, the time is not: each
   * call of a function takes some 70 ns more, and no instance is kept for another run.
   */
  readonly fuelProfile?: boolean;
}

/** Options with every default filled in, checked and frozen. */
export interface ResolvedOptions extends ResolvedAllowance {
  readonly threads: number;
  readonly queue: number;
  readonly heapMegabytes: number;
  readonly tier: Tier;
  readonly gcTimes: boolean;
  readonly policy: LimitPolicy;
  readonly imports: EmbedderImports;
  /** Checked when they are bound. */
  readonly connectors: readonly ConnectorBinding[];
  readonly maxComponentBytes: number;
  readonly compile: {
    readonly timeoutMs: number;
    readonly memoryBytes: number;
    readonly cacheEntries: number;
    readonly spares: number;
    readonly disk: DiskCacheOptions | null;
  };
}

/** More threads than this gain nothing for synchronous guests, and each holds a heap. */
const MOST_DEFAULT_THREADS = 8;
const MiB = 1024 * 1024;
const DEFAULT_TIER: Tier = "reset";

const FIELDS = [
  "threads",
  "queue",
  "heapMegabytes",
  "tier",
  "gcTimes",
  "limits",
  "imports",
  "connectors",
  "allow",
  "maxComponentBytes",
  "compile",
];
const COMPILE_FIELDS = ["timeoutMs", "memoryBytes", "cacheEntries", "spares", "cacheDirectory", "cacheBytes"];
const INTERFACE_NAME = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*@\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** Checks what the application wrote. Throws AIRLOCK_HOST_OPTIONS_INVALID naming the field and what is wanted. */
export function resolveOptions(options: HostOptions): ResolvedOptions {
  expectFields(options, "options", FIELDS);
  const { compile = {}, allow = {}, limits = {}, imports = {}, connectors = [], gcTimes = false } = options;
  expectFields(compile, "compile", COMPILE_FIELDS);
  expectFields(limits, "limits", ["defaults", "caps"]);
  if (typeof gcTimes !== "boolean") throw invalid("gcTimes", gcTimes, "true or false");
  const heapMegabytes = whole(options.heapMegabytes, "heapMegabytes", 32, 65_536, 512);
  return Object.freeze({
    threads: whole(options.threads, "threads", 1, 256, Math.min(availableParallelism(), MOST_DEFAULT_THREADS)),
    queue: whole(options.queue, "queue", 0, 1_000_000, 1_024),
    heapMegabytes,
    tier: resolveTier(options.tier ?? DEFAULT_TIER),
    gcTimes,
    policy: policyWithin(resolvePolicy(limits), limits, heapMegabytes),
    imports: checkedImports(imports),
    connectors: bindings(connectors),
    ...resolveAllowance(allow),
    maxComponentBytes: whole(options.maxComponentBytes, "maxComponentBytes", 8, 1024 * MiB, 64 * MiB),
    compile: Object.freeze({
      timeoutMs: whole(compile.timeoutMs, "compile.timeoutMs", 1, 600_000, 30_000),
      memoryBytes: whole(compile.memoryBytes, "compile.memoryBytes", 64 * MiB, 1024 * 1024 * MiB, 2048 * MiB),
      cacheEntries: whole(compile.cacheEntries, "compile.cacheEntries", 0, 100_000, 64),
      spares: whole(compile.spares, "compile.spares", 0, 1, 1),
      disk: diskCache(compile),
    }),
  });
}

function bindings(connectors: unknown): readonly ConnectorBinding[] {
  if (!Array.isArray(connectors)) throw invalid("connectors", connectors, "a list of connectors");
  return Object.freeze(
    connectors.map((each: Connector | ConnectorBinding) =>
      typeof each === "object" && each !== null && "connector" in each ? each : { connector: each },
    ),
  );
}

/** Checks what `install` was told. Throws AIRLOCK_HOST_OPTIONS_INVALID. */
export function resolveInstall(options: InstallOptions): Required<InstallOptions> {
  expectFields(options, "install", ["fuelProfile"]);
  const { fuelProfile = false } = options;
  if (typeof fuelProfile !== "boolean") throw invalid("install.fuelProfile", fuelProfile, "true or false");
  return { fuelProfile };
}

/** Throws AIRLOCK_HOST_OPTIONS_INVALID for what is no tier. */
export function resolveTier(tier: unknown): ResolvedOptions["tier"] {
  const known = TIERS.find((each) => each === tier);
  if (known === undefined) throw invalid("tier", tier, TIERS.map((each) => quote(each)).join(" or "));
  return known;
}

/** The path is made absolute here: what is used does not move with the process's directory. */
function diskCache({ cacheDirectory, cacheBytes }: NonNullable<HostOptions["compile"]>): DiskCacheOptions | null {
  const bytes = whole(cacheBytes, "compile.cacheBytes", MiB, 1024 * 1024 * MiB, 512 * MiB);
  if (cacheDirectory === undefined) {
    if (cacheBytes === undefined) return null;
    throw invalid("compile.cacheBytes", cacheBytes, "compile.cacheDirectory beside it");
  }
  if (typeof cacheDirectory !== "string" || cacheDirectory === "" || cacheDirectory.includes("\0"))
    throw invalid("compile.cacheDirectory", cacheDirectory, "the path of a directory");
  return Object.freeze({ directory: resolve(cacheDirectory), bytes });
}

/** A text longer than a share of the heap cannot be held, so a cap that is only the table's is lowered to it. */
function policyWithin(
  policy: LimitPolicy,
  named: NonNullable<HostOptions["limits"]>,
  heapMegabytes: number,
): LimitPolicy {
  const most = longestTextBytes(heapMegabytes);
  const lowered = (limits: LimitPolicy["caps"], given: Partial<Limits> | undefined, field: string) => {
    const bounded = { ...limits };
    for (const key of ["inputBytes", "outputBytes"] as const) {
      if ((given?.[key] ?? 0) > most) {
        throw invalid(`limits.${field}.${key}`, given?.[key], `at most ${most}, an eighth of heapMegabytes,`);
      }
      bounded[key] = Math.min(bounded[key] ?? most, most);
    }
    return Object.freeze(bounded);
  };
  return Object.freeze({
    defaults: lowered(policy.defaults, named.defaults, "defaults") as Limits,
    caps: lowered(policy.caps, named.caps, "caps"),
  });
}

function checkedImports(imports: unknown): EmbedderImports {
  expectObject(imports, "imports");
  for (const [name, functions] of Object.entries(imports)) {
    if (!INTERFACE_NAME.test(name))
      throw invalid("imports", name, 'the full name of an interface, as in "acme:crm/lookup@1.0.0"');
    if (/^(wasi|airlock):/.test(name))
      throw invalid("imports", name, "an interface of your own: wasi and airlock are the host's");
    expectObject(functions, `imports[${quote(name)}]`);
    for (const [key, body] of Object.entries(functions)) {
      if (typeof body !== "function") throw invalid(`imports[${quote(name)}].${key}`, typeof body, "a function");
    }
  }
  return imports as EmbedderImports;
}

function expectObject(value: unknown, field: string): asserts value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(field, value, "an object");
}
