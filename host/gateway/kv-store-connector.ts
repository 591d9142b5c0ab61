import { assertNever } from "../errors/errors.ts";
import type { Quota, Store } from "../store/store.ts";
import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type ConnectorRequest,
  type ConnectorResponse,
} from "./connector.ts";
import { expectOptions, storeOption, wholeOption } from "./connector-options.ts";
import { invalidRequest, payloadFields, unknownOperation } from "./connector-payload.ts";
import { storeFailure } from "./store-failure.ts";
import {
  checkRoom,
  contentBytes,
  contentField,
  contentIn,
  entriesThatFit,
  jsonBytes,
  limitIn,
  nameIn,
  payloadRoom,
  shown,
} from "./stored-payload.ts";

/** Where values are kept, and how much of it each capability may have. */
export interface KvStoreOptions {
  /** Stays the application's: closing the connector does not close it. */
  readonly store: Store;
  /** Bytes of keys and values of one capability; default 16 MiB. */
  readonly quotaBytes?: number;
  /** Keys of one capability; default 10,000. */
  readonly quotaEntries?: number;
}

const ID = "kv-store";
const OPERATIONS = ["get", "put", "delete", "list"];
const QUOTA_BYTES = 16 * 1024 * 1024;
const QUOTA_ENTRIES = 10_000;

/**
 * The connector `kv-store`: values that outlive a run, under keys of 1 to 512 bytes. Each capability has a namespace of its own in
 * `store.entries`, named by its id: all of its versions share it, and no other capability reaches it. A payload has either `body`, any
 * bytes in base64, or `value`, a JSON value; the chain refuses a value, or a key, with what may not cross, and never looks into a body.
 *
 * - `get { key }`: `success { revision, body | value }`, `missing { revision: 0 }`.
 * - `put { key, body | value, expected? }`: `success { revision }`, `conflict { revision }` with the revision that the key has,
 *   `over-quota { entries, bytes, mostEntries, mostBytes }`. `expected` is the revision that it must have; 0 or null: it must not exist.
 * - `delete { key, expected? }`: `success { revision }`, `missing { revision: 0 }`, `conflict { revision }`.
 * - `list { prefix?, after?, limit? }`: `success { entries: [{ key, revision, bytes }], next }` by the keys' bytes, at most 100 and as many as the
 *   response has place for; `next` is the `after` to ask with for those that follow, null for none.
 *
 * Revisions only grow, also over deletions. A response means that it is on disk. Codes of failures: `invalid-request`,
 * `unknown-operation`, `response-too-large` (a value that has no place in the response), `busy` and `full` (both retryable), `unavailable`.
 * Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID.
 */
export function kvStoreConnector(options: KvStoreOptions): Connector {
  expectOptions(options, "options", ["store", "quotaBytes", "quotaEntries"]);
  const { store, quotaBytes, quotaEntries } = options;
  const quota = {
    bytes: wholeOption(quotaBytes, "quotaBytes", 1, Number.MAX_SAFE_INTEGER, QUOTA_BYTES),
    entries: wholeOption(quotaEntries, "quotaEntries", 1, Number.MAX_SAFE_INTEGER, QUOTA_ENTRIES),
  };
  return new KvStore(storeOption(store), quota);
}

class KvStore implements Connector {
  readonly id = ID;
  readonly version = "1.0.0";
  readonly description = "Values under keys that outlive a run, by capability";
  readonly #store: Store;
  readonly #quota: Quota;

  constructor(store: Store, quota: Quota) {
    this.#store = store;
    this.#quota = quota;
  }

  async invoke(request: ConnectorRequest, context: ConnectorContext): Promise<ConnectorResponse> {
    checkRoom(context);
    try {
      switch (request.operation) {
        case "get":
          return await this.#get(request, context);
        case "put":
          return await this.#put(request, context);
        case "delete":
          return await this.#delete(request, context);
        case "list":
          return await this.#list(request, context);
        default:
          throw unknownOperation(request.operation, OPERATIONS);
      }
    } catch (thrown) {
      throw storeFailure(thrown);
    }
  }

