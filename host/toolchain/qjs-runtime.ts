import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Reader } from "../binary/binary.ts";
import { type Replacement, redirectImports } from "./redirect-imports.ts";

/**
 * The QuickJS engine inside the installed componentize-qjs (which must be loaded already), changed so that making a
 * component gives the same bytes each time; or null when it is not found or not of the form that this knows.
 *
 * The engine runs while the component is made and its memory is kept: hash seeds, the seed of Math.random and the time
 * of day end up in the component, and componentize-qjs 0.4.5 has no option for it. Three of the engine's imports become
 * functions with fixed answers. At run time nothing changes, because WASI is a trap there.
 */
export function reproducibleRuntime(): Buffer | null {
  try {
    const binding = bindingPath();
    const engine = binding === undefined ? null : fastSyncEngine(readFileSync(binding));
    return engine === null ? null : redirectImports(engine, REPLACEMENTS);
  } catch {
    return null;
  }
}

const I32 = 0x7f;
const I64 = 0x7e;
const END = 0x0b;
const LOCAL_GET = 0x20;
const I32_STORE = 0x36;
const I64_STORE = 0x37;
const I32_CONST = 0x41;
const I64_CONST = 0x42;

// Any numbers will do as long as they never change: 32 is a seed that was not chosen, 1.6e9 a time in 2020.
const SEED = [0x20];
const SECONDS = [0x80, 0xa0, 0xf8, 0xfa, 0x05];

const REPLACEMENTS: readonly Replacement[] = [
  {
    module: /^wasi:random\/insecure-seed@0\.2\./,
    name: "insecure-seed",
    params: [I32],
    results: [],
    body: [
      ...[LOCAL_GET, 0, I64_CONST, ...SEED, I64_STORE, 3, 0],
      ...[LOCAL_GET, 0, I64_CONST, ...SEED, I64_STORE, 3, 8],
      END,
    ],
  },
  {
    module: /^wasi:clocks\/wall-clock@0\.2\./,
    name: "now",
    params: [I32],
    results: [],
    body: [
      ...[LOCAL_GET, 0, I64_CONST, ...SECONDS, I64_STORE, 3, 0],
      ...[LOCAL_GET, 0, I32_CONST, 0, I32_STORE, 2, 8],
      END,
    ],
  },
  {
    module: /^wasi:clocks\/monotonic-clock@0\.2\./,
    name: "now",
    params: [],
    results: [I64],
    body: [I64_CONST, ...SECONDS, END],
  },
];

/** Of the native module that componentize-qjs chose for this machine; it alone knows how. */
function bindingPath(): string | undefined {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  return loaded.find((path) => /componentize-qjs[^/\\]*\.node$/.test(path));
}

/**
 * Four engines lie in the native module as they are; the one that `sync` chooses is the largest sync one. The one for
 * `optSize` is 0.5 MB shorter and burns 30 to 45 % more for the same source.
 */
function fastSyncEngine(binary: Buffer): Buffer | null {
  const magic = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  let best: Buffer | null = null;
  for (let at = binary.indexOf(magic); at >= 0; at = binary.indexOf(magic, at + 1)) {
    const module = binary.subarray(at, endOfModule(binary, at));
    if (!module.includes("wit_dylib_initialize") || module.includes("[context-get-0]")) continue;
    if (best === null || module.length > best.length) best = module;
  }
  return best;
}

/** Where a core module that starts at `start` ends: nothing says so but that what follows is no section. */
function endOfModule(binary: Uint8Array, start: number): number {
  const reader = new Reader(binary, start + 8);
  let end = reader.position;
  try {
    while (!reader.atEnd) {
      const id = reader.byte();
      if (id > 13) break;
      const section = reader.u32();
      const next = reader.position + section;
      if (next > binary.length) break;
      // A custom section begins with its name.
      if (id === 0 && !/^[\x20-\x7e]+$/.test(new Reader(binary, reader.position, next).name())) break;
      reader.position = next;
      end = next;
    }
  } catch {
    // What follows is not even a number.
  }
  return end;
}
