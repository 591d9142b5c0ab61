import {
  type AdmissionPolicy,
  type AdmissionReport,
  type Admitted,
  admit,
  inspectComponent,
  inspectUnreadable,
} from "./admission/admission.ts";
import { groundOf } from "./bench-ground.ts";
import { Compiler, type CompileStats } from "./compile/compile.ts";
import { HostError, isHostError, quote } from "./errors/errors.ts";
import { grantProblem } from "./imports/imports.ts";
import { Cancellation, ComponentProvider, offerFunctions, Run, type Signature } from "./invocation/invocation.ts";
import type { Manifest } from "./manifest/manifest.ts";
import { type BenchOptions, type BenchResults, bench } from "./measure/measure.ts";
import {
  type HostOptions,
  type InstallOptions,
  type ResolvedOptions,
  resolveInstall,
  resolveOptions,
} from "./options.ts";
import { locatePackage, type PackageInMemory, UNREADABLE } from "./package-source.ts";
import { Pool, type PoolStats } from "./pool/pool.ts";
import { type CapabilityEvent, ProviderRegistry } from "./providers/providers.ts";
import { type RunOptions, runRequest } from "./run-options.ts";
import { type CommittedEvent, type EventFilter, type Subscription, Subscriptions } from "./subscriptions.ts";

/** An installed capability. */
export interface Installed {
  /** `id@version`. */
  readonly id: string;
  readonly manifest: Manifest;
  readonly operations: readonly string[];
  /** What each operation takes and gives: as the manifest declares it, or for a plain function as its WIT types mean it. */
  readonly signatures: readonly Signature[];
  readonly report: AdmissionReport;
  readonly timings: InstallTimings;
}

/** How long an install took, in milliseconds. What the host has seen before costs next to nothing: it is cached. */
export interface InstallTimings {
  /** Reading and every check; the start of the process that checks is in it, unless one was ready. */
  readonly admissionMs: number;
  /** Transpiling, metering and compiling. */
  readonly compileMs: number;
}

/** Numbers of a host. */
export interface HostStats {
  readonly capabilities: number;
  readonly runsInFlight: number;
  readonly runsStarted: number;
  readonly pool: PoolStats;
  readonly cache: CompileStats;
}

