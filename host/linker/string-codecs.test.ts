import fc from "fast-check";
import { expect, test } from "vitest";
import { Guest, type LinkHooks } from "./guest.ts";
import { Handles } from "./handles.ts";
import { stringCodec } from "./string-codecs.ts";

const hooks = {
  payLift() {},
  trap(what: string): never {
    throw new Error(what);
  },
} as unknown as LinkHooks;

function lifted(at: number, bytes: Uint8Array): unknown {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const guest = new Guest(hooks, new Handles(0, hooks), memory, null);
  guest.refresh();
  guest.bytes.fill(0xff);
  guest.bytes.set(bytes, at);
  try {
    return stringCodec("utf8").lift(guest, [at, bytes.length], 0);
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "a string of the guest is not valid UTF-8";
  }
}

test("a UTF-8 string of any length is lifted as a decoder reads it, and trapped where that is not valid", () => {
  const anyByte = fc.integer({ min: 0, max: 0xff });
  const ascii = fc.integer({ min: 0, max: 0x7f });
  const lengths = { maxLength: 80, size: "max" } as const;
  const bytes = fc.oneof(
    fc.array(ascii, lengths),
    fc.array(fc.oneof({ weight: 30, arbitrary: ascii }, anyByte), lengths),
    fc.array(anyByte, lengths),
    fc.string({ unit: "binary", ...lengths }).map((text) => [...new TextEncoder().encode(text)]),
  );
  fc.assert(
    fc.property(fc.nat(100), bytes, (at, each) => {
      const value = Uint8Array.from(each);
      expect(lifted(at, value)).toBe(decoded(value));
    }),
    { numRuns: 1_000 },
  );
});

test("an ASCII string is lifted at each length, up to the last byte of the memory", () => {
  for (let length = 0; length <= 130; length++) {
    const text = Array.from({ length }, (_, index) => String.fromCharCode(index % 128)).join("");
    expect(lifted(65_536 - length, new TextEncoder().encode(text))).toBe(text);
  }
});
