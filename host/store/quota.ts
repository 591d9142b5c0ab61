import type { Quota, Usage } from "./entries.ts";

/** Whether a write takes what is held past the quota. One that only takes back some of what is past it already does not. */
export function isOverQuota(before: Usage, after: Usage, quota: Quota | null): boolean {
  if (quota === null) return false;
  return (
    (after.entries > quota.entries && after.entries > before.entries) ||
    (after.bytes > quota.bytes && after.bytes > before.bytes)
  );
}
