import { describe, expect, it } from "vitest";
import type { Connector } from "./connector.ts";
import { Connectors } from "./connectors.ts";

const silent = async () => ({ resultClass: "success", payload: null });
const connector = (id = "test.a", version = "1.0.0"): Connector => ({ id, version, invoke: silent });

function codeOf(act: () => unknown): unknown {
  try {
    act();
  } catch (thrown) {
    return (thrown as { code: unknown }).code;
  }
  return null;
}

describe("Connectors", () => {
  it.each([
    ["no object", null, "it is no object with id, version and invoke"],
    ["an id that is none", { ...connector(), id: "Test" }, 'id is "Test": a lower-case, dotted name'],
    ["an id that is too long", { ...connector(), id: "a".repeat(129) }, "a lower-case, dotted name"],
    [
      "a range for a version",
      { ...connector(), version: "^1.0.0" },
      'version of "test.a" is "^1.0.0": an exact semantic version',
    ],
    ["a version with a v", { ...connector(), version: "v1.0.0" }, "an exact semantic version"],
    ["no function", { ...connector(), invoke: 1 }, 'invoke of "test.a" is 1: a function is wanted'],
    [
      "a description that is none",
      { ...connector(), description: {} },
      'description of "test.a" is an object: a string',
    ],
  ])("refuses %s", (_, value, message) => {
    const connectors = new Connectors();
    expect(() => connectors.bind(value as unknown as Connector)).toThrow(
      `Cannot bind the connector: ${message}`.slice(0, 27),
    );
    expect(() => connectors.bind(value as unknown as Connector)).toThrow(message);
    expect(codeOf(() => connectors.bind(value as unknown as Connector))).toBe("AIRLOCK_GATEWAY_CONNECTOR_INVALID");
    expect(connectors.list()).toEqual([]);
  });

  it.each([
    [{ capabilities: "test.x" }, 'capabilities of "test.a" is "test.x": a list of ids without versions is wanted'],
    [
      { capabilities: ["test.y", "test.x@1.0.0"] },
      'capabilities.1 of "test.a" is "test.x@1.0.0": the id of a capability, without its version, is wanted',
    ],
    [{ requestBytes: 255 }, "requestBytes of"],
    [{ responseBytes: 16 * 1024 * 1024 + 1 }, "a whole number of bytes from 256 to 16777216 is wanted"],
    [{ responseBytes: Number.NaN }, "responseBytes of"],
    [{ capability: [] }, 'has the unknown option "capability": did you mean "capabilities"?'],
    [{ x: 1 }, 'has the unknown option "x": capabilities, requestBytes, responseBytes are known'],
    [null, 'the binding of "test.a" is null: an object is wanted'],
  ])("refuses the options %j", (options, message) => {
    expect(() => new Connectors().bind(connector(), options as never)).toThrow(message);
  });

  it("refuses what would stand beside itself for a capability, and nothing else", () => {
    const connectors = new Connectors();
    connectors.bind(connector());
    connectors.bind(connector("test.a", "1.0.1"));
    connectors.bind(connector(), { capabilities: ["cap.x", "cap.y"] });
    connectors.bind(connector(), { capabilities: ["cap.z"] });
    expect(codeOf(() => connectors.bind(connector()))).toBe("AIRLOCK_GATEWAY_CONNECTOR_DUPLICATE");
    expect(() => connectors.bind(connector(), { capabilities: ["cap.w", "cap.y"] })).toThrow(
      'Cannot bind connector "test.a@1.0.0": it is bound already for "cap.x", "cap.y"',
    );
    expect(connectors.list()).toHaveLength(4);
  });

  it("lists what is bound, without the connector itself", () => {
    const connectors = new Connectors();
    connectors.bind({ ...connector(), description: "For tests" }, { capabilities: ["cap.x"], responseBytes: 1_000 });
    expect(connectors.list()).toEqual([
      {
        id: "test.a",
        version: "1.0.0",
        description: "For tests",
        capabilities: ["cap.x"],
        requestBytes: 65_536,
        responseBytes: 1_000,
      },
    ]);
  });

  it("gives a capability what is bound for it by name, else what is bound for all, the newest first", () => {
    const connectors = new Connectors();
    connectors.bind(connector("test.a", "2.0.0"));
    connectors.bind(connector("test.a", "10.0.0"));
    connectors.bind(connector("test.a", "1.0.0"), { capabilities: ["cap.x"] });
    const versions = (capability: string) => connectors.of("test.a", capability).map(({ version }) => version);
    expect(versions("cap.y")).toEqual(["10.0.0", "2.0.0"]);
    expect(versions("cap.x")).toEqual(["1.0.0"]);
    expect(connectors.of("constructor", "cap.x")).toEqual([]);
  });

  it("takes a connector away by id or by id and version", () => {
    const connectors = new Connectors();
    connectors.bind(connector("test.a", "1.0.0"));
    connectors.bind(connector("test.a", "2.0.0"));
    connectors.bind(connector("test.b", "2.0.0"));
    connectors.unbind("test.a@1.0.0");
    expect(connectors.list().map(({ version }) => version)).toEqual(["2.0.0", "2.0.0"]);
    expect(() => connectors.unbind("test.a@1.0.0")).toThrow(
      'Cannot unbind "test.a@1.0.0": bound are "test.a@2.0.0", "test.b@2.0.0"',
    );
    connectors.unbind("test.a");
    expect(codeOf(() => connectors.unbind("test.a"))).toBe("AIRLOCK_GATEWAY_CONNECTOR_UNKNOWN");
    expect(connectors.list()).toHaveLength(1);
  });
});
