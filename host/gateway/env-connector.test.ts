import { describe, expect, it } from "vitest";
import { type EnvConnectorOptions, envConnector } from "./env-connector.ts";
import { ask, askThroughChain, bodyText, codeOf } from "./test-connector-call.ts";

describe("envConnector()", () => {
  it("gives a value as bytes, so that a URL or a path comes through the chain too", async () => {
    const values = { DATABASE_URL: "postgres://user:pw@db/x", HOME: "/home/x", GREETING: "Grüße 🌍", EMPTY: "" };
    const connector = envConnector({ values });
    for (const [name, value] of Object.entries(values)) {
      expect(bodyText(await ask(connector, "get", { name }))).toBe(value);
      expect(await askThroughChain(connector, "get", { name })).toMatchObject({
        kind: "response",
        resultClass: "success",
      });
    }
  });

  it("lists the names", async () => {
    const connector = envConnector({ values: { B: "2", A: "1" }, names: ["C", "D"], from: { C: "3", E: "5" } });
    expect(await ask(connector, "list", {})).toEqual({ resultClass: "success", payload: { names: ["A", "B", "C"] } });
  });

  it.each(["missing", "greeting", "__proto__", "constructor", "toString", "hasOwnProperty", "", "A=B", "A\0", "HOME"])(
    "has nothing under %j",
    async (name) => {
      const connector = envConnector({ values: { GREETING: "hello" }, names: ["PATH_NOT_SET"], from: process.env });
      expect(await ask(connector, "get", { name })).toEqual({ resultClass: "missing", payload: {} });
    },
  );

  it("finds a name that is a word of JavaScript's where the application gave it", async () => {
    const connector = envConnector({ values: JSON.parse('{ "__proto__": "own", "constructor": "too" }') });
    expect(bodyText(await ask(connector, "get", { name: "__proto__" }))).toBe("own");
    expect(bodyText(await ask(connector, "get", { name: "constructor" }))).toBe("too");
  });

  it("takes nothing that an environment inherits, and keeps what it had when it was made", async () => {
    const environment: Record<string, string | undefined> = Object.create({ INHERITED: "x" });
    environment["OWN"] = "before";
    const values = { GIVEN: "before" };
    const connector = envConnector({ values, names: ["OWN", "INHERITED"], from: environment });
    environment["OWN"] = "after";
    values.GIVEN = "after";
    expect(await ask(connector, "list", {})).toMatchObject({ payload: { names: ["GIVEN", "OWN"] } });
    expect(bodyText(await ask(connector, "get", { name: "OWN" }))).toBe("before");
    expect(bodyText(await ask(connector, "get", { name: "GIVEN" }))).toBe("before");
  });

  it.each([
    ["get", {}, "invalid-request"],
    ["get", { name: 1 }, "invalid-request"],
    ["get", { name: ["A"] }, "invalid-request"],
    ["get", { name: "A", default: "x" }, "invalid-request"],
    ["get", null, "invalid-request"],
    ["list", { prefix: "A" }, "invalid-request"],
    ["list", [], "invalid-request"],
    ["set", { name: "A" }, "unknown-operation"],
  ])("refuses %s %j", async (operation, payload, code) => {
    expect(await codeOf(ask(envConnector({ values: { A: "1" } }), operation, payload))).toBe(code);
  });

  it.each([
    [null],
    [{ value: {} }],
    [{ values: [] }],
    [{ values: { A: 1 } }],
    [{ values: { "": "x" } }],
    [{ values: { "A=B": "x" } }],
    [{ values: { A: "\ud800" } }],
    [{ names: ["A"] }],
    [{ names: "A", from: {} }],
    [{ names: [1], from: {} }],
    [{ from: "x" }],
    [{ names: ["A"], from: { A: "1" }, values: { A: "2" } }],
    [{ names: ["A", "A"], from: { A: "1" } }],
  ])("refuses the options %j", (options) => {
    expect(() => envConnector(options as unknown as EnvConnectorOptions)).toThrow(
      expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID" }),
    );
  });

  it("shows no value in an error", () => {
    expect(() => envConnector({ values: { TOKEN: "s3cret\ud800" } })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("s3cret") }),
    );
  });
});
