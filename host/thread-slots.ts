import type { ResolvedOptions } from "./options.ts";
import { MOST_POSTED } from "./pool/pool.ts";
import { type ResolvedCatalog, resolveCatalog } from "./providers/providers.ts";

/** What gives slots to components. */
export const THREADS = "threads";

/** A run may wait in front of a thread, so there are more slots than threads; all that wait count for the queue. */
export function threadSlots({ threads, queue }: ResolvedOptions): ResolvedCatalog {
  const ahead = Math.min(queue, threads * (MOST_POSTED - 1));
  const candidates = [{ providerId: THREADS, capacity: threads + ahead }];
  return { ...resolveCatalog({ candidates, queue: queue - ahead }), ahead };
}

/** Deployments that a thread keeps ready by default. */
const MOST_DEPLOYMENTS = 64;

/** What a thread keeps is compiled code as well, so it keeps no more than the cache; the one that it runs it must have. */
export function deploymentsPerThread({ compile }: ResolvedOptions): number {
  return Math.max(1, Math.min(compile.cacheEntries, MOST_DEPLOYMENTS));
}
