import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { type KnownFiles, readComponentFile } from "./package.ts";

/** Counters of the binaries that were read from packages. */
export interface BinaryCacheStats {
  readonly entries: number;
  readonly bytes: number;
  /** Loads that took what was read before. */
  readonly hits: number;
  /** Loads that read the file. */
  readonly loads: number;
  readonly evictions: number;
}

/** How much is kept. The one unused longest goes first. */
export interface BinaryCacheBounds {
  readonly entries: number;
  readonly bytes: number;
}

/** As many as artifacts by default, and as many bytes as the largest binary that a host takes unless its options say otherwise. */
const BOUNDS: BinaryCacheBounds = { entries: 64, bytes: 64 * 1024 * 1024 };

interface Entry {
  readonly bytes: Uint8Array;
  readonly identity: string;
  readonly sha256: string;
}

/**
 * The binaries of packages, by real path. Saves the reading of a file that is the same by device, inode, size and both of its times, and
 * nothing else: who gets bytes hashes them, from here as from the disk. Nobody may write into them.
 */
export class BinaryCache {
  readonly #bounds: BinaryCacheBounds;
  /** The one used last comes last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #hits = 0;
  #loads = 0;
  #evictions = 0;

  constructor(bounds: BinaryCacheBounds = BOUNDS) {
    this.#bounds = bounds;
  }

  /**
   * The bytes of a package's file, as `readComponentFile` gives them. Throws what that throws. `sha256`, which the manifest names: a file
   * can be exchanged within one tick of its clock, so bytes with another digest than is wanted are read again.
   */
  read(directory: string, relative: string, capBytes: number, sha256: string): Uint8Array {
    let isHit = false;
    const known: KnownFiles = {
      recall: (path, status) => {
        const entry = this.#entries.get(path);
        if (entry === undefined || entry.identity !== identityOf(status) || entry.sha256 !== sha256) return null;
        isHit = true;
        this.#entries.delete(path);
        this.#entries.set(path, entry);
        return entry.bytes;
      },
      keep: (path, status, bytes) => this.#keep(path, status, bytes),
    };
    const bytes = readComponentFile(directory, relative, capBytes, known);
    if (isHit) this.#hits++;
    else this.#loads++;
    return bytes;
  }

  stats(): BinaryCacheStats {
    return {
      entries: this.#entries.size,
      bytes: this.#bytes,
      hits: this.#hits,
      loads: this.#loads,
      evictions: this.#evictions,
    };
  }

  #keep(path: string, status: BigIntStats, bytes: Uint8Array): void {
    this.#drop(path);
    // A file that grew or shrank while it was read is one that nobody can know again.
    if (BigInt(bytes.length) !== status.size || bytes.length > this.#bounds.bytes) return;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.#entries.set(path, { bytes, identity: identityOf(status), sha256 });
    this.#bytes += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) return;
      this.#drop(oldest);
      this.#evictions++;
    }
  }

  #drop(path: string): void {
    this.#bytes -= this.#entries.get(path)?.bytes.length ?? 0;
    this.#entries.delete(path);
  }
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}
