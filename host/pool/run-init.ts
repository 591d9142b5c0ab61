import type { EventGate } from "../events/events.ts";
import type { ImportCounters, InvocationFacts } from "../imports/imports.ts";
import type { Limits } from "../manifest/manifest.ts";
import { type Counters, type FuelProfiler, REFUSED } from "../meter/meter.ts";
import type { WorkerUsage } from "./protocol.ts";
import type { WorkerBridge } from "./worker-bridge.ts";

export const PAGE_BYTES = 65_536;
/** More than any guest can use up. */
const NO_DEPTH_LIMIT = 2n ** 62n;

/** What a run starts with. */
export interface RunInit {
  readonly invocation: InvocationFacts;
  /** JSON text; empty for an operation that takes values. */
  readonly input: string;
  readonly limits: Limits;
  /** See `Call`. */
  readonly fuelInAll: number | null;
  /** Asked at most once, when something that looks random is wanted. */
  readonly seed: () => Uint8Array;
  readonly events: EventGate;
  readonly bridge: WorkerBridge;
  readonly filesystem: { readonly root: string } | null;
  /** This run's own, where the artifact is a profile build. */
  readonly profiler: FuelProfiler | null;
}

/** Sets the counters of the guest to what instantiation may use up. */
export function beginCounters({ fuel, pages, elements, refused, depth }: Counters, limits: Limits): void {
  fuel.value = BigInt(limits.setupFuel);
  pages.value = BigInt(Math.floor(limits.memoryBytes / PAGE_BYTES));
  elements.value = BigInt(limits.tableElements);
  refused.value = REFUSED.none;
  depth.value = limits.callDepth === null ? NO_DEPTH_LIMIT : BigInt(limits.callDepth);
}

export function newImportCounters(): ImportCounters {
  return { hostCalls: 0, hostBytesIn: 0, hostBytesOut: 0, logBytes: 0, logDropped: 0, randomBytes: 0, handles: 0 };
}

/** The fuel of a call after a setup that burned `setupFuel`. */
export function fuelOfCall({ limits, fuelInAll }: RunInit, setupFuel: number): number {
  return fuelInAll === null ? limits.fuel : Math.max(0, Math.min(limits.fuel, fuelInAll - setupFuel));
}

/** What a run has used. Field by field: `handles` is no part of it. */
export function workerUsage(
  { hostCalls, hostBytesIn, hostBytesOut, logBytes, logDropped, randomBytes }: ImportCounters,
  memories: readonly WebAssembly.Memory[],
  { fuel, setupFuel, fuelExact }: Pick<WorkerUsage, "fuel" | "setupFuel" | "fuelExact">,
): WorkerUsage {
  return {
    hostCalls,
    hostBytesIn,
    hostBytesOut,
    logBytes,
    logDropped,
    randomBytes,
    fuel,
    setupFuel,
    fuelExact,
    peakMemoryBytes: memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0),
  };
}
