import type { ImportScope } from "./scope.ts";

/** What a log line counts beside its bytes: an empty one is a message to the main thread all the same. */
export const BYTES_PER_LINE = 16;

/** Adds to a counter of the run; past its limit the run ends `over-budget`. */
export function count(
  scope: ImportScope,
  limit: "hostCalls" | "hostBytesIn" | "hostBytesOut" | "handles",
  more: number,
): void {
  scope.counters[limit] += more;
  if (scope.counters[limit] > scope.limits[limit]) scope.stop({ kind: "over-budget", limit });
}
