/** What the bytes of a body are, in the words of whoever stored them: the store keeps it and does not look. */
export type Format = "bytes" | "json";

/** A value under a key. */
export interface Entry {
  readonly key: string;
  /** Grows with every change within the namespace; one that a key has had is never given again, to it or another. */
  readonly revision: number;
  readonly format: Format;
  readonly body: Uint8Array;
}

/** What a namespace may hold, of entries or in its schedule. A write that makes no more of what is past it already is let through. */
export interface Quota {
  readonly entries: number;
  /** Of keys or ids, in UTF-8, and bodies. */
  readonly bytes: number;
}

/** What a namespace holds. */
export interface Usage {
  readonly entries: number;
  readonly bytes: number;
}

/** What `get` answers. `too-large`: the body has more bytes than were asked for, and was not read. */
export type Lookup =
  | { readonly kind: "found"; readonly entry: Entry }
  | { readonly kind: "missing" }
  | { readonly kind: "too-large"; readonly revision: number; readonly bytes: number };

/** What `put` answers. `conflict`: the key does not have the expected revision but this one, 0 where it does not exist. */
export type Put =
  | { readonly kind: "stored"; readonly revision: number }
  | { readonly kind: "conflict"; readonly revision: number }
  | { readonly kind: "over-quota"; readonly usage: Usage };

/** What `delete` answers. A deletion has a revision of its own. */
export type Deletion =
  | { readonly kind: "deleted"; readonly revision: number }
  | { readonly kind: "missing" }
  | { readonly kind: "conflict"; readonly revision: number };

/** A page of a namespace, in the order of the keys' UTF-8 bytes. */
export interface EntryListing {
  readonly entries: readonly { readonly key: string; readonly revision: number; readonly bytes: number }[];
  /** Whether keys follow the last one. */
  readonly more: boolean;
}

/**
 * Values under keys, by namespace. A namespace is any name of the caller's, 1 to 512 bytes as UTF-8, and so is a key; no two names are
 * the same that differ in a bit. Every method rejects with AIRLOCK_STORE_OPTIONS_INVALID for an argument that is not as it
 * says, AIRLOCK_STORE_CLOSED, AIRLOCK_STORE_BUSY, AIRLOCK_STORE_FULL, AIRLOCK_STORE_UNAVAILABLE and AIRLOCK_STORE_CORRUPT; then
 * nothing was changed, but for a thread that ended (see `Store`).
 */
export interface Entries {
  /** `mostBytes`: a longer body is not read; default: none is too long. */
  get(namespace: string, key: string, options?: { readonly mostBytes?: number }): Promise<Lookup>;

  /**
   * Stores the body, and answers when it is on disk. `expected` is the revision that the key must have, 0 for a key that must not
   * exist; default: whatever it has.
   */
  put(
    namespace: string,
    key: string,
    body: Uint8Array,
    options?: { readonly expected?: number; readonly format?: Format; readonly quota?: Quota },
  ): Promise<Put>;

  /** Removes the key. A key that does not exist is `missing`, whatever is expected. */
  delete(namespace: string, key: string, options?: { readonly expected?: number }): Promise<Deletion>;

  /** The keys that begin with `prefix` (default: all) and come after the key `after` (default: from the first), at most `limit`, 1 to 1,000. */
  list(
    namespace: string,
    options: { readonly prefix?: string; readonly after?: string; readonly limit: number },
  ): Promise<EntryListing>;

  usage(namespace: string): Promise<Usage>;
}
