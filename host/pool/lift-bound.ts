import { resourceLimits } from "node:worker_threads";
import type { Limits } from "../manifest/manifest.ts";
import { longestTextBytes } from "./heap-share.ts";

/** What one call may bring out of the guest: a share of the thread's heap, or V8 would abort the process. */
const LONGEST_LIFT_BYTES = longestTextBytes(resourceLimits?.maxOldGenerationSizeMb);
/** A call may always bring this much out of the guest, whatever is left for host calls. */
const LEAST_LIFT_BYTES = 1024 * 1024;

/** Bytes that one call may bring out of the guest, under the limit that counts for it. */
export function mostLifted(limit: "outputBytes" | "hostBytesOut", limits: Limits): number {
  // Events and log lines are no host calls: they have limits of their own, which answer the guest in their own way.
  const most = limit === "outputBytes" ? limits.outputBytes : Math.max(limits.hostBytesOut, LEAST_LIFT_BYTES);
  return Math.min(most, LONGEST_LIFT_BYTES);
}
