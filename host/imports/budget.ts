import type { ImportScope } from "./scope.ts";

/** Adds to a counter of the run; past its limit the run ends `over-budget`. */
export function count(
  scope: ImportScope,
  limit: "hostCalls" | "hostBytesIn" | "hostBytesOut" | "handles",
  more: number,
): void {
  scope.counters[limit] += more;
  if (scope.counters[limit] > scope.limits[limit]) scope.stop({ kind: "over-budget", limit });
}
