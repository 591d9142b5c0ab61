import { answerQuery, connectorInvoke, emitEvent } from "./core-host.ts";
import type { CoreMemory } from "./core-memory.ts";
import { CoreStreams } from "./core-streams.ts";
import { guard, guardAll } from "./guard.ts";
import { PRICES } from "./prices.ts";
import type { ImportEnding, ImportScope } from "./scope.ts";

/** What a core module imports, and what it leaves behind. */
export interface CoreAbi {
  /** By module, then by name: all that the Traverse Host ABI 1.0.0 has, and nothing else. */
  readonly imports: Readonly<Record<string, Record<string, (...args: never[]) => unknown>>>;
  /** How a run ends whose entry has returned: what it wrote is its output. */
  ending(): ImportEnding;
  /** Begins another run with the same functions. */
  clear(): void;
}

/**
 * The Traverse Host ABI 1.0.0 for one instance of a core module. Pointers and lengths of WASI are unsigned; those of `traverse_host` are
 * signed, so that a negative one is invalid.
 */
export function coreAbi(scope: ImportScope, memory: CoreMemory): CoreAbi {
  const streams = new CoreStreams(scope, memory);
  const query = (text: () => string) => answerQuery(scope, memory, text);
  const traverse = guardAll(scope, "traverse_host", PRICES.local, {
    capability_id: query(() => scope.invocation.capabilityId),
    capability_version: query(() => scope.invocation.capabilityVersion),
    runtime_config: query(() => JSON.stringify({ limits: scope.limits })),
    // The host takes part in no trace.
    trace_context: query(() => ""),
    execution_id: query(() => scope.invocation.runId),
    connector_invoke: (...args: readonly [number, number, number, number]) => connectorInvoke(scope, memory, args),
  });
  const emit = (ptr: number, length: number): number => emitEvent(scope, memory, ptr, length);
  return {
    imports: {
      wasi_snapshot_preview1: guardAll(scope, "wasi_snapshot_preview1", PRICES.local, {
        fd_read: (...args: readonly [number, number, number, number]) => streams.read(...args),
        fd_write: (...args: readonly [number, number, number, number]) => streams.write(...args),
        proc_exit: (status: number): never => scope.stop(exit(status >>> 0, streams)),
      }),
      traverse_host: { ...traverse, emit_event: guard(scope, "traverse_host#emit_event", PRICES.event, emit) },
    },
    ending: () => streams.ending(),
    clear: () => streams.clear(),
  };
}

/** Zero is success with what was written; with any other status the guest has said no. */
function exit(status: number, streams: CoreStreams): ImportEnding {
  if (status === 0) return streams.ending();
  const message = `the module exited with status ${status}`;
  return { kind: "failed", failure: { code: "exit-status", message, retryable: false } };
}
