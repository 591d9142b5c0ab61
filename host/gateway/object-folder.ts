import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, opendir, rename, unlink } from "node:fs/promises";
import { ConnectorError } from "./connector.ts";
import { damaged, decodeHead, encodeHead, headLength, type ObjectHead, PREFIX_BYTES } from "./object-head.ts";
import { type OpenFolder, unsafeStorage } from "./object-root.ts";

/** What a folder may hold. */
export interface FolderBounds {
  readonly maxObjectBytes: number;
  /** Of all files with their heads. */
  readonly maxTotalBytes: number;
  readonly maxObjects: number;
}

// A FIFO without a writer would block open() for ever, and a link could lead anywhere. Windows knows neither flag.
const SAFE_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const SAFE_CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
const OBJECT_FILE = /^[0-9a-f]{64}$/;
const DRAFT = ".draft-";
/** A draft that old belongs to no process that still writes. */
const DRAFT_LIFE_MS = 3_600_000;
/** Files beyond the objects that are looked at: drafts, and what others have put there. */
const STRAY_FILES = 1_024;
const CHUNK_BYTES = 256 * 1024;

/**
 * The objects of one capability. A name never becomes a path: the file of an object is called after the digest of its name, and has the name
 * inside. A file appears whole or not at all. Throws `digest-mismatch`, `unsafe-storage`, `storage-full`, `object-too-large`.
 */
export class ObjectFolder {
  readonly #folder: OpenFolder;
  readonly #bounds: FolderBounds;
  readonly #signal: AbortSignal;

  constructor(folder: OpenFolder, bounds: FolderBounds, signal: AbortSignal) {
    this.#folder = folder;
    this.#bounds = bounds;
    this.#signal = signal;
  }

