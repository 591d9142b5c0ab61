import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type ConnectorRequest,
  type ConnectorResponse,
} from "./connector.ts";
import { expectOptions, invalidOption, switchOption, wholeOption } from "./connector-options.ts";
import { invalidRequest, payloadBytes, payloadFields, unknownOperation } from "./connector-payload.ts";
import { type FolderBounds, ObjectFolder } from "./object-folder.ts";
import type { ObjectHead } from "./object-head.ts";
import { isObjectName, LONGEST_NAME } from "./object-name.ts";
import { ObjectRoot, type OpenFolder, unsafeStorage } from "./object-root.ts";
import { checkRoom } from "./stored-payload.ts";

/** Where objects are kept, and how many. All bounds are those of one capability. */
export interface ObjectStoreConnectorOptions {
  /** Made where it is missing. Of this user alone (mode 700), and no link. One store has it for itself. */
  readonly directory: string;
  /** From 1 to 64 MiB; default 8 MiB. */
  readonly maxObjectBytes?: number;
  /** Bytes of all objects, with some 200 more for each. From 1 to 1 TiB; default 64 MiB. */
  readonly maxTotalBytes?: number;
  /** From 1 to 100,000; default 1,000. */
  readonly maxObjects?: number;
  /** Whether guests may put and delete. Default true. */
  readonly writable?: boolean;
}

const KEYS = ["directory", "maxObjectBytes", "maxTotalBytes", "maxObjects", "writable"];
const MIB = 1024 * 1024;
const MOST_LISTED = 1_000;
/** Of a response besides the bytes or the objects that it carries. */
const FRAME_BYTES = 320;
const SHA256 = /^[0-9a-f]{64}$/;

/**
 * The connector `object-store` 1.0.0: bytes under names, in a local directory, each capability's apart from all others'.
 *
 *     put    { name, body, sha256? }     -> { size, sha256 }; replaces what has the name, on the disk when it answers
 *     get    { name, offset?, length? }  -> { size, sha256, body }; the whole object is compared with its digest, whatever part is asked for
 *     head   { name }                    -> { size, sha256 }; the bytes are not compared
 *     list   { prefix?, after?, limit? } -> { objects: [{ name, size, sha256 }], next, damaged }; sorted, from `next` on until it is null
 *     delete { name }                    -> {}
 *
 * `body` is base64. A name has 1 to 512 letters, digits and `._@+=-`, in levels apart by slashes, none of which is `.` or `..`; it counts by
 * case. What is not there answers `missing` with `{}`.
 *
 * Codes: `invalid-request`, `unknown-operation`, `read-only`, `object-too-large`, `response-too-large`, `storage-full`, `digest-mismatch`,
 * `unsafe-storage`, `closed`, and `storage-failed`, which is retryable. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID.
 *
 * Not promised: that processes that put at once stay within maxTotalBytes and maxObjects together, each may pass them by what it has in
 * flight; that who may write to the directory as this user, and makes digests too, is found out; outside of Linux, that a folder is not
 * swapped for a link between two calls of the system.
 */
export function objectStoreConnector(options: ObjectStoreConnectorOptions): Connector {
  expectOptions(options, "options", KEYS);
  const { directory } = options;
  if (typeof directory !== "string" || directory === "" || directory.includes("\0"))
    throw invalidOption("directory", directory, "a directory");
  const bounds = {
    maxObjectBytes: wholeOption(options.maxObjectBytes, "maxObjectBytes", 1, 64 * MIB, 8 * MIB),
    maxTotalBytes: wholeOption(options.maxTotalBytes, "maxTotalBytes", 1, MIB * MIB, 64 * MIB),
    maxObjects: wholeOption(options.maxObjects, "maxObjects", 1, 100_000, 1_000),
  };
  const writable = switchOption(options.writable, "writable", true);
  const store = new ObjectStore(new ObjectRoot(directory), bounds, writable);
  return Object.freeze({
    id: "object-store",
    version: "1.0.0",
    description: "Bytes under names, each capability's own",
    invoke: (request: ConnectorRequest, context: ConnectorContext) => store.invoke(request, context),
    close: () => store.close(),
  });
}

