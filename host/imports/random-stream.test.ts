import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomStream } from "./random-stream.ts";

const seed = new Uint8Array(32).fill(7);

describe("randomStream()", () => {
  test("gives the same bytes however they are drawn", () => {
    const whole = randomStream(seed, "random", 0, 512);
    fc.assert(
      fc.property(fc.nat(256), fc.nat(256), (position, length) => {
        expect(randomStream(seed, "random", position, length)).toEqual(whole.slice(position, position + length));
      }),
    );
  });

  test("differs by seed and by label", () => {
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
    const streams = [
      randomStream(seed, "random", 0, 16),
      randomStream(seed, "insecure", 0, 16),
      randomStream(new Uint8Array(32).fill(8), "random", 0, 16),
    ];
    expect(new Set(streams.map(hex)).size).toBe(3);
  });
});
