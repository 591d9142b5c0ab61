import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import {
  type AdmissionPolicy,
  type AdmissionReport,
  admit,
  type CheckReport,
  errorCodeOf,
  inspectComponent,
  VIOLATION_CODES,
  type ViolationCode,
} from "../../admission/admission.ts";
import { loadGuest } from "../../doctor/guest.ts";
import { CODES } from "../../errors/errors.ts";
import { parseManifest, resolvePolicy } from "../../manifest/manifest.ts";

const POLICY: AdmissionPolicy = {
  limits: resolvePolicy(),
  maxComponentBytes: 1024 * 1024,
  embedderInterfaces: new Set(),
  readableDirectories: [],
  filesystemProblem: null,
  invocable: null,
  profiles: new Set(["component", "core"] as const),
};
const CLEAN: CheckReport = { invalid: null, missingFeature: null, unlinkable: null, schemaProblems: [] };

/** Admits a guest; what the throw-away process would find is given. */
async function requestOf(name: string, found: Partial<CheckReport> = {}) {
  const { component, manifestText } = await loadGuest(name);
  const manifest = parseManifest(manifestText, name);
  const check = async (): Promise<CheckReport> => ({ ...CLEAN, ...found });
  return { manifest, directory: null, bytes: component, policy: POLICY, check };
}

interface Raised {
  readonly code: ViolationCode;
  readonly error: string;
  readonly guest: string;
  readonly found?: Partial<CheckReport>;
  readonly policy?: Partial<AdmissionPolicy>;
}

// binary_load_failed comes before there are bytes: files.test.ts.
const RAISED_BY: readonly Raised[] = [
  { code: "too_large", error: "AIRLOCK_ADMISSION_TOO_LARGE", guest: "too-many-bytes" },
  { code: "checksum_mismatch", error: "AIRLOCK_ADMISSION_CHECKSUM_MISMATCH", guest: "wrong-digest" },
  {
    code: "malformed_wasm_artifact",
    error: "AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT",
    guest: "answers",
    found: { invalid: "no" },
  },
  {
    code: "unsupported_profile",
    error: "AIRLOCK_ADMISSION_UNSUPPORTED_PROFILE",
    guest: "answers",
    policy: { profiles: new Set(["core"] as const) },
  },
  { code: "profile_mismatch", error: "AIRLOCK_ADMISSION_PROFILE_MISMATCH", guest: "core-module" },
  { code: "unsupported_abi_version", error: "AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION", guest: "future-abi" },
  { code: "unsafe_name", error: "AIRLOCK_ADMISSION_UNSAFE_NAME", guest: "core-export-proto" },
  { code: "too_complex", error: "AIRLOCK_ADMISSION_TOO_COMPLEX", guest: "many-core-modules" },
  { code: "unauthorized_host_import", error: "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT", guest: "import-sockets" },
  { code: "import_list_mismatch", error: "AIRLOCK_ADMISSION_IMPORT_LIST_MISMATCH", guest: "import-list-mismatch" },
  { code: "missing_export", error: "AIRLOCK_ADMISSION_MISSING_EXPORT", guest: "no-way-in" },
  { code: "invalid_schema", error: "AIRLOCK_ADMISSION_INVALID_SCHEMA", guest: "schema-id-clash" },
  {
    code: "limit_unenforceable",
    error: "AIRLOCK_ADMISSION_LIMIT_UNENFORCEABLE",
    guest: "list-of-bool-in-glue",
    found: { unlinkable: "it owns a resource" },
  },
  { code: "grant_denied", error: "AIRLOCK_ADMISSION_GRANT_DENIED", guest: "grant-never-offered" },
  {
    code: "engine_feature_missing",
    error: "AIRLOCK_ADMISSION_ENGINE_FEATURE_MISSING",
    guest: "answers",
    found: { missingFeature: "no" },
  },
];

