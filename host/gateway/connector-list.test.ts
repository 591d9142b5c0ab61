import { describe, expect, it } from "vitest";
import { parseConnectorList } from "./connector-list.ts";

function refusal(list: unknown): unknown {
  try {
    parseConnectorList(typeof list === "string" ? list : JSON.stringify(list), "c.json");
  } catch (thrown) {
    const { code, message } = thrown as { code: string; message: string };
    return [code, message];
  }
  return null;
}

describe("parseConnectorList()", () => {
  it("reads every kind, and fills in what is left out", () => {
    const list = {
      $schema: "x",
      store: "./state",
      connectors: [
        { kind: "http", options: { hosts: ["a.example"] }, capabilities: ["acme.a"], requestBytes: 1_000 },
        { kind: "kv-store" },
        { kind: "scheduler" },
        { kind: "object-store", options: { directory: "o" } },
        { kind: "env" },
        { kind: "module", module: "./m.js", export: "made" },
      ],
    };
    const { connectors, store } = parseConnectorList(`\ufeff${JSON.stringify(list)}`, "c.json");
    expect(store).toBe("./state");
    expect(connectors).toEqual(list.connectors.map((each) => ({ options: {}, ...each })));
    expect(parseConnectorList('{"connectors":[]}', "c.json")).toEqual({ connectors: [], store: null });
  });

  it.each([
    ["{", "it is not JSON"],
    ['{"connectors": [\n}', "it is not JSON: Unexpected token '}'"],
    ['{"connectors": []', "it is not JSON: "],
    [`${"[".repeat(100)}`, "it nests deeper than 64 levels"],
    [[], "the value: an object is wanted"],
    [{}, 'the value: the field "connectors" is missing'],
    [{ connectors: [], stores: "x" }, 'the file has the unknown field "stores": did you mean "store"?'],
    [{ connectors: [{}] }, "connectors.0.kind is missing: one of http, kv-store, object-store"],
    [{ connectors: [{ kind: "ftp" }] }, 'connectors.0.kind is "ftp": did you mean "http"?'],
    [{ connectors: [{ kind: "database" }] }, 'connectors.0.kind is "database": known are http, kv-store, object-store'],
    [{ connectors: [{ kind: 1 }] }, "connectors.0.kind: one of"],
    [{ connectors: [1] }, "connectors.0: an object is wanted"],
    [
      { connectors: [{ kind: "env", option: {} }] },
      'connectors.0 has the unknown field "option": did you mean "options"?',
    ],
    [
      { connectors: [{ kind: "http", hosts: [] }] },
      'connectors.0 has the unknown field "hosts": known are kind, options, module,',
    ],
    [{ connectors: [{ kind: "env", options: [] }] }, "connectors.0.options: an object is wanted"],
    [{ connectors: [{ kind: "module" }] }, "connectors.0.module is missing: a file of JavaScript is wanted"],
    [
      { connectors: [{ kind: "env", module: "./m.js" }] },
      'connectors.0 has module or export: its kind is "env", which is the host\'s own',
    ],
    [
      { connectors: [{ kind: "env" }, { kind: "kv-store" }] },
      'store is missing: a directory is wanted, since connectors.1 is of the kind "kv-store"',
    ],
  ])("refuses %j", (list, problem) => {
    expect(refusal(list)).toEqual([
      "AIRLOCK_GATEWAY_FILE_INVALID",
      expect.stringContaining(`The file of connectors "c.json" is refused: ${problem}`),
    ]);
  });

  it("shows nothing of the options", () => {
    const texts = [
      { connectors: [{ kind: "http", options: "Bearer 1234" }] },
      '{"connectors": [], "x": Bearer 1234}',
      "1234x",
    ];
    for (const text of texts) expect((refusal(text) as [string, string])[1]).not.toContain("1234");
  });
});
