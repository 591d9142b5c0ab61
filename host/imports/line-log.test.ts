import { describe, expect, test } from "vitest";
import { fakeScope } from "../tests/wasi/fake-scope.ts";
import { LineLog } from "./line-log.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("LineLog", () => {
  test("makes lines of what was written in pieces, and of the rest at the end", () => {
    const scope = fakeScope();
    const log = new LineLog(scope, "info");
    for (const piece of ["one", " line\n\ntwo\nthr", "ee"]) log.write(bytes(piece));
    const before = [...scope.lines];
    scope.finish();
    expect(before).toEqual([
      ["info", "one line"],
      ["info", ""],
      ["info", "two"],
    ]);
    expect(scope.lines.slice(3)).toEqual([["info", "three"]]);
  });

  test("keeps a character together that was written in two halves", () => {
    const scope = fakeScope();
    const log = new LineLog(scope, "error");
    const euro = bytes("€\n");
    log.write(euro.subarray(0, 1));
    log.write(euro.subarray(1));
    expect(scope.lines).toEqual([["error", "€"]]);
  });

  test("drops and counts a write that does not fit in logBytes", () => {
    const scope = fakeScope({ limits: { logBytes: 24 } });
    const log = new LineLog(scope, "info");
    log.write(bytes("12345\n"));
    log.write(bytes("678\n"));
    expect(scope.lines).toEqual([["info", "12345"]]);
    expect(scope.counters).toMatchObject({ logBytes: 22, logDropped: 20 });
  });

  test("counts lines that hold nothing", () => {
    const scope = fakeScope({ limits: { logBytes: 1_024 } });
    const log = new LineLog(scope, "info");
    for (let written = 0; written < 1_000; written++) log.write(bytes("\n"));
    expect(scope.lines).toHaveLength(60);
  });

  test("does not gather a line without end", () => {
    const scope = fakeScope();
    const log = new LineLog(scope, "info");
    log.write(bytes("x".repeat(5_000)));
    expect(scope.lines.map(([, line]) => line.length)).toEqual([5_000]);
  });
});
