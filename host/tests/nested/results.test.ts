import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, DeclinedError, type Host } from "../../index.ts";
import { any, calling, errorOf, guest, PATIENT } from "./guest.ts";

describe("a capability that calls another", () => {
  let host: Host;

  beforeAll(async () => {
    host = await createHost({ threads: 2, limits: PATIENT });
    await host.install(await guest("test.leaf", { limits: { fuel: 5_000_000, memoryBytes: 655_360 } }));
    await host.install(
      await guest("test.caller", { invoke: any("test.leaf", "test.caller", "test.none", "test.native") }),
    );
    await host.providers.addFunction(
      {
        id: "test.native@1.0.0",
        input: { type: "object" },
        call: (input) => {
          const { how } = input as { readonly how: string };
          if (how === "decline") throw new DeclinedError("busy", "come back", { retryable: true, detail: { at: 1 } });
          if (how === "throw") throw new Error("the password is 1234");
          return { how };
        },
      },
      {},
    );
  });
  afterAll(() => host.close());

  const call = (capability: string, operation: string, input: unknown) =>
    host.run("test.caller", calling(capability, operation, input), { operation: "call" }).outcome;

  it("gets the answer as JSON text", async () => {
    expect(await call("test.leaf", "echo", { text: "hé" })).toMatchObject({ kind: "succeeded", output: '"hé"' });
    expect(await call("test.leaf", "burn", { rounds: 4 })).toMatchObject({ kind: "succeeded", output: "10" });
  });

  it("calls a function of the application by the same means", async () => {
    expect(await call("test.native", "call", { how: "well" })).toMatchObject({ output: '{"how":"well"}' });
    expect(errorOf(await call("test.native", "call", { how: "decline" }))).toEqual({
      tag: "declined",
      value: { code: "busy", message: "come back", retryable: true, detail: '{"at":1}' },
    });
  });

  it.each<[what: string, capability: string, operation: string, input: unknown, error: unknown]>([
    [
      "not-granted",
      "test.other",
      "echo",
      {},
      'grants.invoke does not name "test.other": it names "test.leaf", "test.caller", "test.none", "test.native"',
    ],
    [
      "not-granted",
      "test.leaf@1.0.0",
      "echo",
      {},
      'grants.invoke does not name "test.leaf@1.0.0": it names "test.leaf", "test.caller", "test.none", "test.native"',
    ],
    ["unknown-capability", "test.none", "echo", {}, 'no version of "test.none" inside of "*" is installed'],
    [
      "unknown-operation",
      "test.leaf",
      "bur",
      {},
      'Cannot run test.leaf@1.0.0: it has no operation "bur"; did you mean "burn"?',
    ],
    ["invalid-input", "test.leaf", "burn", { rounds: "x" }, expect.stringContaining("rounds")],
    ["invalid-input", "test.native", "call", 7, expect.stringContaining("object")],
    [
      "declined",
      "test.leaf",
      "refuse",
      { text: "no" },
      { code: "error", message: "no", retryable: false, detail: '"no"' },
    ],
    ["ended", "test.leaf", "trap", {}, { kind: "trapped", message: "wasm trap: unreachable" }],
    ["ended", "test.leaf", "burn", { rounds: 10_000_000 }, { kind: "out-of-fuel", message: "limit fuel" }],
    // The limit of what is called, not of who calls.
    [
      "ended",
      "test.leaf",
      "echo",
      { text: "x".repeat(700_000) },
      { kind: expect.stringMatching(/trapped|out-of-memory/), message: expect.any(String) },
    ],
  ])("is told %s, as of %s %s", async (tag, capability, operation, input, value) => {
    expect(errorOf(await call(capability, operation, input))).toEqual({ tag, value });
  });

  it("is told that an input is no JSON, and that one is too long", async () => {
    const input = { capability: "test.leaf", operation: "burn", input: "{rounds:1}" };
    const outcome = await host.run("test.caller", input, { operation: "call" }).outcome;
    expect(errorOf(outcome)).toEqual({ tag: "invalid-input", value: expect.stringContaining("JSON") });
  });

  it("is told that what it called was past its own wall clock, and goes on", async () => {
    const fuel = 50_000_000_000;
    const slow = await createHost({ threads: 1, limits: { caps: { fuel }, defaults: { fuel, ...PATIENT.defaults } } });
    await slow.install(await guest("test.leaf", { limits: { wallMs: 1_000 } }));
    await slow.install(await guest("test.caller", { invoke: any("test.leaf") }));
    const input = calling("test.leaf", "spin", {});
    const outcome = await slow.run("test.caller", input, { operation: "call" }).outcome;
    expect(errorOf(outcome)).toEqual({ tag: "ended", value: { kind: "past-deadline", message: "limit wallMs" } });
    expect(outcome.usage.fuelExact).toBe(false);
    expect(
      await slow.run("test.caller", calling("test.leaf", "echo", { text: "a" }), { operation: "call" }).outcome,
    ).toMatchObject({
      output: '"a"',
    });
    await slow.close();
  });

  it("is not told what the text of an error of the application says", async () => {
    expect(errorOf(await call("test.native", "call", { how: "throw" }))).toEqual({
      tag: "ended",
      value: { kind: "provider-failed", message: "the provider failed" },
    });
  });
});