class ObjectStore {
  readonly #root: ObjectRoot;
  readonly #bounds: FolderBounds;
  readonly #writable: boolean;
  /** The last change in each folder: bounds hold only when the next one counts what it left. */
  readonly #changes = new Map<string, Promise<unknown>>();

  constructor(root: ObjectRoot, bounds: FolderBounds, writable: boolean) {
    this.#root = root;
    this.#bounds = bounds;
    this.#writable = writable;
  }

  async invoke({ operation, payload }: ConnectorRequest, context: ConnectorContext): Promise<ConnectorResponse> {
    checkRoom(context);
    try {
      switch (operation) {
        case "put":
          return await this.#put(payload, context);
        case "get":
          return await this.#get(payload, context);
        case "head":
          return await this.#head(payload, context);
        case "list":
          return await this.#list(payload, context);
        case "delete":
          return await this.#delete(payload, context);
      }
    } catch (thrown) {
      throw failureOf(thrown);
    }
    throw unknownOperation(operation, ["put", "get", "head", "list", "delete"]);
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  async #put(payload: unknown, context: ConnectorContext): Promise<ConnectorResponse> {
    const { name, body, sha256 } = payloadFields(payload, ["name", "body", "sha256"]);
    const checked = objectName(name);
    if (sha256 !== undefined && (typeof sha256 !== "string" || !SHA256.test(sha256)))
      throw invalidRequest("sha256 is no digest: 64 lower-case hexadecimal digits are wanted");
    this.#expectWritable();
    const { maxObjectBytes } = this.#bounds;
    if (typeof body === "string" && body.length > Math.ceil(maxObjectBytes / 3) * 4) throw tooLarge(maxObjectBytes);
    const bytes = payloadBytes(body, "body", Math.ceil(maxObjectBytes / 3) * 3);
    if (bytes.length > maxObjectBytes) throw tooLarge(maxObjectBytes);
    const head = await this.#change(context.capabilityId, () =>
      this.#within(context, true, (folder) => folder!.put(checked, bytes, sha256)),
    );
    return success(shown(head));
  }

  async #get(payload: unknown, context: ConnectorContext): Promise<ConnectorResponse> {
    const { name, offset, length } = payloadFields(payload, ["name", "offset", "length"]);
    const checked = objectName(name);
    const from = wholeNumber(offset, "offset", 0, Number.MAX_SAFE_INTEGER, 0);
    const wanted = wholeNumber(length, "length", 0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    const most = Math.floor((context.responseBytes - FRAME_BYTES) / 4) * 3;
    const found = await this.#within(
      context,
      false,
      async (folder) => folder?.get(checked, from, wanted, most) ?? null,
    );
    return found === null ? MISSING : success({ ...shown(found.head), body: found.bytes.toString("base64") });
  }

  async #head(payload: unknown, context: ConnectorContext): Promise<ConnectorResponse> {
    const name = objectName(payloadFields(payload, ["name"])["name"]);
    const head = await this.#within(context, false, async (folder) => folder?.head(name) ?? null);
    return head === null ? MISSING : success(shown(head));
  }

  async #list(payload: unknown, context: ConnectorContext): Promise<ConnectorResponse> {
    const { prefix = "", after = "", limit } = payloadFields(payload, ["prefix", "after", "limit"]);
    for (const [field, value] of Object.entries({ prefix, after })) {
      if (typeof value !== "string" || value.length > LONGEST_NAME)
        throw invalidRequest(`${field} is no text of at most ${LONGEST_NAME} characters`);
    }
    const most = wholeNumber(limit, "limit", 1, MOST_LISTED, MOST_LISTED);
    const isWanted = (name: string): boolean => name.startsWith(prefix as string) && name > (after as string);
    // One more than is shown says that it goes on.
    const { heads, damaged } = await this.#within(
      context,
      false,
      async (folder) => folder?.list(isWanted, most + 1) ?? { heads: [], damaged: 0 },
    );
    const objects: ObjectHead[] = [];
    let room = context.responseBytes - FRAME_BYTES - LONGEST_NAME;
    for (const head of heads.slice(0, most)) {
      room -= JSON.stringify(head).length + 1;
      if (room < 0) break;
      objects.push(head);
    }
    if (objects.length === 0 && heads.length > 0)
      throw new ConnectorError("response-too-large", "The response has no place for one object");
    const next = objects.length < heads.length ? objects.at(-1)!.name : null;
    return success({ objects, next, damaged });
  }

  async #delete(payload: unknown, context: ConnectorContext): Promise<ConnectorResponse> {
    const name = objectName(payloadFields(payload, ["name"])["name"]);
    this.#expectWritable();
    const existed = await this.#change(context.capabilityId, () =>
      this.#within(context, false, async (folder) => folder?.delete(name) ?? false),
    );
    return existed ? success({}) : MISSING;
  }

  #within<T>(context: ConnectorContext, make: boolean, work: (folder: ObjectFolder | null) => Promise<T>): Promise<T> {
    const { capabilityId, signal } = context;
    return this.#root.within(capabilityId, make, (open: OpenFolder | null) =>
      work(open === null ? null : new ObjectFolder(open, this.#bounds, signal)),
    );
  }

  /** One after the other, in each folder. */
  async #change<T>(capabilityId: string, act: () => Promise<T>): Promise<T> {
    const before = this.#changes.get(capabilityId) ?? Promise.resolve();
    const done = before.then(act, act);
    this.#changes.set(capabilityId, done);
    try {
      return await done;
    } finally {
      if (this.#changes.get(capabilityId) === done) this.#changes.delete(capabilityId);
    }
  }

  #expectWritable(): void {
    if (!this.#writable) throw new ConnectorError("read-only", "This object store is read only");
  }
}

