import { describe, expect, it } from "vitest";
import { CODES, ENDINGS, HostError, isHostError, messageOf, nearest, quote } from "./errors.ts";

describe("HostError", () => {
  it("crosses a thread as a record and comes back with its code, failure and details", () => {
    const error = new HostError("AIRLOCK_POOL_QUEUE_FULL", "Cannot start", { details: { waiting: 3 } });
    const back = HostError.fromRecord(structuredClone(error.toRecord()));
    expect(back).toMatchObject({
      code: "AIRLOCK_POOL_QUEUE_FULL",
      failure: "queue_full",
      message: "Cannot start",
      details: { waiting: 3 },
    });
  });

  it("isHostError() looks at the code, not at the class", () => {
    expect(isHostError(Object.assign(new Error("x"), { code: "AIRLOCK_HOST_CLOSED" }))).toBe(true);
    expect(isHostError(Object.assign(new Error("x"), { code: "toString" }))).toBe(false);
    expect(isHostError({ code: "AIRLOCK_HOST_CLOSED" })).toBe(false);
  });
});

describe("the tables", () => {
  it("give every code the form AIRLOCK_<ROOM>_<WHAT>, an HTTP status and an exit code", () => {
    for (const [code, entry] of Object.entries(CODES)) {
      expect(code).toMatch(/^AIRLOCK_[A-Z]+_[A-Z_]+$/);
      expect(entry.status, code).toBeGreaterThanOrEqual(400);
      expect([2, 3, 4], code).toContain(entry.exit);
    }
  });

  it("end a run with complete only when it succeeded, and with exit code 0 only then", () => {
    for (const [kind, ending] of Object.entries(ENDINGS)) {
      expect(ending.exit === 0, kind).toBe(kind === "succeeded");
      expect(ending.terminal === "complete", kind).toBe(kind === "succeeded");
      expect(ending.failure === null, kind).toBe(kind === "succeeded");
    }
  });
});

describe("text", () => {
  it("quote() shows hostile text without control characters, overrides or length", () => {
    expect(quote("a\u001b[31m\u202e\u0085b")).toBe('"a\\u001b[31m\\u202e\\u0085b"');
    expect(quote("x".repeat(500)).length).toBeLessThan(130);
  });

  it("messageOf() is one line", () => {
    expect(messageOf(new Error("a\n  b"))).toBe("a b");
    expect(messageOf(7)).toBe("7");
    expect(messageOf(Symbol("s"))).toBe("Symbol(s)");
  });

  it("messageOf() tells that something was thrown, also when it has no text", () => {
    const hostile = Object.defineProperty(new Error("x"), "message", { get: () => [].at(0)!["missing"] });
    const numbered = Object.assign(new Error("x"), { message: 7 });
    expect(messageOf(Object.create(null))).toBe("something that has no text (object)");
    expect(messageOf(hostile)).toBe("something that has no text (object)");
    expect(messageOf(numbered)).toBe("7");
  });

  it("nearest() names a near word and nothing that is far", () => {
    expect(nearest("feul", ["fuel", "wallMs"])).toBe("fuel");
    expect(nearest("zzzzzz", ["fuel", "wallMs"])).toBeUndefined();
  });
});
