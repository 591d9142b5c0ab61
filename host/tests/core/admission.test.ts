import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdmissionReport,
  createHost,
  type Host,
  isHostError,
  supportedHostAbiVersions,
  verifyHostAbi,
} from "../../index.ts";
import { corePackage } from "./guest.ts";

const START = '(func (export "_start"))';
const FD_WRITE = '(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))';
const INVOKE = '(import "traverse_host" "connector_invoke" (func (param i32 i32 i32 i32) (result i32)))';

let host: Host;
beforeAll(async () => {
  host = await createHost({ threads: 1, compile: { spares: 0 } });
});
afterAll(() => host.close());

/** The violations of a module, as code and what details or message say. */
async function violations(wat: string, more: object = {}): Promise<AdmissionReport["violations"]> {
  return (await host.inspect(await corePackage("test.core", wat, more))).violations;
}

describe("the imports of a core module", () => {
  it("may be all ten of the host ABI, and are reported with their decisions", async () => {
    const two = "(param i32 i32) (result i32)";
    const all = [
      "capability_id",
      "capability_version",
      "runtime_config",
      "trace_context",
      "execution_id",
      "emit_event",
    ];
    const wat = `(module ${FD_WRITE} ${INVOKE}
      (import "wasi_snapshot_preview1" "fd_read" (func (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
      ${all.map((name) => `(import "traverse_host" "${name}" (func ${two}))`).join("\n")} ${START})`;
    const report = await host.inspect(await corePackage("test.core", wat));
    expect(report).toMatchObject({
      accepted: true,
      kind: "core-module",
      coreModules: 1,
      memories: 0,
      exports: ["_start"],
      operations: ["run"],
      limits: { fuel: 5_000_000, memoryBytes: 8_388_608, tableElements: 1_024, memories: 1, outputBytes: 65_536 },
    });
    expect(report.imports).toHaveLength(10);
    expect(report.imports[0]).toEqual({
      name: "wasi_snapshot_preview1/fd_write",
      class: "host",
      rule: "host ABI 1.0.0",
    });
  });

  it.each([
    [
      "another function of WASI",
      "wasi_snapshot_preview1",
      "fd_close",
      "(func (param i32) (result i32))",
      "no such function",
    ],
    ["another module", "env", "emit_event", "(func (param i32 i32) (result i32))", "no such function"],
    [
      "a name of the other module",
      "traverse_host",
      "fd_write",
      "(func (param i32 i32 i32 i32) (result i32))",
      "no such",
    ],
    ["a name of every object", "traverse_host", "constructor", "(func)", "no such function"],
    ["a memory", "env", "memory", "(memory 1)", "no such function"],
    ["a global under a right name", "traverse_host", "emit_event", "(global i32)", "imported as a global"],
    ["a table under a right name", "traverse_host", "emit_event", "(table 1 funcref)", "imported as a table"],
    ["too few parameters", "traverse_host", "emit_event", "(func (param i32) (result i32))", "as (i32) -> i32"],
    ["another result", "traverse_host", "emit_event", "(func (param i32 i32) (result i64))", "as (i32, i32) -> i64"],
    ["no result", "traverse_host", "emit_event", "(func (param i32 i32))", "as (i32, i32) -> ()"],
    [
      "an exit that answers",
      "wasi_snapshot_preview1",
      "proc_exit",
      "(func (param i32) (result i32))",
      "as (i32) -> i32",
    ],
  ])("may not be %s", async (_what, module, name, type, rule) => {
    expect(await violations(`(module (import "${module}" "${name}" ${type}) ${START})`)).toContainEqual(
      expect.objectContaining({
        code: "unauthorized_host_import",
        message: expect.stringContaining(rule),
        details: { module, name, rule: expect.any(String) },
      }),
    );
  });

  it("are what the manifest lists, no more and no less", async () => {
    const wat = `(module ${FD_WRITE} ${START})`;
    expect(await violations(wat, { imports: [] })).toEqual([
      expect.objectContaining({
        code: "import_list_mismatch",
        details: { surplus: [], missing: ["wasi_snapshot_preview1/fd_write"] },
      }),
    ]);
    expect(await violations(`(module ${START})`, { imports: ["traverse_host/emit_event"] })).toEqual([
      expect.objectContaining({
        code: "import_list_mismatch",
        details: { surplus: ["traverse_host/emit_event"], missing: [] },
      }),
    ]);
    expect(await violations(`(module ${FD_WRITE} ${FD_WRITE} ${START})`)).toEqual([]);
  });

  it("pass the name gate, and so do the exports", async () => {
    const hostile = "r'];globalThis.pwned=1;//";
    const found = await violations(`(module (import "env" "${hostile}" (func)) (func (export "${hostile}")) ${START})`);
    expect(found.filter(({ code }) => code === "unsafe_name")).toHaveLength(2);
    expect(await violations(`(module (func (export "__proto__")) ${START})`)).toEqual([
      expect.objectContaining({ code: "unsafe_name" }),
    ]);
  });
});

