import { createHash } from "node:crypto";
import {
  type ComponentInfo,
  checkNames,
  decodeComponent,
  type ExternInfo,
  flatSignature,
  kindOf,
} from "../component/component.ts";
import { isHostError, quote } from "../errors/errors.ts";
import {
  checkPackageSchemas,
  effectiveLimits,
  type JsonSchema,
  type Limits,
  type Manifest,
} from "../manifest/manifest.ts";
import type { Checker } from "./checker.ts";
import { decideImport, HOST_ABI_VERSIONS, type ImportDecision } from "./interfaces.ts";
import { type AdmissionPolicy, decideGrants, type Granted } from "./policy.ts";
import type { AdmissionReport } from "./report.ts";
import { refusal, Violations } from "./violations.ts";
import { findWayIn, type WayIn } from "./way-in.ts";

/** What is asked to be let in. */
export interface AdmissionRequest {
  /** Null to look at a bare component: what only a manifest says is then not checked. */
  readonly manifest: Manifest | null;
  /** Folder of the package, for relative grants. */
  readonly directory: string | null;
  /** The one buffer that was read: what is hashed here is what is compiled later. */
  readonly bytes: Uint8Array;
  readonly policy: AdmissionPolicy;
  readonly check: Checker;
}

/** A component that was let in. */
export interface Admitted {
  readonly manifest: Manifest;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly info: ComponentInfo;
  readonly wayIn: WayIn;
  readonly imports: readonly ImportDecision[];
  readonly granted: Granted;
  readonly report: AdmissionReport;
}

/** Lets a component in, or throws AIRLOCK_ADMISSION_*: the first violation speaks, `details` is the `AdmissionReport`. */
export async function admit(request: AdmissionRequest & { readonly manifest: Manifest }): Promise<Admitted> {
  const { manifest } = request;
  const found = await examine(request);
  const { report, info, wayIn } = found;
  if (!report.accepted || info === null || wayIn === null) {
    throw refusal(`${manifest.id}@${manifest.version}`, report.violations, report);
  }
  return {
    manifest,
    bytes: request.bytes,
    sha256: report.sha256,
    info,
    wayIn,
    imports: report.imports,
    granted: found.granted,
    report,
  };
}

/** The same report for any bytes; a refusal is part of it and never thrown. */
export async function inspectComponent(request: AdmissionRequest): Promise<AdmissionReport> {
  return (await examine(request)).report;
}

interface Findings {
  readonly report: AdmissionReport;
  readonly info: ComponentInfo | null;
  readonly wayIn: WayIn | null;
  readonly granted: Granted;
}

async function examine(request: AdmissionRequest): Promise<Findings> {
  const { manifest, bytes, policy } = request;
  const violations = new Violations();
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const limits = effectiveLimits(policy.limits, manifest?.limits);
  checkEnvelope(manifest, bytes, sha256, policy, violations);
  const granted = decideGrants(manifest, request.directory, policy, violations);
  const schemas = manifest === null ? [] : schemasOf(manifest, violations);
  const kind = kindOf(bytes);
  const info = kind === "component" && bytes.length <= policy.maxComponentBytes ? decode(bytes, violations) : null;
  checkKind(kind, info, bytes, manifest, violations);
  let imports: readonly ImportDecision[] = [];
  let wayIn: WayIn | null = null;
  if (info !== null) {
    checkNameGate(info, violations);
    checkComplexity(info, limits, violations);
    imports = checkImports(info, granted, violations);
    if (manifest !== null) checkImportList(info, manifest, violations);
    wayIn = info.usesAsync ? null : findWayIn(info, HOST_ABI_VERSIONS, violations);
    if (wayIn !== null && manifest !== null) checkOperations(wayIn, manifest, violations);
    await checkDeeply(request.check, info, schemas, violations);
  }
  const sorted = violations.sorted();
  return {
    info,
    wayIn,
    granted,
    report: {
      accepted: sorted.length === 0,
      capability: manifest === null ? null : { id: manifest.id, version: manifest.version },
      bytes: bytes.length,
      sha256,
      kind,
      hostAbi: { requested: manifest?.hostAbi ?? HOST_ABI_VERSIONS[0]!, supported: HOST_ABI_VERSIONS },
      coreModules: info?.coreModules.length ?? 0,
      memories: info?.coreModules.reduce((sum, { memories }) => sum + memories, 0) ?? 0,
      imports,
      exports: info?.exports.map(({ name }) => name) ?? [],
      operations: operationNames(wayIn, manifest),
      grants: { fs: granted.directory, imports: [...granted.embedder] },
      limits,
      violations: sorted,
    },
  };
}