describe("admit()", () => {
  it.each(RAISED_BY)("refuses with $code as $error", async ({ code, error, guest, found, policy }) => {
    const request = await requestOf(guest, found);
    request.policy = { ...POLICY, ...policy };
    await expect(admit(request)).rejects.toMatchObject({
      name: "HostError",
      code: error,
      failure: "admission_rejected",
      details: { accepted: false },
    });
    expect(errorCodeOf(code)).toBe(error);
    // The same report, as data: a refusal is part of it.
    const report: AdmissionReport = await inspectComponent(request);
    expect(report.accepted).toBe(false);
    expect(report.violations[0]?.code).toBe(code);
    for (const { message } of report.violations) expect(message).not.toMatch(/\n/);
  });

  it("has a test above for every code but the one that needs a file", () => {
    const raised = RAISED_BY.map(({ code }) => code);
    expect(VIOLATION_CODES.filter((code) => !raised.includes(code))).toEqual(["binary_load_failed"]);
    for (const code of VIOLATION_CODES) expect(Object.hasOwn(CODES, errorCodeOf(code))).toBe(true);
  });

  it("reports all violations at once, in their order, and the first one speaks", async () => {
    const { manifest, ...request } = await requestOf("import-sockets");
    const wrong = { ...manifest, sha256: "0".repeat(64), hostAbi: "9.9.9", imports: [] };
    await expect(admit({ ...request, manifest: wrong })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_CHECKSUM_MISMATCH",
      message: expect.stringMatching(/\(and 3 more\)$/),
      details: {
        violations: [
          { code: "checksum_mismatch" },
          { code: "unsupported_abi_version" },
          { code: "unauthorized_host_import" },
          { code: "import_list_mismatch", details: { missing: ["wasi:sockets/instance-network@0.2.0"] } },
        ],
      },
    });
  });

  it("does not show to the transpiler what could harm it", async () => {
    for (const guest of ["hostile-export-name", "type-bomb"]) {
      const request = await requestOf(guest);
      const check = () => Promise.reject(new Error("was shown"));
      await expect(admit({ ...request, check })).rejects.toMatchObject({ name: "HostError" });
    }
  });

  it("looks interfaces up by their own names, not by what every object has", async () => {
    const { manifest: _, ...request } = await requestOf("import-sockets");
    const bytes = await parse(`(component (import "airlock:capability/constructor@1.0.0" (instance)))`);
    const report = await inspectComponent({ ...request, manifest: null, bytes });
    expect(report.imports).toEqual([
      {
        name: "airlock:capability/constructor@1.0.0",
        class: "refused",
        rule: "the host ABI has no such interface to import",
      },
    ]);
  });

  it("names a few of the exports that a manifest misses, however many there are", async () => {
    const { manifest, ...request } = await requestOf("answers");
    const exports = Array.from({ length: 500 }, (_, n) => `(export "f${n}" (func $f))`).join("\n");
    const bytes = await parse(`(component (import "f" (func $f)) ${exports})`);
    const operations = [{ name: "missing", input: true, output: true }];
    const report = await inspectComponent({ ...request, manifest: { ...manifest, operations }, bytes });
    const missing = report.violations.find(({ code }) => code === "missing_export");
    expect(missing?.message).toBe(
      'the manifest declares operation "missing": the component exports ' +
        '"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", 490 more',
    );
  });

  it("decides on an application's interface by each of its types once, however many functions name them", async () => {
    const { manifest, ...request } = await requestOf("answers");
    const name = "acme:a/b@1.0.0";
    const count = 10_000;
    const types = Array.from({ length: count }, (_, n) => `(type $t${n} (option u8))`).join("\n");
    const all = Array.from({ length: count }, (_, n) => `$t${n}`).join(" ");
    const funcs = Array.from({ length: count }, (_, n) => `(export "f${n}" (func (type $f)))`).join("\n");
    const bytes = await parse(
      `(component (import "${name}" (instance ${types} (type $all (tuple ${all})) (type $f (func (param "p" $all))) ${funcs})))`,
    );
    const policy = { ...POLICY, embedderInterfaces: new Set([name]) };
    const asking = { ...manifest, grants: { imports: [name] } };
    const report = await inspectComponent({ ...request, manifest: asking, policy, bytes });
    expect(report.imports).toMatchObject([{ name, class: "embedder" }]);
  });
});
