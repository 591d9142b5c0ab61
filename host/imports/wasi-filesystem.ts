import { count } from "./budget.ts";
import { hashOf, statOf } from "./descriptor-stat.ts";
import type { FilesystemError } from "./filesystem-error.ts";
import { type DirectoryEntry, type Entry, GrantedDirectory, grantProblem } from "./granted-directory.ts";
import { guardAll, guardClass } from "./guard.ts";
import { handleClass } from "./handle.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";
import { type ByteSource, CLOSED, type WasiStreams } from "./wasi-streams.ts";

/** The name under which a guest finds the granted directory. */
const GUEST_ROOT = "/";

/** The most that one `read` answers, whatever length it names. */
const MOST_READ_BYTES = 1024 * 1024;

const BYTES_PER_ENTRY = 16;

/** Everything that would change something. */
const MUTATIONS = [
  "appendViaStream",
  "createDirectoryAt",
  "linkAt",
  "removeDirectoryAt",
  "renameAt",
  "setSize",
  "setTimes",
  "setTimesAt",
  "symlinkAt",
  "unlinkFileAt",
  "write",
  "writeViaStream",
] as const;

interface PathFlags {
  readonly symlinkFollow?: boolean;
}

interface OpenFlags {
  readonly create?: boolean;
  readonly directory?: boolean;
  readonly truncate?: boolean;
}

interface DescriptorFlags {
  readonly read?: boolean;
  readonly write?: boolean;
  readonly mutateDirectory?: boolean;
}

/**
 * `wasi:filesystem` by interface: the granted directory, read only, or nothing at all. What looks into the
 * directory counts as a host call, and what it finds there as bytes in.
 *
 * This is ours and not preview2-shim's, which cannot be made safe by wrapping. Its Node filesystem does the work on
 * a thread of its own, started when the module is loaded, and waits for it without a time-out: a FIFO in the directory
 * stops both threads for good. It checks a path and then opens it by name, so a directory that is swapped for a link in
 * between leads out. Its in-memory filesystem looks names up in plain objects, where `constructor` is found, and
 * answers a poll with a promise.
 */