  async #get(request: ConnectorRequest, context: ConnectorContext): Promise<ConnectorResponse> {
    const key = nameIn("key", payloadFields(request.payload, ["key"])["key"]);
    const room = payloadRoom(context) - jsonBytes({ revision: Number.MAX_SAFE_INTEGER, value: 0 });
    const found = await this.#store.entries.get(context.capabilityId, key, { mostBytes: Math.max(room, 0) });
    switch (found.kind) {
      case "missing":
        return { resultClass: "missing", payload: { revision: 0 } };
      case "too-large":
        throw tooLarge(found.bytes, context);
      case "found": {
        const { revision, format, body } = found.entry;
        if (contentBytes(format, body.length) > room) throw tooLarge(body.length, context);
        return { resultClass: "success", payload: { revision, ...contentField(found.entry) } };
      }
      default:
        return assertNever(found);
    }
  }

  async #put(request: ConnectorRequest, { capabilityId }: ConnectorContext): Promise<ConnectorResponse> {
    const fields = payloadFields(request.payload, ["key", "body", "value", "expected"]);
    const key = nameIn("key", fields["key"]);
    const content = contentIn(fields);
    if (content === null)
      throw invalidRequest("put has neither body, which is base64, nor value, which is JSON: one is wanted");
    const { format, body } = content;
    const options = { ...expectedIn(fields["expected"]), format, quota: this.#quota };
    const put = await this.#store.entries.put(capabilityId, key, body, options);
    switch (put.kind) {
      case "stored":
        return { resultClass: "success", payload: { revision: put.revision } };
      case "conflict":
        return { resultClass: "conflict", payload: { revision: put.revision } };
      case "over-quota": {
        const { entries: mostEntries, bytes: mostBytes } = this.#quota;
        return { resultClass: "over-quota", payload: { ...put.usage, mostEntries, mostBytes } };
      }
      default:
        return assertNever(put);
    }
  }

  async #delete(request: ConnectorRequest, { capabilityId }: ConnectorContext): Promise<ConnectorResponse> {
    const fields = payloadFields(request.payload, ["key", "expected"]);
    const key = nameIn("key", fields["key"]);
    const deletion = await this.#store.entries.delete(capabilityId, key, expectedIn(fields["expected"]));
    switch (deletion.kind) {
      case "deleted":
        return { resultClass: "success", payload: { revision: deletion.revision } };
      case "missing":
        return { resultClass: "missing", payload: { revision: 0 } };
      case "conflict":
        return { resultClass: "conflict", payload: { revision: deletion.revision } };
      default:
        return assertNever(deletion);
    }
  }

  async #list(request: ConnectorRequest, context: ConnectorContext): Promise<ConnectorResponse> {
    const fields = payloadFields(request.payload, ["prefix", "after", "limit"]);
    const prefix = fields["prefix"] === undefined ? "" : nameIn("prefix", fields["prefix"], 0);
    // What an answer says of the end is taken for the beginning.
    const after =
      fields["after"] === undefined || fields["after"] === null ? {} : { after: nameIn("after", fields["after"]) };
    const page = await this.#store.entries.list(context.capabilityId, {
      prefix,
      ...after,
      limit: limitIn(fields["limit"]),
    });
    const entries = entriesThatFit(page.entries, context, ({ key }) => key);
    const more = page.more || entries.length < page.entries.length;
    return { resultClass: "success", payload: { entries, next: more ? entries.at(-1)!.key : null } };
  }
}

function expectedIn(expected: unknown): { readonly expected?: number } {
  if (expected === undefined) return {};
  if (expected === null) return { expected: 0 };
  if (Number.isSafeInteger(expected) && (expected as number) >= 0) return { expected: expected as number };
  throw invalidRequest(
    `expected is ${shown(expected)}: a revision is wanted, or 0 or null for a key that must not exist`,
  );
}

function tooLarge(bytes: number, { responseBytes }: ConnectorContext): ConnectorError {
  return new ConnectorError(
    "response-too-large",
    `the value has ${bytes} bytes, and no place in a response of ${responseBytes} bytes`,
  );
}