describe("a core module", () => {
  it.each([
    ["has no entry", "(module)", "missing_export", "exports no entry"],
    ["has an entry that is a memory", '(module (memory (export "_start") 1))', "missing_export", "exports no entry"],
    [
      "has an entry with a result",
      '(module (func (export "_start") (result i32) i32.const 0))',
      "missing_export",
      "() -> i32",
    ],
    [
      "has a default export that takes something",
      `(module (func (export "") (param i64)) ${START})`,
      "missing_export",
      "(i64) -> ()",
    ],
    ["defines nine tables", `(module ${"(table 1 funcref)".repeat(9)} ${START})`, "too_complex", "9 tables"],
    [
      "has a body that does not validate",
      '(module (func (export "_start") i32.add))',
      "malformed_wasm_artifact",
      "type mismatch",
    ],
    ["shares its memory", `(module (memory 1 1 shared) ${START})`, "too_complex", "Memory of the form 0x3"],
    ["has a memory of 64 bits", `(module (memory i64 1) ${START})`, "too_complex", "Memory of the form 0x4"],
  ])("that %s is refused", async (_what, wat, code, message) => {
    const found = await violations(wat);
    expect(found).toEqual([expect.objectContaining({ code, message: expect.stringContaining(message) })]);
  });

  it("that this version of Node cannot run is refused for that, and is not called invalid", async () => {
    const wat = '(module (func (export "_start") (drop (ref.i31 (i32.const 1)))))';
    const isMissing = !WebAssembly.validate(await parse(wat));
    expect((await violations(wat)).map(({ code }) => code)).toEqual(isMissing ? ["engine_feature_missing"] : []);
  });

  it("with eight tables is let in", async () => {
    expect(await violations(`(module ${"(table 1 funcref)".repeat(8)} ${START})`)).toEqual([]);
  });

  it("may have one operation, whose schemas are checked as those of a component", async () => {
    const wat = `(module ${START})`;
    const operation = { name: "answer", input: {}, output: { type: "number" } };
    expect((await host.inspect(await corePackage("a.b", wat, { operations: [operation] }))).operations).toEqual([
      "answer",
    ]);
    expect(await violations(wat, { operations: [operation, { ...operation, name: "other" }] })).toEqual([
      expect.objectContaining({ code: "missing_export", message: expect.stringContaining("declares 2 operations") }),
    ]);
    expect(await violations(wat, { operations: [{ ...operation, input: { $ref: "https://x.test/s.json" } }] })).toEqual(
      [expect.objectContaining({ code: "invalid_schema" })],
    );
  });

  it("asks for another version of the ABI in vain", async () => {
    expect(await violations(`(module ${START})`, { hostAbi: "1.0.1" })).toEqual([
      expect.objectContaining({
        code: "unsupported_abi_version",
        details: { requested: "1.0.1", supported: ["1.0.0"] },
      }),
    ]);
  });

  it.each([
    ["fs", { fs: { read: "." } }],
    ["imports", { imports: ["acme:crm/lookup@1.0.0"] }],
    ["invoke", { invoke: [{ id: "acme.redact", versions: "^1.0.0" }] }],
  ])("cannot use grants.%s", async (name, grants) => {
    expect(await violations(`(module ${START})`, { grants })).toContainEqual({
      code: "grant_denied",
      message: `grants.${name} is granted to a core module: its host ABI has no way to use it`,
    });
  });

  it("is granted connectors only if it calls them", async () => {
    const grants = { connectors: [{ id: "acme.store", range: "^1.0.0" }] };
    const unused = { code: "grant_denied", message: expect.stringContaining("connector_invoke") };
    expect(await violations(`(module ${FD_WRITE} ${START})`, { grants })).toContainEqual(unused);
    expect(await violations(`(module ${INVOKE} ${START})`, { grants })).not.toContainEqual(unused);
  });

  it("is told apart from a component, either way", async () => {
    const core = await corePackage("test.core", `(module ${START})`, { profile: "component", imports: [] });
    expect((await host.inspect(core)).violations).toEqual([
      expect.objectContaining({
        code: "profile_mismatch",
        message: expect.stringMatching(
          /^the file is a core module: profile "component" wants a component; .*set profile to "core"/,
        ),
      }),
    ]);
    const unfit = await corePackage("test.core", '(module (import "env" "f" (func)) (func (export "_start")))', {
      profile: "component",
    });
    expect((await host.inspect(unfit)).violations[0]!.message).not.toContain("set profile");
    const component = await parse("(component)");
    expect((await host.inspect({ manifest: core.manifest, component })).violations.map(({ code }) => code)).toEqual([
      "checksum_mismatch",
      "missing_export",
    ]);
  });

  it("is refused by a host that lets in components alone", async () => {
    await using strict = await createHost({ threads: 1, allow: { profiles: ["component"] } });
    await expect(strict.install(await corePackage("test.core", `(module ${START})`))).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_UNSUPPORTED_PROFILE",
      message: expect.stringContaining(
        'profile is "core": the host\'s policy allows "component" (option allow.profiles)',
      ),
    });
    await expect(createHost({ allow: { profiles: ["wasi" as "core"] } })).rejects.toMatchObject({
      code: "AIRLOCK_HOST_OPTIONS_INVALID",
      message: expect.stringContaining('a list of "component" and "core" is wanted'),
    });
  });

  it("by itself is looked at under the core profile", async () => {
    const component = await parse(`(module ${FD_WRITE} ${START})`);
    expect(await host.inspect({ component })).toMatchObject({ accepted: true, kind: "core-module", capability: null });
  });
});

