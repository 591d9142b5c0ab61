import { readFileSync } from "node:fs";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { expect, test } from "vitest";
import { clearPagesOf } from "./clear-pages.ts";

const PAGE_BYTES = 4_096;

test("the module is what clear-pages.wat says", async () => {
  const wat = readFileSync(new URL("./clear-pages.wat", import.meta.url), "utf8");
  const bytes = Buffer.from(await parse(wat)).toString("base64");
  const source = readFileSync(new URL("./clear-pages.ts", import.meta.url), "utf8");
  const written = [...source.matchAll(/"([A-Za-z0-9+/=]{40,})"/g)].map(([, line]) => line).join("");
  expect(written).toBe(bytes);
});

test("clearPagesOf() zeroes one byte, wherever in a page it is, and nothing beside its pages", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const bytes = new Uint8Array(memory.buffer);
  const clear = clearPagesOf(memory);
  const [start, end] = [2 * PAGE_BYTES, 4 * PAGE_BYTES];
  bytes[start - 1] = 1;
  bytes[end] = 1;
  for (let at = start; at < end; at++) {
    bytes[at] = 0x80;
    clear(start, end);
    expect(bytes[at]).toBe(0);
  }
  expect([bytes[start - 1], bytes[end]]).toEqual([1, 1]);
});
