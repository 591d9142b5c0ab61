import {
  type AdmissionPolicy,
  type AdmissionReport,
  type Admitted,
  admit,
  inspectComponent,
  inspectUnreadable,
} from "./admission/admission.ts";
import { groundOf } from "./bench-ground.ts";
import { Compiler } from "./compile/compile.ts";
import { HostError, isHostError, quote } from "./errors/errors.ts";
import { Connectors } from "./gateway/gateway.ts";
import { HostProviders } from "./host-providers.ts";
import type { HostStats } from "./host-stats.ts";
import { grantProblem } from "./imports/imports.ts";
import type { Installed, InstallTimings } from "./installed.ts";
import { ComponentProvider, Lanes, offerFunctions } from "./invocation/invocation.ts";
import { BinaryCache } from "./manifest/manifest.ts";
import { type BenchOptions, type BenchResults, bench } from "./measure/measure.ts";
import {
  type HostOptions,
  type InstallOptions,
  type ResolvedOptions,
  resolveInstall,
  resolveOptions,
} from "./options.ts";
import { locatePackage, type PackageInMemory, UNREADABLE } from "./package-source.ts";
import { Pool } from "./pool/pool.ts";
import { ProviderPool, type ProviderRun, ProviderRuns, type Run, type TerminalEvent } from "./providers/providers.ts";
import { type RunOptions, runRequest } from "./run-options.ts";
import { type CommittedEvent, type EventFilter, type Subscription, Subscriptions } from "./subscriptions.ts";
import { deploymentsPerThread, THREADS, threadSlots } from "./thread-slots.ts";

/** Makes a host. Throws AIRLOCK_HOST_OPTIONS_INVALID, AIRLOCK_POOL_WORKER_MISSING, AIRLOCK_COMPILE_CACHE_UNSAFE. */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  return new Host(resolveOptions(options));
}

/** Runs capabilities: installs them, runs them, closes. An idle host does not keep the process alive. */
export class Host implements AsyncDisposable {
  readonly #options: ResolvedOptions;
  readonly #policy: AdmissionPolicy;
  readonly #binaries = new BinaryCache();
  readonly #compiler: Compiler;
  readonly #lanes: Lanes;
  /** The providers of this host besides installed capabilities, pools and provider commands. */
  readonly providers: HostProviders;
  /** The connectors that capabilities reach the outside with. */
  readonly connectors = new Connectors();
  readonly #runs: ProviderRuns;
  readonly #timings = new WeakMap<ComponentProvider, InstallTimings>();
  readonly #subscriptions = new Subscriptions();
  #installations = 0;
  #closing: Promise<void> | null = null;