/** Makes a host. Throws AIRLOCK_HOST_OPTIONS_INVALID, AIRLOCK_POOL_WORKER_MISSING, AIRLOCK_COMPILE_CACHE_UNSAFE. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  return new Host(resolveOptions(options));
}

/** Runs capabilities: installs them, runs them, closes. An idle host does not keep the process alive. */
export class Host implements AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #policy: AdmissionPolicy;
  readonly #compiler: Compiler;
  readonly #pool: Pool;
  readonly #registry = new ProviderRegistry<ComponentProvider>();
  readonly #timings = new WeakMap<ComponentProvider, InstallTimings>();
  readonly #runs = new Map<string, Run>();
  readonly #subscriptions = new Subscriptions();
  #installations = 0;
  #started = 0;
  #closing: Promise<void> | null = null;

  /** Use `createHost`. */
  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.#policy = {
      limits: options.policy,
      maxComponentBytes: options.maxComponentBytes,
      embedderInterfaces: new Set(Object.keys(options.imports)),
      readableDirectories: options.readableDirectories,
      filesystemProblem: grantProblem(),
    };
    this.#compiler = new Compiler(options.compile);
    this.#pool = new Pool({ ...options, deployments: deploymentsPerThread(options) });
  }

  /**
   * Admits, compiles and registers a capability: a package's folder, its capability.json, or a package in memory. Throws a
   * HostError: AIRLOCK_HOST_OPTIONS_INVALID, AIRLOCK_MANIFEST_*, AIRLOCK_ADMISSION_* (its `details` is the AdmissionReport), AIRLOCK_METER_*, AIRLOCK_COMPILE_*,
   * AIRLOCK_PROVIDERS_DUPLICATE.
   */
  async install(source: string | PackageInMemory, options: InstallOptions = {}): Promise<Installed> {
    this.#checkOpen("install");
    const { fuelProfile: profile } = resolveInstall(options);
    const beganAt = performance.now();
    const { manifest, directory, load } = locatePackage(source, this.#options.maxComponentBytes);
    const bytes = load();
    const session = this.#compiler.open(bytes);
    try {
      const admitted = await admit({ manifest, bytes, directory, policy: this.#policy, check: session.check });
      const admittedAt = performance.now();
      const exact = this.#policyLimit(admitted) !== null;
      const artifact = await session.compile(admitted, { exact, profile });
      const compiledAt = performance.now();
      this.#checkOpen("install");
      const provider = new ComponentProvider({
        key: `${manifest.id}@${manifest.version}#${++this.#installations}`,
        admitted,
        artifact,
        policy: this.#options.policy,
        pool: this.#pool,
        tier: this.#options.tier,
        offered: offerFunctions(admitted, this.#options.imports),
      });
      this.#registry.add(provider);
      this.#timings.set(provider, { admissionMs: admittedAt - beganAt, compileMs: compiledAt - admittedAt });
      provider.deploy();
      return this.#describe(provider);
    } finally {
      session.close();
    }
  }

  /** Removes a capability; runs in flight finish. Throws AIRLOCK_PROVIDERS_MISSING. */
  uninstall(id: string): void {
    this.#checkOpen("uninstall");
    const provider = this.#registry.remove(id);
    const inFlight = [...this.#runs.values()].map(({ outcome }) => outcome);
    void Promise.allSettled(inFlight).then(() => provider.retire());
  }

  /** All installed capabilities. */
  list(): readonly Installed[] {
    return this.#registry.list().map((provider) => this.#describe(provider));
  }

  /**
   * The admission report of a package or of a bare component. A refusal is part of the report and not thrown, also that the
   * component cannot be read; a manifest that cannot be throws AIRLOCK_MANIFEST_*.
   */
  async inspect(source: string | PackageInMemory | { readonly component: Uint8Array }): Promise<AdmissionReport> {
    this.#checkOpen("inspect");
    const bare = typeof source === "object" && !("manifest" in source);
    const located = bare ? null : locatePackage(source, this.#options.maxComponentBytes);
    let bytes: Uint8Array;
    try {
      bytes = bare ? source.component : located!.load();
    } catch (thrown) {
      const code = located !== null && isHostError(thrown) ? UNREADABLE[thrown.code] : undefined;
      if (code === undefined) throw thrown;
      return inspectUnreadable({ ...located!, policy: this.#policy }, code, (thrown as HostError).message);
    }
    const { manifest, directory } = located ?? { manifest: null, directory: null };
    const session = this.#compiler.open(bytes);
    try {
      return await inspectComponent({
        manifest,
        bytes,
        directory,
        policy: this.#policy,
        check: session.check,
      });
    } finally {
      session.close();
    }
  }

  /**
   * Starts a run. `id` is `id@version`, or a bare id for the newest version. Throws before the run starts: AIRLOCK_PROVIDERS_MISSING,
   * AIRLOCK_INVOCATION_*, AIRLOCK_POOL_QUEUE_FULL, AIRLOCK_HOST_CLOSED. After that there are only outcomes.
   */
  run<Input = unknown, Output = unknown>(id: string, input: Input, options: RunOptions = {}): Run<Output> {
    this.#checkOpen("run");
    const provider = this.#registry.resolve(id);
    const request = runRequest(provider, input, options, this.#runs);
    provider.check(request);
    const abort = new Cancellation();
    const { signal } = options;
    const cancel = (): void => abort.abort(signal?.reason);
    if (signal?.aborted) cancel();
    else signal?.addEventListener("abort", cancel, { once: true });
    const events: CapabilityEvent[] = [];
    const run = new Run<Output>(request.runId, provider.id, abort, async (emitter, stop) => {
      const outcome = await provider.execute(
        request,
        {
          emit: (event) => {
            if (event.kind === "event") events.push(event.event);
            emitter.emit(event);
          },
        },
        stop,
      );
      signal?.removeEventListener("abort", cancel);
      this.#runs.delete(request.runId);
      if (outcome.kind === "succeeded") {
        for (const { type, version, payload } of events)
          this.#subscriptions.commit({ type, version, payload, runId: request.runId, providerId: provider.id });
      }
      return outcome;
    });
    this.#runs.set(request.runId, run as Run);
    this.#started++;
    return run;
  }

  /** Cancels a run by its id. Throws AIRLOCK_INVOCATION_RUN_UNKNOWN. */
  cancel(runId: string, reason?: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined)
      throw new HostError("AIRLOCK_INVOCATION_RUN_UNKNOWN", `Cannot cancel: no run ${quote(runId)} is in flight`);
    run.cancel(reason);
  }

  /** Hears of the events of runs that succeeded, in their order. */
  subscribe(filter: EventFilter, listener: (event: CommittedEvent) => void): Subscription {
    this.#checkOpen("subscribe");
    return this.#subscriptions.add(filter, listener);
  }

  /**
   * Measures a package under this host's options, on hosts of its own: what is installed here is neither used nor disturbed. Throws
   * AIRLOCK_MEASURE_OPTIONS_INVALID, AIRLOCK_MEASURE_CASE_FAILED, and what `install` and `run` throw.
   */
  async bench(options: BenchOptions): Promise<BenchResults> {
    this.#checkOpen("bench");
    return bench(
      groundOf(this.#options, options, (resolved) => new Host(resolved)),
      options,
    );
  }

  stats(): HostStats {
    return {
      capabilities: this.#registry.list().length,
      runsInFlight: this.#runs.size,
      runsStarted: this.#started,
      pool: this.#pool.stats(),
      cache: this.#compiler.stats(),
    };
  }

  /** Waits for the runs in flight, at most `drainMs`, then cancels what is left and ends threads and processes. Idempotent. */
  close({ drainMs = 5_000 }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    const settled = (): Promise<unknown> => Promise.allSettled([...this.#runs.values()].map(({ outcome }) => outcome));
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      settled(),
      new Promise((resolve) => {
        timer = setTimeout(resolve, drainMs);
      }),
    ]);
    clearTimeout(timer);
    for (const run of this.#runs.values()) run.cancel("the host is closing");
    await settled();
    this.#subscriptions.clear();
    await Promise.all([this.#compiler.close(), this.#pool.close()]);
  }

  #describe(provider: ComponentProvider): Installed {
    const { id, operations, signatures, admitted } = provider;
    const timings = this.#timings.get(provider)!;
    return { id, operations, signatures, manifest: admitted.manifest, report: admitted.report, timings };
  }

  #policyLimit({ manifest }: Admitted): number | null {
    return manifest.limits.callDepth ?? this.#options.policy.defaults.callDepth ?? this.#options.policy.caps.callDepth;
  }

  #checkOpen(action: string): void {
    if (this.#closing !== null) throw new HostError("AIRLOCK_HOST_CLOSED", `Cannot ${action}: the host is closed`);
  }
}

/** Deployments that a thread keeps ready by default. */
const MOST_DEPLOYMENTS = 64;

/** What a thread keeps is compiled code as well, so it keeps no more than the cache; the one that it runs it must have. */
function deploymentsPerThread({ compile }: ResolvedOptions): number {
  return Math.max(1, Math.min(compile.cacheEntries, MOST_DEPLOYMENTS));
}
