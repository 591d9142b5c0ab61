import type { AdmissionReport } from "./admission/admission.ts";
import type { Signature } from "./invocation/invocation.ts";
import type { Manifest } from "./manifest/manifest.ts";

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
