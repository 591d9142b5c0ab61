import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connector, ConnectorError, createHost, type Host } from "../../index.ts";
import { corePackage } from "./guest.ts";

const CONNECTORS = {
  connectors: [
    { id: "test.echo", range: "^1.0.0" },
    { id: "test.none", range: "*" },
  ],
};

/** Asks with its input as the request, and writes the response, or else the status. */
const ASKER = (response: number, capacity: number): string => `(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "connector_invoke" (func $connector_invoke (param i32 i32 i32 i32) (result i32)))
  ;; results
  (data (i32.const 64) "\\00\\08\\00\\00\\00\\40\\00\\00")
  (func (export "_start") (local $status i32)
    (drop (call $fd_read (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 96)))
    (local.set $status
      (call $connector_invoke (i32.const 2048) (i32.load (i32.const 96)) (i32.const ${response}) (i32.const ${capacity})))
    (if (i32.ge_s (local.get $status) (i32.const 0))
      (then (call $write (i32.const ${response}) (local.get $status)))
      (else (call $result (local.get $status)) (call $print)))))`;

describe("connector_invoke of a core module", () => {
  let host: Host;
  let invoked = 0;
  const echo: Connector = {
    id: "test.echo",
    version: "1.3.0",
    invoke: ({ operation, payload }) => {
      invoked++;
      if (operation === "fail") throw new ConnectorError("no", "not now");
      if (operation === "private") return { resultClass: "success", payload: { devices: [] } };
      if (operation === "large") return { resultClass: "success", payload: "x".repeat(70_000) };
      return { resultClass: "found", payload: { operation, payload } };
    },
  };

  beforeAll(async () => {
    host = await createHost({ threads: 1, limits: { defaults: { wallMs: 300_000 } }, connectors: [echo] });
    const guests: readonly (readonly [string, string, object])[] = [
      ["test.roomy", ASKER(20_000, 8_192), CONNECTORS],
      ["test.tight", ASKER(20_000, 40), CONNECTORS],
      ["test.outside", ASKER(65_000, 8_192), CONNECTORS],
      ["test.bare", ASKER(20_000, 8_192), {}],
      ["test.future", ASKER(20_000, 8_192), { connectors: [{ id: "test.echo", range: "^2.0.0" }] }],
    ];
    for (const [id, wat, grants] of guests) await host.install(await corePackage(id, wat, { grants }));
  }, 120_000);
  afterAll(() => host.close());

  const ask = async (id: string, request: object = {}) => {
    const before = invoked;
    const whole = { abi_version: "1.0.0", connector_id: "test.echo", operation: "get", payload: { a: 1 }, ...request };
    const { usage: _, ...outcome } = await host.run(id, whole).outcome;
    const output = "output" in outcome ? outcome.output : outcome.kind;
    const evidence = outcome.connectorCalls?.map(({ connectorId: __, ...rest }) => Object.values(rest)) ?? [];
    return { output, evidence, invoked: invoked - before };
  };

  it("gets the response in the envelope of its ABI, and the outcome has the evidence", async () => {
    expect(await ask("test.roomy")).toEqual({
      output: { abi_version: "1.0.0", result_class: "found", payload: { operation: "get", payload: { a: 1 } } },
      evidence: [["1.3.0", "found", null]],
      invoked: 1,
    });
  });

  it.each([
    ["undeclared", -3, "test.roomy", { connector_id: "test.other" }, null, 0],
    ["undeclared", -3, "test.bare", {}, null, 0],
    ["unbound", -2, "test.roomy", { connector_id: "test.none" }, null, 0],
    ["incompatible", -4, "test.future", {}, "1.3.0", 0],
    ["unauthorized_output", -4, "test.roomy", { payload: { url: "http://a" } }, "1.3.0", 0],
    ["unauthorized_output", -4, "test.roomy", { operation: "private" }, "1.3.0", 1],
    ["bounded_io", -5, "test.roomy", { operation: "large" }, "1.3.0", 1],
    ["bounded_io", -5, "test.tight", {}, "1.3.0", 1],
    ["execution_failed", -6, "test.roomy", { operation: "fail" }, "1.3.0", 1],
    ["invalid_response_memory", -1, "test.outside", {}, "1.3.0", 0],
    // The chain's order: what is wrong first is said, and where the response would go is looked at last.
    ["undeclared", -3, "test.outside", { connector_id: "test.other", payload: "/" }, null, 0],
    ["unauthorized_output", -4, "test.outside", { payload: "/" }, "1.3.0", 0],
  ])("ends as %s with %i in %s asked with %j", async (failureClass, status, id, request, version, times) => {
    expect(await ask(id, request)).toEqual({
      output: [status],
      evidence: [[version, "failure", failureClass]],
      invoked: times,
    });
  });

  it.each([[{ operation: "Not A Word" }], [{ abi_version: "2.0.0" }], [{ connector_id: 7 }], [{ payload: undefined }]])(
    "answers -1 to what cannot be parsed, which leaves no evidence: %j",
    async (request) => {
      expect(await ask("test.roomy", request)).toEqual({ output: [-1], evidence: [], invoked: 0 });
    },
  );

  it("pays for the way to the main thread, and ends with the run's budget of host calls", async () => {
    const request = { abi_version: "1.0.0", connector_id: "test.echo", operation: "get", payload: 1 };
    const outcome = await host.run("test.roomy", request, { limits: { hostCalls: 0 } }).outcome;
    expect(outcome).toMatchObject({ kind: "over-budget", limit: "hostCalls" });
    expect(outcome.usage.fuel).toBeGreaterThan(200_000);
  });

  it("takes a response that fills its room to the byte, and none that is a byte longer", async () => {
    const empty = JSON.stringify({
      abi_version: "1.0.0",
      result_class: "found",
      payload: { operation: "get", payload: "" },
    });
    for (const [text, wanted] of [
      ["y".repeat(8_192 - empty.length), 8_192],
      ["y".repeat(8_193 - empty.length), -5],
    ] as const) {
      const { output } = await ask("test.roomy", { payload: text });
      expect(Array.isArray(output) ? output[0] : JSON.stringify(output).length).toBe(wanted);
    }
  });
});
