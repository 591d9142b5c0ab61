import type { Manifest } from "../manifest/manifest.ts";
import type { Evidence, Outcome } from "../providers/providers.ts";
import type { BenchSource } from "./options.ts";
import type { GcPauses } from "./results.ts";

/** What a bench needs of a host. The host itself is above this room, and hands in what makes one. */
export interface MeasuredHost {
  install(source: BenchSource): Promise<MeasuredInstall>;
  run(id: string, input: unknown, options: { readonly operation: string }): { readonly outcome: Promise<Outcome> };
  stats(): { readonly pool: { readonly gc: GcPauses | null } };
  close(): Promise<void>;
}

export interface MeasuredInstall {
  readonly id: string;
  readonly manifest: Manifest;
  readonly signatures: readonly { readonly name: string; readonly input: unknown }[];
  readonly timings: { readonly admissionMs: number; readonly compileMs: number };
}

/** Where a bench takes place. */
export interface BenchGround {
  readonly tier: Evidence["tier"];
  readonly threads: number;
  /** A host that has installed nothing yet, with nothing cached. */
  readonly makeHost: () => MeasuredHost;
  /** Starts a process that installs and runs once: its time to the answer, and the kind of outcome. */
  readonly coldStart: (job: ColdJob) => Promise<ColdStart>;
}

/** What a new process does. */
export interface ColdJob {
  readonly source: BenchSource;
  readonly operation: string;
  readonly input: unknown;
}

export interface ColdStart {
  readonly ms: number;
  readonly kind: Outcome["kind"];
}