  /** Use `createHost`. */
  constructor(options: ResolvedOptions) {
    // First: what is refused here would leave threads behind that nobody can close.
    for (const { connector, ...how } of options.connectors) this.connectors.bind(connector, how);
    this.#options = options;
    this.#policy = {
      limits: options.policy,
      maxComponentBytes: options.maxComponentBytes,
      profiles: new Set(options.profiles),
      embedderInterfaces: new Set(Object.keys(options.imports)),
      readableDirectories: options.readableDirectories,
      filesystemProblem: grantProblem(),
      invocable: options.invocable,
    };
    this.#compiler = new Compiler(options.compile);
    this.#lanes = new Lanes(() => {
      const slots = new ProviderPool(threadSlots(options));
      slots.connect(THREADS, true);
      return { pool: new Pool({ ...options, deployments: deploymentsPerThread(options) }), slots };
    });
    this.#runs = new ProviderRuns({ ended: (run, terminal) => this.#commit(run, terminal) });
    this.providers = new HostProviders(this.#runs, options.policy);
  }

  /**
   * Admits, compiles and registers a capability, a component or a core module: a package's folder, its capability.json, or a package in memory. Throws a
   * HostError: AIRLOCK_HOST_OPTIONS_INVALID, AIRLOCK_MANIFEST_*, AIRLOCK_ADMISSION_* (its `details` is the AdmissionReport), AIRLOCK_METER_*, AIRLOCK_COMPILE_*,
   * AIRLOCK_PROVIDERS_DUPLICATE.
   */
  async install(source: string | PackageInMemory, options: InstallOptions = {}): Promise<Installed> {
    this.#checkOpen("install");
    const { fuelProfile: profile } = resolveInstall(options);
    const beganAt = performance.now();
    const { manifest, directory, load } = locatePackage(source, this.#options.maxComponentBytes, this.#binaries);
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
        ground: { runs: this.#runs, lanes: this.#lanes, connectors: this.connectors },
        tier: this.#options.tier,
        offered: offerFunctions(admitted, this.#options.imports),
      });
      this.#timings.set(provider, { admissionMs: admittedAt - beganAt, compileMs: compiledAt - admittedAt });
      const shared = { pool: this.#lanes.at(0).slots, candidate: THREADS };
      // With the slots of a catalog it waits for a thread in the pool of threads instead, so those bound it all the same.
      await this.#runs.add(provider, this.#runs.isCatalogued(provider.id) ? undefined : shared);
      return this.#describe(provider);
    } catch (thrown) {
      // Closing ends the process that checks: that says nothing about the component.
      this.#checkOpen("install");
      throw thrown;
    } finally {
      session.close();
    }
  }

  /** Removes a capability; runs in flight finish. Throws AIRLOCK_PROVIDERS_MISSING. */
  uninstall(id: string): void {
    this.#checkOpen("uninstall");
    const provider = this.#runs.resolve(id);
    if (!(provider instanceof ComponentProvider)) throw notInstalled(id);
    void this.#runs.remove(provider.id);
  }

  /** All installed capabilities. */
  list(): readonly Installed[] {
    return this.#components().map((provider) => this.#describe(provider));
  }

  /**
   * The admission report of a package or of a bare component. A refusal is part of the report and not thrown, also that the
   * component cannot be read; a manifest that cannot be throws AIRLOCK_MANIFEST_*.
   */
  async inspect(source: string | PackageInMemory | { readonly component: Uint8Array }): Promise<AdmissionReport> {
    this.#checkOpen("inspect");
    const bare = typeof source === "object" && !("manifest" in source);
    const located = bare ? null : locatePackage(source, this.#options.maxComponentBytes, this.#binaries);
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
      const report = await inspectComponent({ manifest, bytes, directory, policy: this.#policy, check: session.check });
      // As in `install`.
      this.#checkOpen("inspect");
      return report;
    } finally {
      session.close();
    }
  }

  /**
   * Starts a run. `id` is `id@version`, a bare id for the newest version, or the name of a pool. Throws before the run starts:
   * AIRLOCK_PROVIDERS_*, AIRLOCK_INVOCATION_*, AIRLOCK_POOL_QUEUE_FULL, AIRLOCK_HOST_CLOSED. After that there are only outcomes.
   */
  run<Input = unknown, Output = unknown>(id: string, input: Input, options: RunOptions = {}): Run<Output> {
    this.#checkOpen("run");
    return this.#runs.start<Output>(runRequest(id, this.#runs.resolve(id), input, options), options);
  }

  /** Cancels a run by its id. Throws AIRLOCK_INVOCATION_REQUEST_INVALID for an empty one, AIRLOCK_INVOCATION_RUN_UNKNOWN. */
  cancel(runId: string, reason?: string): void {
    this.#runs.cancel(runId, reason);
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
    const { inFlight, started, endings, late, pools } = this.#runs.stats();
    const lanes = this.#lanes.stats();
    const { pool, slots } = lanes[0]!;
    return {
      capabilities: this.#components().length,
      runsInFlight: inFlight,
      runsStarted: started,
      endings,
      late,
      pool: { ...pool, waiting: pool.waiting + slots.waiting },
      lanes,
      slots: { [THREADS]: slots, ...pools },
      executors: this.providers.executors.map((executor) => executor.stats()),
      cache: this.#compiler.stats(),
      binaries: this.#binaries.stats(),
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
    await this.#runs.close({ drainMs });
    this.#subscriptions.clear();
    await Promise.all([this.#compiler.close(), this.#lanes.close()]);
  }

  #components(): readonly ComponentProvider[] {
    return this.#runs.list().filter((provider) => provider instanceof ComponentProvider);
  }

  /** Events count only now: a run that has not succeeded has said nothing, and a nested one has said it to its caller. */
  #commit({ request, capabilityEvents: events }: ProviderRun, { outcome }: TerminalEvent): void {
    if (outcome.kind !== "succeeded" || request.nested !== undefined) return;
    this.#subscriptions.commitAll({ runId: request.runId, providerId: outcome.providerId, events });
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

function notInstalled(id: string): HostError {
  return new HostError(
    "AIRLOCK_PROVIDERS_MISSING",
    `Cannot uninstall ${quote(id)}: it is no installed capability; providers.remove takes out what providers.add put in`,
  );
}