describe("verifyHostAbi()", () => {
  const of = async (wat: string, version = "1.0.0") => verifyHostAbi(await parse(wat), version);
  const refusal = async (wat: string, version?: string) => {
    try {
      await of(wat, version);
    } catch (thrown) {
      if (isHostError(thrown)) return thrown;
      throw thrown;
    }
    throw new Error("It was let in");
  };

  it("lists what a module imports, each once, sorted", async () => {
    const two = "(func (param i32 i32) (result i32))";
    expect(
      await of(`(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
        (import "traverse_host" "emit_event" ${two}) (import "traverse_host" "capability_id" ${two})
        (import "traverse_host" "emit_event" ${two}))`),
    ).toEqual({
      abiVersion: "1.0.0",
      imports: [
        { module: "traverse_host", name: "capability_id" },
        { module: "traverse_host", name: "emit_event" },
        { module: "wasi_snapshot_preview1", name: "proc_exit" },
      ],
    });
    expect(await of("(module)")).toEqual({ abiVersion: "1.0.0", imports: [] });
  });

  it("speaks one version, exact", async () => {
    expect(supportedHostAbiVersions()).toEqual(["1.0.0"]);
    for (const version of ["1.0", "1.0.1", "^1.0.0", "", undefined as never]) {
      const module = await parse("(module)");
      expect(() => verifyHostAbi(module, version)).toThrow(
        expect.objectContaining({
          code: "AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION",
          details: { requested: version, supported: ["1.0.0"] },
        }),
      );
    }
  });

  it("names the import that is not authorized, and shows it quoted", async () => {
    const hostile = "\\u{1b}[2J\\u{202e}x";
    const error = await refusal(`(module (import "env" "${hostile}" (func)))`);
    expect(error.code).toBe("AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT");
    expect(error.details).toEqual({ module: "env", name: "\u001b[2J\u202ex", rule: expect.any(String) });
    expect(error.message).toContain("env/\\u001b[2J\\u202ex");
    expect(error.message).not.toMatch(/[\u001b\u202e]/);
  });

  it("says what is wrong in the order of admission", async () => {
    expect((await refusal("(component)", "2.0.0")).code).toBe("AIRLOCK_ADMISSION_PROFILE_MISMATCH");
    expect((await refusal('(module (import "a" "b" (func)))', "2.0.0")).code).toBe(
      "AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION",
    );
    for (const wrong of [new Uint8Array(), new Uint8Array(100), "bytes" as never]) {
      expect(() => verifyHostAbi(wrong, "1.0.0")).toThrow(
        expect.objectContaining({ code: "AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT" }),
      );
    }
    const wide = await parse("(module (memory i64 1))");
    expect(() => verifyHostAbi(wide, "1.0.0")).toThrow(
      expect.objectContaining({ code: "AIRLOCK_ADMISSION_TOO_COMPLEX" }),
    );
  });

  it("answers or throws a HostError for any bytes", async () => {
    const bytes = await parse(`(module ${FD_WRITE} (memory (export "memory") 1) ${START})`);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 4 }), (changes) => {
        const changed = bytes.slice();
        for (const [at, value] of changes) changed[at] = value;
        try {
          verifyHostAbi(changed, "1.0.0");
        } catch (thrown) {
          if (!isHostError(thrown)) throw thrown;
          expect(thrown.code).toMatch(/^AIRLOCK_ADMISSION_/);
        }
      }),
    );
  });
});
