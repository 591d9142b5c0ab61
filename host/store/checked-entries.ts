import {
  asBuffer,
  checkedBody,
  checkedFormat,
  checkedName,
  checkedQuota,
  MOST_LISTED,
  wholeNumber,
} from "./argument.ts";
import type { Deletion, Entries, EntryListing, Format, Lookup, Put, Quota, Usage } from "./entries.ts";
import type { StoreCalls } from "./protocol.ts";

/** Values under keys, for callers: their arguments are checked and copied before anybody is asked. */
export class CheckedEntries implements Entries {
  readonly #calls: StoreCalls;

  constructor(calls: StoreCalls) {
    this.#calls = calls;
  }

  async get(namespace: string, key: string, options: { readonly mostBytes?: number } = {}): Promise<Lookup> {
    const names = [checkedName("namespace", namespace), checkedName("key", key)] as const;
    const most = wholeNumber("mostBytes", options.mostBytes ?? Number.MAX_SAFE_INTEGER, 0);
    const lookup = await this.#calls.ask("entries", "get", ...names, most);
    if (lookup.kind !== "found") return lookup;
    return { kind: "found", entry: { ...lookup.entry, body: asBuffer(lookup.entry.body) } };
  }

  async put(
    namespace: string,
    key: string,
    body: Uint8Array,
    options: { readonly expected?: number; readonly format?: Format; readonly quota?: Quota } = {},
  ): Promise<Put> {
    const names = [checkedName("namespace", namespace), checkedName("key", key)] as const;
    const format = checkedFormat(options.format ?? "bytes");
    const quota = checkedQuota(options.quota);
    const expected = checkedRevision(options.expected);
    return this.#calls.ask("entries", "put", ...names, checkedBody(body), { expected, format, quota });
  }

  async delete(namespace: string, key: string, options: { readonly expected?: number } = {}): Promise<Deletion> {
    const names = [checkedName("namespace", namespace), checkedName("key", key)] as const;
    return this.#calls.ask("entries", "delete", ...names, checkedRevision(options.expected));
  }

  async list(
    namespace: string,
    options: { readonly prefix?: string; readonly after?: string; readonly limit: number },
  ): Promise<EntryListing> {
    const name = checkedName("namespace", namespace);
    const prefix = checkedName("prefix", options.prefix ?? "", 0);
    const after = options.after === undefined ? null : checkedName("after", options.after);
    const limit = wholeNumber("limit", options.limit, 1, MOST_LISTED);
    return this.#calls.ask("entries", "list", name, { prefix, after, limit });
  }

  async usage(namespace: string): Promise<Usage> {
    return this.#calls.ask("entries", "usage", checkedName("namespace", namespace));
  }
}

function checkedRevision(expected: number | undefined): number | null {
  return expected === undefined ? null : wholeNumber("expected", expected, 0);
}
