import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import {
  type ComponentInfo,
  type CoreModuleInfo,
  decodeComponent,
  type Operation,
  type WitType,
} from "../component/component.ts";
import { type Manifest, parseManifest, resolvePolicy } from "../manifest/manifest.ts";
import { checkComplexity, checkMemories, checkOperations } from "./component-checks.ts";
import { Violations } from "./violations.ts";
import { boundWayIn, findWayIn, type WayIn } from "./way-in.ts";

/** A module and a component that stand at every cap, and not past one. */
const MODULE = {
  path: "core module 0",
  largestBodyBytes: 512 * 1024,
  mostLocals: 2_000,
  functions: 100_000,
  memories: 4,
} as CoreModuleInfo;
const INFO = {
  imports: [],
  exports: [],
  coreModules: [MODULE],
  canonBuiltins: [],
  hasComponentStart: false,
  instances: 1_000,
  largestTypeNodes: 2_000,
} as unknown as ComponentInfo;

const LIMITS = resolvePolicy().defaults;

function complexityOf(more: Partial<ComponentInfo>) {
  const violations = new Violations();
  checkComplexity({ ...INFO, ...more }, LIMITS, violations);
  return violations.sorted();
}

describe("checkComplexity()", () => {
  it("has nothing against a component at every cap", () => {
    expect(complexityOf({})).toEqual([]);
  });

  it.each<[what: string, more: Partial<ComponentInfo>, message: string]>([
    ["core modules", { coreModules: Array(33).fill({ ...MODULE, memories: 0 }) }, "holds 33 core modules: coreModules"],
    ["memories", { coreModules: [MODULE, { ...MODULE, memories: 1 }] }, "defines 5 memories: memories allows 4"],
    ["bytes of a body", { coreModules: [{ ...MODULE, largestBodyBytes: 524_289 }] }, "a function body of 524289 bytes"],
    ["locals", { coreModules: [{ ...MODULE, mostLocals: 2_001 }] }, "a function with 2001 locals"],
    ["functions", { coreModules: [{ ...MODULE, functions: 100_001 }] }, "defines 100001 functions"],
    ["parts of a type", { largestTypeNodes: 2_001 }, "written out, has 2001 parts"],
    ["instances", { instances: 1_001 }, "makes 1001 instances"],
    ["start functions of components", { hasComponentStart: true }, "a component in it has a start function"],
    ["canonical built-ins", { canonBuiltins: ["task.return"] }, 'the canonical built-in "task.return"'],
  ])("refuses too many %s", (_what, more, message) => {
    expect(complexityOf(more)).toEqual([{ code: "too_complex", message: expect.stringContaining(message) }]);
  });
});

describe("checkMemories()", () => {
  it.each([
    ["(memory 1)", true],
    ["(memory 1 2)", true],
    ['(import "a" "b" (memory 1))', true],
    ["", true],
    ["(memory 1) (memory 1)", false],
    ['(import "a" "b" (memory 1)) (memory 1)', false],
    ["(memory i64 1)", false],
    ["(memory 1 2 shared)", true],
  ])("lets in what the host can make, and nothing else: %s", async (memories, accepted) => {
    const imports = memories.includes("import")
      ? '(core module $l (memory (export "b") 1)) (core instance $l (instantiate $l))'
      : "";
    const given = imports === "" ? "" : '(with "a" (instance $l))';
    const wat = `(component ${imports} (core module $m ${memories}) (core instance (instantiate $m ${given})))`;
    const violations = new Violations();
    checkMemories(decodeComponent(await parse(wat)), violations);
    const message = expect.stringMatching(/^memoryBytes cannot be held: .*core module \d has several memories/);
    expect(violations.sorted()).toEqual(accepted ? [] : [{ code: "limit_unenforceable", message }]);
  });
});

describe("checkOperations()", () => {
  const declaring = (...names: readonly string[]): Manifest =>
    parseManifest(
      JSON.stringify({
        id: "test.operations",
        version: "1.0.0",
        component: "component.wasm",
        sha256: "0".repeat(64),
        imports: [],
        operations: names.map((name) => ({ name, input: true, output: true })),
      }),
      "test",
    );
  const problems = (wayIn: WayIn, manifest: Manifest) => {
    const violations = new Violations();
    checkOperations(wayIn, manifest, violations);
    return violations.sorted();
  };
  const functions = { kind: "functions", operations: [{ name: "add" }] } as unknown as WayIn;

  it("wants an operation of a handler, and of functions only such as are exported", () => {
    expect(problems({ kind: "handler", exportName: "h" }, declaring("run"))).toEqual([]);
    expect(problems({ kind: "handler", exportName: "h" }, declaring())).toEqual([
      { code: "missing_export", message: expect.stringContaining("a handler needs at least one") },
    ]);
    expect(problems(functions, declaring("add"))).toEqual([]);
    expect(problems(functions, declaring("add", "subtract"))).toEqual([
      { code: "missing_export", message: expect.stringContaining('"subtract": the component exports "add"') },
    ]);
  });
});

describe("findWayIn()", () => {
  const NO_PARAMETERS = { async: false, params: [], result: null };
  const find = (exports: readonly object[]) => {
    const violations = new Violations();
    const wayIn = findWayIn({ ...INFO, exports } as ComponentInfo, ["1.0.0"], violations);
    return { wayIn, violations: violations.sorted() };
  };

  it("refuses a handler of another version of the host ABI", () => {
    expect(find([{ sort: "instance", name: "airlock:capability/handler@2.0.0", funcs: [] }])).toEqual({
      wayIn: null,
      violations: [
        {
          code: "unsupported_abi_version",
          message: 'the component exports handler "2.0.0": the host speaks 1.0.0',
          details: { requested: "2.0.0", supported: ["1.0.0"] },
        },
      ],
    });
  });

  it("offers no function init, which componentize-qjs leaves behind", () => {
    const func = (name: string) => ({ sort: "func", name, type: NO_PARAMETERS, funcs: [] });
    const { wayIn } = find([func("init"), func("run")]);
    expect(wayIn).toMatchObject({ kind: "functions", operations: [{ name: "run" }] });
    expect(find([func("init")])).toMatchObject({ wayIn: null, violations: [{ code: "missing_export" }] });
  });
});

describe("boundWayIn()", () => {
  const bools = { kind: "list", element: { kind: "bool" }, length: null } as const;
  const operation = (name: string, result: WitType | null) =>
    ({ name, type: { async: false, params: [], result } }) as unknown as Operation;
  const flags = operation("flags", bools);
  const text = operation("text", { kind: "string" });
  const bound = (operations: readonly Operation[], unlinkable: string | null) => {
    const violations = new Violations();
    const wayIn = boundWayIn({ kind: "functions", operations }, unlinkable, violations);
    return { wayIn, violations: violations.sorted() };
  };

  it("offers a function that gives a list of anything where the linker carries it", () => {
    expect(bound([flags, text], null)).toEqual({
      wayIn: { kind: "functions", operations: [flags, text] },
      violations: [],
    });
  });

  it("leaves out what generated glue would loop over, and says the type and why where nothing is left", () => {
    expect(bound([flags, text], "it has a resource").wayIn).toEqual({ kind: "functions", operations: [text] });
    expect(bound([flags], "it has a resource")).toEqual({
      wayIn: null,
      violations: [
        {
          code: "limit_unenforceable",
          message: expect.stringMatching(/"flags" gives "list<bool>".*generated glue: it has a resource/),
        },
      ],
    });
  });
});
