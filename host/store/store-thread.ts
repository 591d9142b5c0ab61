/** The file that the thread of a store runs. It opens the store, then answers one call after the other until it is told to close. */
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorRecord, HostError, isHostError, messageOf } from "../errors/errors.ts";
import { OPENING_ID, type StoreReply, type StoreRequest } from "./protocol.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";
import type { ResolvedStoreOptions } from "./store-options.ts";

const port = parentPort!;

openSqliteStore(workerData as ResolvedStoreOptions).then(serve, (thrown: unknown) => {
  // Nothing is listened to after that, and so the thread ends.
  reply({ kind: "refused", id: OPENING_ID, error: recordOf(thrown) });
});

function serve(store: SqliteStore): void {
  port.on("message", (request: StoreRequest) => carryOut(store, request));
  // A call that cannot be read cannot be answered either: with the thread ends the waiting for it.
  port.on("messageerror", (error) => {
    throw error;
  });
  reply({ kind: "answered", id: OPENING_ID, answer: store.directory });
}

function carryOut(store: SqliteStore, request: StoreRequest): void {
  if (request.kind === "close") {
    store.close();
    port.close();
    return;
  }
  const { id, noun, method, args } = request;
  try {
    const answer = store.answer(noun, method, args);
    reply({ kind: "answered", id, answer }, buffersOf(answer));
  } catch (thrown) {
    reply({ kind: "refused", id, error: recordOf(thrown) });
  }
}

function reply(message: StoreReply, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}

/** Of the bodies in what `get` and `claimDue` answer: the driver has made each for its row. */
function buffersOf(answer: unknown): ArrayBuffer[] {
  const found = Array.isArray(answer) ? answer : [(answer as { readonly entry?: unknown } | null)?.entry];
  return found.flatMap((each: { readonly body?: Uint8Array<ArrayBuffer> } | undefined) => each?.body?.buffer ?? []);
}

function recordOf(thrown: unknown): ErrorRecord {
  if (isHostError(thrown)) return thrown.toRecord();
  return new HostError("AIRLOCK_STORE_UNAVAILABLE", `Cannot use the store: ${messageOf(thrown)}`).toRecord();
}