const MISSING: ConnectorResponse = Object.freeze({ resultClass: "missing", payload: Object.freeze({}) });

function success(payload: unknown): ConnectorResponse {
  return { resultClass: "success", payload };
}

function shown({ size, sha256 }: ObjectHead): Pick<ObjectHead, "size" | "sha256"> {
  return { size, sha256 };
}

function objectName(name: unknown): string {
  if (typeof name !== "string") throw invalidRequest("name is no text: the name of an object is wanted");
  if (!isObjectName(name))
    throw invalidRequest(
      `name is not one of an object: 1 to ${LONGEST_NAME} letters, digits and "._@+=-" are wanted, in levels apart by slashes, none of them "." or ".."`,
    );
  return name;
}

function wholeNumber(value: unknown, field: string, least: number, most: number, fallback: number): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw invalidRequest(`${field} is no whole number from ${least} to ${most}`);
}

function tooLarge(most: number): ConnectorError {
  return new ConnectorError("object-too-large", `The object is too large: at most ${most} bytes are stored`);
}

/** The one place where errors of the file system become the connector's: their texts have paths in them. */
function failureOf(thrown: unknown): ConnectorError {
  if (thrown instanceof ConnectorError) return thrown;
  const { code = "" } = thrown as NodeJS.ErrnoException;
  if (["ELOOP", "ENOTDIR", "EISDIR", "EPERM", "ENXIO", "ENOTEMPTY"].includes(code)) return unsafeStorage();
  if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code))
    return new ConnectorError("storage-full", "The disk takes no more", { retryable: true, cause: thrown });
  return new ConnectorError("storage-failed", "The object could not be read or written", {
    retryable: true,
    cause: thrown,
  });
}