  /** Writes the object, in the place of one with the same name, when it has the `digest`, if any. On the disk when it returns. */
  async put(name: string, body: Buffer, digest: string | undefined): Promise<ObjectHead> {
    const head = { name, size: body.length, sha256: createHash("sha256").update(body).digest("hex") };
    if (digest !== undefined && digest !== head.sha256)
      throw new ConnectorError("digest-mismatch", "The body does not have the digest that sha256 says");
    const encoded = encodeHead(head);
    await this.#makeRoom(fileName(name), encoded.length + body.length);
    const draft = `${this.#folder.place}/${DRAFT}${randomBytes(12).toString("hex")}`;
    const file = await open(draft, SAFE_CREATE, 0o600);
    try {
      try {
        await file.writeFile(encoded);
        await file.writeFile(body);
        await file.sync();
      } finally {
        await file.close();
      }
      this.#expectWaiting();
      await rename(draft, this.#placeOf(name));
    } catch (thrown) {
      await unlink(draft).catch(() => {});
      throw thrown;
    }
    await this.#folder.handle.sync();
    return head;
  }

  /** The head alone; null where there is no such object. The bytes are not looked at. */
  async head(name: string): Promise<ObjectHead | null> {
    return await this.#whileOpen(fileName(name), async (file) => (await this.#headOf(file, name)).head);
  }

  /**
   * Part of an object. All of it is read and compared with its digest; no more than `length` bytes are held. `most` is refused to be passed
   * before anything is allocated. Null where there is no such object.
   */
  async get(
    name: string,
    offset: number,
    length: number,
    most: number,
  ): Promise<{ readonly head: ObjectHead; readonly bytes: Buffer } | null> {
    return await this.#whileOpen(fileName(name), async (file) => {
      const { head, start } = await this.#headOf(file, name);
      const wanted = Math.max(0, Math.min(length, head.size - offset));
      if (wanted > most)
        throw new ConnectorError(
          "response-too-large",
          `The part has ${wanted} bytes: at most ${Math.max(0, most)} may come at once`,
        );
      const bytes = Buffer.alloc(wanted);
      const hash = createHash("sha256");
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, head.size));
      for (let position = 0; position < head.size; ) {
        this.#expectWaiting();
        const { bytesRead } = await file.read(chunk, 0, Math.min(chunk.length, head.size - position), start + position);
        if (bytesRead === 0) throw damaged();
        hash.update(chunk.subarray(0, bytesRead));
        const from = Math.max(position, offset);
        const until = Math.min(position + bytesRead, offset + wanted);
        if (from < until) chunk.copy(bytes, from - offset, from - position, until - position);
        position += bytesRead;
      }
      if (hash.digest("hex") !== head.sha256) throw damaged();
      return { head, bytes };
    });
  }

  /** The heads of the first `most` objects by name that are wanted, and how many files of all are no whole objects. */
  async list(
    isWanted: (name: string) => boolean,
    most: number,
  ): Promise<{ readonly heads: readonly ObjectHead[]; readonly damaged: number }> {
    let heads: ObjectHead[] = [];
    let broken = 0;
    for await (const file of this.#files()) {
      if (!OBJECT_FILE.test(file)) continue;
      try {
        const head = await this.#whileOpen(file, async (handle) => (await this.#headOf(handle, null)).head);
        if (head !== null && fileName(head.name) !== file) throw damaged();
        if (head !== null && isWanted(head.name)) heads.push(head);
        // Never all of them: to sort a hundred thousand names at once takes long, and many megabytes.
        if (heads.length >= 2 * most) heads = firstByName(heads, most);
      } catch (thrown) {
        if (
          !(thrown instanceof ConnectorError) ||
          !["digest-mismatch", "unsafe-storage", "object-too-large"].includes(thrown.code)
        )
          throw thrown;
        broken += 1;
      }
    }
    return { heads: firstByName(heads, most), damaged: broken };
  }

  /** Whether there was such an object. A link in its place is removed itself. */
  async delete(name: string): Promise<boolean> {
    try {
      await unlink(this.#placeOf(name));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw thrown;
    }
    await this.#folder.handle.sync();
    return true;
  }

  async #makeRoom(replaced: string, bytes: number): Promise<void> {
    let total = bytes;
    let objects = 1;
    for await (const file of this.#files()) {
      const stats = await lstat(`${this.#folder.place}/${file}`).catch(() => null);
      if (stats === null || file === replaced) continue;
      if (file.startsWith(DRAFT) && Date.now() - stats.mtimeMs > DRAFT_LIFE_MS) {
        await unlink(`${this.#folder.place}/${file}`).catch(() => {});
        continue;
      }
      total += stats.size;
      if (OBJECT_FILE.test(file)) objects += 1;
    }
    const { maxObjects, maxTotalBytes } = this.#bounds;
    if (objects > maxObjects)
      throw new ConnectorError("storage-full", `The store holds ${maxObjects} objects and takes no more`);
    if (total > maxTotalBytes)
      throw new ConnectorError(
        "storage-full",
        `The store would hold ${total} bytes: it takes at most ${maxTotalBytes}`,
      );
  }

  async *#files(): AsyncGenerator<string> {
    let left = this.#bounds.maxObjects + STRAY_FILES;
    for await (const { name } of await opendir(this.#folder.place, { bufferSize: 256 })) {
      this.#expectWaiting();
      if (left === 0) throw new ConnectorError("storage-full", "The store holds more files than it looks through");
      left -= 1;
      yield name;
    }
  }

  async #whileOpen<T>(file: string, use: (handle: FileHandle) => Promise<T>): Promise<T | null> {
    let handle: FileHandle;
    try {
      handle = await open(`${this.#folder.place}/${file}`, SAFE_READ);
    } catch (thrown) {
      const { code = "" } = thrown as NodeJS.ErrnoException;
      if (code === "ENOENT") return null;
      // A link, a socket, a file that is not to be read.
      if (["ELOOP", "ENXIO", "EACCES"].includes(code)) throw unsafeStorage();
      throw thrown;
    }
    try {
      return await use(handle);
    } finally {
      await handle.close();
    }
  }

  async #headOf(file: FileHandle, name: string | null): Promise<{ readonly head: ObjectHead; readonly start: number }> {
    const stats = await file.stat();
    // A second name, outside of the store, is a way for others to change what is inside.
    if (!stats.isFile() || stats.nlink > 1) throw unsafeStorage();
    const prefix = await readExactly(file, 0, PREFIX_BYTES);
    const text = await readExactly(file, PREFIX_BYTES, headLength(prefix));
    const head = decodeHead(prefix, text);
    const start = PREFIX_BYTES + text.length;
    if ((name !== null && head.name !== name) || stats.size !== start + head.size) throw damaged();
    if (head.size > this.#bounds.maxObjectBytes)
      throw new ConnectorError(
        "object-too-large",
        `The object has ${head.size} bytes: at most ${this.#bounds.maxObjectBytes} are read`,
      );
    return { head, start };
  }

  #placeOf(name: string): string {
    return `${this.#folder.place}/${fileName(name)}`;
  }

  #expectWaiting(): void {
    if (this.#signal.aborted) throw new ConnectorError("run-ended", "the run has ended");
  }
}

function firstByName(heads: ObjectHead[], most: number): ObjectHead[] {
  return heads.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, most);
}

function fileName(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

async function readExactly(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  if (bytesRead !== length) throw damaged();
  return bytes;
}