export function filesystemInterfaces(scope: ImportScope, streams: WasiStreams): Record<string, ImportedInterface> {
  const root = scope.filesystem?.root;
  const granted = root === undefined ? null : openGrant(scope, root);
  const directory = (): GrantedDirectory => {
    count(scope, "hostCalls", 1);
    return granted ?? scope.stop({ kind: "trapped", what: "no directory was granted" });
  };
  const payForBytes = (bytes: number): void => {
    count(scope, "hostBytesIn", bytes);
    scope.charge(bytes * PRICES.byte);
  };
  const Handle = handleClass(scope);

  class DirectoryEntryStream extends Handle {
    readonly #entries: readonly DirectoryEntry[];
    #next = 0;

    constructor(entries: readonly DirectoryEntry[]) {
      super();
      this.#entries = entries;
    }

    readDirectoryEntry(): DirectoryEntry | undefined {
      const entry = this.#entries[this.#next];
      this.#next += 1;
      return entry;
    }
  }

  class Descriptor extends Handle {
    readonly #entry: Entry;

    constructor(entry: Entry) {
      super();
      this.#entry = entry;
    }

    openAt(pathFlags: PathFlags, path: string, openFlags: OpenFlags, flags: DescriptorFlags): Descriptor {
      const changes = openFlags.create || openFlags.truncate || flags.write || flags.mutateDirectory;
      if (changes) throw "read-only" satisfies FilesystemError;
      const entry = directory().find(this.#entry, named(path), pathFlags.symlinkFollow === true);
      if (openFlags.directory && entry.type !== "directory") throw "not-directory" satisfies FilesystemError;
      if (entry.type === "symbolic-link") throw "loop" satisfies FilesystemError;
      if (entry.type !== "directory" && entry.type !== "regular-file") throw "not-permitted" satisfies FilesystemError;
      return new Descriptor(entry);
    }

    read(length: bigint, offset: bigint): [Uint8Array, boolean] {
      const { bytes, end } = directory().read(this.#entry, offset, atMost(length, MOST_READ_BYTES));
      payForBytes(bytes.byteLength);
      return [bytes, end];
    }

    readViaStream(offset: bigint): object {
      if (this.#entry.type === "directory") throw "is-directory" satisfies FilesystemError;
      return streams.inputStream(this.#source(offset));
    }

    readDirectory(): DirectoryEntryStream {
      const entries = directory().list(this.#entry);
      payForBytes(entries.reduce((sum, { name }) => sum + BYTES_PER_ENTRY + Buffer.byteLength(name), 0));
      return new DirectoryEntryStream(entries);
    }

    readlinkAt(path: string): string {
      return directory().readLink(this.#entry, named(path));
    }

    stat(): object {
      return statOf(directory().again(this.#entry));
    }

    statAt(pathFlags: PathFlags, path: string): object {
      return statOf(directory().find(this.#entry, named(path), pathFlags.symlinkFollow === true));
    }

    metadataHash(): object {
      return hashOf(directory().again(this.#entry));
    }

    metadataHashAt(pathFlags: PathFlags, path: string): object {
      return hashOf(directory().find(this.#entry, named(path), pathFlags.symlinkFollow === true));
    }

    getType(): string {
      return this.#entry.type;
    }

    getFlags(): DescriptorFlags {
      return { read: true };
    }

    isSameObject(other: Descriptor): boolean {
      const { dev, ino } = this.#entry.stats;
      return other.#entry.stats.dev === dev && other.#entry.stats.ino === ino;
    }

    advise(): void {}

    sync(): void {}

    syncData(): void {}

    #source(start: bigint): ByteSource {
      const entry = this.#entry;
      let offset = start;
      return {
        read(length) {
          if (length === 0) return new Uint8Array();
          scope.charge(PRICES.filesystem);
          const { bytes } = orFail(() => directory().read(entry, offset, length));
          if (bytes.byteLength === 0) throw CLOSED;
          offset += BigInt(bytes.byteLength);
          // The stream itself charges for bytes.
          count(scope, "hostBytesIn", bytes.byteLength);
          return bytes;
        },
      };
    }
  }

  const orFail = <T>(body: () => T): T => {
    try {
      return body();
    } catch (thrown) {
      throw typeof thrown === "string" ? streams.failure(thrown) : thrown;
    }
  };
  for (const mutation of MUTATIONS) {
    Object.defineProperty(Descriptor.prototype, mutation, { value: refuseToChange, configurable: true });
  }
  guardClass(scope, "wasi:filesystem/types", PRICES.filesystem, Descriptor);
  guardClass(scope, "wasi:filesystem/types", PRICES.local, DirectoryEntryStream);
  return {
    "wasi:filesystem/types": {
      Descriptor,
      DirectoryEntryStream,
      ...guardAll(scope, "wasi:filesystem/types", PRICES.local, {
        filesystemErrorCode: (error: object) => streams.codeOf(error),
      }),
    },
    "wasi:filesystem/preopens": guardAll(scope, "wasi:filesystem/preopens", PRICES.local, {
      getDirectories(): [Descriptor, string][] {
        return granted === null ? [] : [[new Descriptor(rootOf(scope, directory())), GUEST_ROOT]];
      },
    }),
  };
}

function openGrant(scope: ImportScope, root: string): GrantedDirectory {
  const problem = grantProblem();
  if (problem !== null) scope.stop({ kind: "trapped", what: problem });
  return new GrantedDirectory(root, (names) => scope.charge(names * PRICES.local));
}

function rootOf(scope: ImportScope, directory: GrantedDirectory): Entry {
  try {
    return directory.root();
  } catch (thrown) {
    if (typeof thrown !== "string") throw thrown;
    return scope.stop({ kind: "trapped", what: `the granted directory cannot be opened: ${thrown}` });
  }
}

/** An empty path names nothing, as in POSIX. */
function named(path: string): string {
  if (path === "") throw "no-entry" satisfies FilesystemError;
  return path;
}

function atMost(length: bigint, most: number): number {
  return length > BigInt(most) ? most : Number(length);
}

function refuseToChange(): never {
  throw "read-only" satisfies FilesystemError;
}
