import { describe, expect, test } from "vitest";
import { fakeScope, Stopped } from "../tests/wasi/fake-scope.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { wasiPoll } from "./wasi-poll.ts";
import { CLOSED, MOST_STREAM_BYTES, wasiStreams } from "./wasi-streams.ts";

interface Input {
  read(length: bigint): Uint8Array;
  skip(length: bigint): bigint;
}

interface Output {
  checkWrite(): bigint;
  writeZeroes(length: bigint): void;
  splice(source: Input, length: bigint): bigint;
}

function made() {
  const scope = fakeScope();
  const streams = wasiStreams(scope, wasiPoll(scope, new VirtualClock(scope)));
  const asked: number[] = [];
  const written: Uint8Array[] = [];
  const input = streams.inputStream({
    read(length) {
      asked.push(length);
      if (asked.length > 3) throw CLOSED;
      return new Uint8Array(Math.min(length, 10)).fill(asked.length);
    },
  }) as Input;
  const output = streams.outputStream({ write: (bytes) => written.push(bytes) }) as Output;
  return { scope, streams, asked, written, input, output };
}

describe("wasi:io/streams", () => {
  test("a source is never asked for more than a stream may carry at once", () => {
    const { asked, input } = made();
    input.read(2n ** 64n - 1n);
    input.skip(2n ** 63n);
    input.read(3n);
    expect(asked).toEqual([MOST_STREAM_BYTES, MOST_STREAM_BYTES, 3]);
  });

  test("every byte is paid for, read or skipped", () => {
    const { scope, input } = made();
    const before = scope.fuelLeft();
    expect([input.read(4n).byteLength, input.skip(6n)]).toEqual([4, 6n]);
    expect(before - scope.fuelLeft()).toBe(2n * 2_000n + 10n);
  });

  test("splice() moves bytes from one to the other", () => {
    const { written, input, output } = made();
    expect(output.splice(input, 5n)).toBe(5n);
    expect(written).toEqual([new Uint8Array(5).fill(1)]);
  });

  test("more zeroes than check-write allows trap, and are not made", () => {
    const { written, output } = made();
    output.writeZeroes(2n);
    expect(() => output.writeZeroes(output.checkWrite() + 1n)).toThrow(Stopped);
    expect(written).toEqual([new Uint8Array(2)]);
  });

  test("a failure carries a code that the guest can ask for", () => {
    const { scope, streams } = made();
    const handles = scope.counters.handles;
    const failure = streams.failure("no-entry") as { tag: string; val: { toDebugString(): string } };
    expect([failure.tag, failure.val.toDebugString(), streams.codeOf(failure.val)]).toEqual([
      "last-operation-failed",
      "no-entry",
      "no-entry",
    ]);
    expect(scope.counters.handles).toBe(handles + 1);
  });

  test("an object that no constructor made is no stream", () => {
    const { streams } = made();
    const { InputStream } = streams.interfaces["wasi:io/streams"] as { InputStream: { prototype: Input } };
    const forged = Object.create(InputStream.prototype) as Input;
    expect(() => forged.read(1n)).toThrow(TypeError);
  });
});
