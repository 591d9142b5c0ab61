import type { CompileStats } from "./compile/compile.ts";
import type { LaneStats } from "./invocation/invocation.ts";
import type { BinaryCacheStats } from "./manifest/manifest.ts";
import type { PoolStats } from "./pool/pool.ts";
import type { ProviderPoolStats, ProviderRunsStats } from "./providers/providers.ts";

/** Numbers of a host. */
export interface HostStats {
  readonly capabilities: number;
  readonly runsInFlight: number;
  readonly runsStarted: number;
  /** Runs that have ended, by kind. */
  readonly endings: ProviderRunsStats["endings"];
  /** What came after the end of its run and was dropped. */
  readonly late: ProviderRunsStats["late"];
  readonly pool: PoolStats;
  /** Threads and slots by depth of nesting: of the runs that the application asks for, of those that these ask for, and so on. */
  readonly lanes: readonly LaneStats[];
  /** Slots and their leases: `threads` for all components, then those of pools and of providers with their own, by name. */
  readonly slots: Readonly<Record<string, ProviderPoolStats>>;
  /** The same of each native executor, in the order in which they were made. */
  readonly executors: readonly ProviderPoolStats[];
  /** Compiled code. */
  readonly cache: CompileStats;
  /** What was read of packages: a hit saves the reading, never the digest. */
  readonly binaries: BinaryCacheStats;
}