function checkEnvelope(
  manifest: Manifest | null,
  bytes: Uint8Array,
  sha256: string,
  policy: AdmissionPolicy,
  violations: Violations,
): void {
  if (bytes.length > policy.maxComponentBytes) {
    violations.add(
      "too_large",
      `the component has ${bytes.length} bytes: at most ${policy.maxComponentBytes} are allowed`,
    );
  }
  if (manifest === null) return;
  if (manifest.sha256 !== sha256) {
    violations.add("checksum_mismatch", `the component's SHA-256 is ${sha256}: the manifest says ${manifest.sha256}`, {
      actual: sha256,
      wanted: manifest.sha256,
    });
  }
  if (manifest.profile !== "component") {
    violations.add(
      "unsupported_profile",
      `profile is ${quote(manifest.profile)}: this version of the host runs "component"`,
    );
  }
  if (!HOST_ABI_VERSIONS.includes(manifest.hostAbi)) {
    violations.add(
      "unsupported_abi_version",
      `hostAbi is ${quote(manifest.hostAbi)}: the host speaks ${HOST_ABI_VERSIONS.join(", ")}`,
      {
        requested: manifest.hostAbi,
        supported: HOST_ABI_VERSIONS,
      },
    );
  }
}

function checkKind(
  kind: string,
  info: ComponentInfo | null,
  bytes: Uint8Array,
  manifest: Manifest | null,
  violations: Violations,
): void {
  if (kind === "component") {
    if (info?.usesAsync) {
      violations.add(
        "engine_feature_missing",
        `the component uses the asynchronous ABI of WASI 0.3 (${info.asyncReasons[0]}): WASI 0.2 is supported`,
      );
    }
    return;
  }
  if (kind === "core-module") {
    violations.add(
      "profile_mismatch",
      `the file is a core module: profile ${quote(manifest?.profile ?? "component")} wants a component; wrap it with "wasm-tools component new"`,
    );
    return;
  }
  const what = bytes.length === 0 ? "the file is empty" : "the file does not begin like WebAssembly";
  violations.add("malformed_wasm_artifact", `${what}: a component is wanted`);
}

function decode(bytes: Uint8Array, violations: Violations): ComponentInfo | null {
  try {
    return decodeComponent(bytes);
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    const code = thrown.code === "AIRLOCK_COMPONENT_UNSUPPORTED" ? "too_complex" : "malformed_wasm_artifact";
    violations.add(code, thrown.message);
    return null;
  }
}

function checkNameGate(info: ComponentInfo, violations: Violations): void {
  for (const { name, where, path, reason } of checkNames(info).slice(0, 20)) {
    const wanted = {
      characters: "only letters, digits and _$.-:/@#|[]<>=+,() are allowed",
      length: "at most 256 characters are allowed",
      prototype: "it is not allowed",
    }[reason];
    violations.add("unsafe_name", `${where} ${quote(name)} in ${path} could become code in the host: ${wanted}`);
  }
}

function checkComplexity(info: ComponentInfo, limits: Limits, violations: Violations): void {
  const modules = info.coreModules.length;
  if (modules > limits.coreModules)
    violations.add(
      "too_complex",
      `the component holds ${modules} core modules: coreModules allows ${limits.coreModules}`,
    );
  const memories = info.coreModules.reduce((sum, module) => sum + module.memories, 0);
  if (memories > limits.memories)
    violations.add("too_complex", `the component defines ${memories} memories: memories allows ${limits.memories}`);
  for (const { path, largestBodyBytes, mostLocals, functions } of info.coreModules) {
    if (largestBodyBytes > COMPLEXITY.bodyBytes)
      violations.add(
        "too_complex",
        `${path} has a function body of ${largestBodyBytes} bytes: at most ${COMPLEXITY.bodyBytes} are allowed`,
      );
    if (mostLocals > COMPLEXITY.locals)
      violations.add(
        "too_complex",
        `${path} has a function with ${mostLocals} locals: at most ${COMPLEXITY.locals} are allowed`,
      );
    if (functions > COMPLEXITY.functions)
      violations.add(
        "too_complex",
        `${path} defines ${functions} functions: at most ${COMPLEXITY.functions} are allowed`,
      );
  }
  if (info.hasComponentStart)
    violations.add("too_complex", "a component in it has a start function: only core modules may");
  for (const name of info.canonBuiltins)
    violations.add(
      "too_complex",
      `it uses the canonical built-in ${quote(name)}: lift, lower and resource.new, drop and rep are allowed`,
    );
}

/** The meter's own caps, checked early so that they are reported with everything else. */
const COMPLEXITY = { bodyBytes: 512 * 1024, locals: 2_000, functions: 100_000 } as const;

function checkImports(info: ComponentInfo, granted: Granted, violations: Violations): readonly ImportDecision[] {
  for (const name of [...info.componentImports, ...info.valueImports]) {
    violations.add(
      "unauthorized_host_import",
      `import ${quote(name)} is refused: modules, components and values cannot be imported`,
      { name },
    );
  }
  const decisions: ImportDecision[] = [];
  for (const extern of info.imports) {
    if (extern.sort === "component" || extern.sort === "module" || extern.sort === "value") continue;
    const decision =
      extern.sort === "type"
        ? { name: extern.name, class: "types" as const, rule: "types only" }
        : decideImport(extern.name, granted);
    const unbounded = decision.class === "embedder" ? unboundedFunction(extern) : null;
    const final: ImportDecision = unbounded === null ? decision : { ...decision, class: "refused", rule: unbounded };
    decisions.push(final);
    if (final.class === "refused") {
      const version = /^airlock:capability\/.*@(.+)$/.exec(final.name)?.[1];
      if (version !== undefined && !HOST_ABI_VERSIONS.includes(version)) {
        violations.add("unsupported_abi_version", `import ${quote(final.name)} is refused: ${final.rule}`, {
          requested: version,
          supported: HOST_ABI_VERSIONS,
        });
      } else {
        violations.add("unauthorized_host_import", `import ${quote(final.name)} is refused: ${final.rule}`, {
          name: final.name,
          rule: final.rule,
        });
      }
    }
  }
  return decisions;
}

/** Why a function of the application's interface cannot be offered, or null. */
function unboundedFunction(extern: ExternInfo): string | null {
  if (extern.sort !== "instance") return "an interface of the application is imported as an interface";
  if (extern.resources.length > 0) return "interfaces with resources are not supported for applications";
  for (const { name, type } of extern.funcs) {
    const { signature, typeName } = flatSignature(type, "import");
    if (signature !== "plain")
      return `its function ${quote(name)} takes ${quote(typeName ?? signature)}, which cannot be bounded before it is read`;
  }
  return null;
}

function checkImportList(info: ComponentInfo, manifest: Manifest, violations: Violations): void {
  const actual = info.imports.filter(({ sort }) => sort !== "type").map(({ name }) => name);
  const surplus = manifest.imports.filter((name) => !actual.includes(name));
  const missing = actual.filter((name) => !manifest.imports.includes(name));
  if (surplus.length === 0 && missing.length === 0) return;
  const list = (names: readonly string[]): string =>
    names
      .slice(0, 10)
      .map((name) => quote(name))
      .join(", ") || "none";
  violations.add(
    "import_list_mismatch",
    `imports of the manifest are not the component's: surplus ${list(surplus)}, missing ${list(missing)}`,
    { surplus, missing },
  );
}

function checkOperations(wayIn: WayIn, manifest: Manifest, violations: Violations): void {
  if (wayIn.kind === "handler") {
    if (manifest.operations.length === 0)
      violations.add("missing_export", "the manifest declares no operation: a handler needs at least one");
    return;
  }
  const exported = wayIn.operations.map(({ name }) => name);
  for (const { name } of manifest.operations) {
    if (!exported.includes(name))
      violations.add(
        "missing_export",
        `the manifest declares operation ${quote(name)}: the component exports ${exported.map((each) => quote(each)).join(", ")}`,
      );
  }
}

function schemasOf(
  manifest: Manifest,
  violations: Violations,
): readonly { readonly field: string; readonly schema: JsonSchema }[] {
  const problems = checkPackageSchemas(manifest);
  for (const problem of problems) violations.add("invalid_schema", problem);
  // What is refused already is not handed to a compiler.
  if (problems.length > 0) return [];
  return [
    ...manifest.operations.flatMap(({ input, output }, index) => [
      { field: `operations.${index}.input`, schema: input },
      { field: `operations.${index}.output`, schema: output },
    ]),
    ...manifest.emits.flatMap(({ schema }, index) =>
      schema === undefined ? [] : [{ field: `emits.${index}.schema`, schema }],
    ),
  ];
}

async function checkDeeply(
  check: Checker,
  info: ComponentInfo,
  schemas: readonly { readonly field: string; readonly schema: JsonSchema }[],
  violations: Violations,
): Promise<void> {
  try {
    const { invalid, missingFeature, schemaProblems } = await check(info, schemas);
    if (invalid !== null)
      violations.add("malformed_wasm_artifact", `the component does not validate: ${quote(invalid, 300)}`);
    if (missingFeature !== null)
      violations.add("engine_feature_missing", `this version of Node cannot run it: ${quote(missingFeature, 300)}`);
    for (const { field, problem } of schemaProblems)
      violations.add("invalid_schema", `${field} does not compile: ${problem}`);
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    // A component on which the validator hangs or breaks is as good as invalid; the sentence says what happened.
    if (thrown.code === "AIRLOCK_HOST_CLOSED") throw thrown;
    violations.add("malformed_wasm_artifact", thrown.message);
  }
}

function operationNames(wayIn: WayIn | null, manifest: Manifest | null): readonly string[] {
  if (wayIn?.kind === "functions") return wayIn.operations.map(({ name }) => name);
  return manifest?.operations.map(({ name }) => name) ?? [];
}
