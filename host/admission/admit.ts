import { createHash } from "node:crypto";
import { type ComponentInfo, kindOf } from "../component/component.ts";
import { isHostError, quote } from "../errors/errors.ts";
import {
  checkPackageSchemas,
  effectiveLimits,
  type JsonSchema,
  type Limits,
  type Manifest,
  policyOfProfile,
} from "../manifest/manifest.ts";
import type { Checker } from "./checker.ts";
import {
  checkComplexity,
  checkMemories,
  checkNameGate,
  checkOperations,
  decode,
  decodeCore,
} from "./component-checks.ts";
import { decideCoreImports } from "./core-abi.ts";
import { checkCoreGrants, checkCoreImports, checkCoreLimits, findEntry, fitsCore } from "./core-checks.ts";
import { checkEnvelope, checkGeneration, checkKind, profileOf } from "./envelope.ts";
import { checkImportList, checkImports, checkUnusedGrants, listedImports } from "./import-checks.ts";
import { HOST_ABI_VERSIONS, type ImportDecision } from "./interfaces.ts";
import { type AdmissionPolicy, decideGrants, type Granted } from "./policy.ts";
import type { AdmissionReport } from "./report.ts";
import { refusal, Violations } from "./violations.ts";
import { boundWayIn, CORE_OPERATION, findWayIn, type WayIn } from "./way-in.ts";

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

/** The report on a package whose component cannot be read, or is larger than what is read: what the manifest says is checked. */
export function inspectUnreadable(
  request: Omit<AdmissionRequest, "bytes" | "check"> & { readonly manifest: Manifest },
  code: "binary_load_failed" | "too_large",
  problem: string,
): AdmissionReport {
  const violations = new Violations();
  violations.add(code, problem);
  const granted = decideGrants(request.manifest, request.directory, request.policy, violations);
  schemasOf(request.manifest, violations);
  return reportOf(request, { bytes: 0, sha256: "", kind: "unknown" }, null, [], null, granted, violations);
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
  checkEnvelope(manifest, bytes, sha256, policy, violations);
  const granted = decideGrants(manifest, request.directory, policy, violations);
  const schemas = manifest === null ? [] : schemasOf(manifest, violations);
  const kind = kindOf(bytes);
  const profile = profileOf(manifest, kind);
  const isReadable = bytes.length <= policy.maxComponentBytes;
  checkKind(kind, profile, bytes, () => isReadable && fitsCore(bytes), violations);
  const limits = effectiveLimits(policyOfProfile(policy.limits, profile), manifest?.limits);
  const ground: Ground = { request, granted, schemas, limits, violations };
  let found: Inside = { info: null, imports: [], wayIn: null };
  if (isReadable && kind === "component" && profile === "component") found = await examineComponent(ground);
  if (isReadable && kind === "core-module" && profile === "core") found = await examineCore(ground);
  const { info, imports, wayIn } = found;
  const file = { bytes: bytes.length, sha256, kind };
  return { info, wayIn, granted, report: reportOf(request, file, info, imports, wayIn, granted, violations) };
}

/** What the inside of a file is looked at with. */
interface Ground {
  readonly request: AdmissionRequest;
  readonly granted: Granted;
  readonly schemas: Parameters<Checker>[1];
  readonly limits: Limits;
  readonly violations: Violations;
}

/** What was found in it; `info` is null for what does not decode. */
interface Inside extends Pick<Findings, "info" | "wayIn"> {
  readonly imports: readonly ImportDecision[];
}

async function examineComponent({ request, granted, schemas, limits, violations }: Ground): Promise<Inside> {
  const { manifest, bytes } = request;
  const info = decode(bytes, violations);
  checkGeneration(info, violations);
  if (info === null) return { info, imports: [], wayIn: null };
  checkNameGate(info, violations);
  checkComplexity(info, limits, violations);
  checkMemories(info, violations);
  const way = info.usesAsync ? null : findWayIn(info, HOST_ABI_VERSIONS, violations);
  const unlinkable = await checkShown(request.check, info, schemas, violations);
  const imports = checkImports(info, granted, unlinkable, violations);
  if (manifest !== null) checkImportList(listedImports(info), manifest, violations);
  checkUnusedGrants(info, granted, violations);
  const wayIn = way === null ? null : boundWayIn(way, unlinkable, violations);
  if (wayIn !== null && manifest !== null) checkOperations(wayIn, manifest, violations);
  return { info, imports, wayIn };
}

async function examineCore({ request, schemas, limits, violations }: Ground): Promise<Inside> {
  const { manifest, bytes } = request;
  const artifact = decodeCore(bytes, violations);
  if (artifact === null) return { info: null, imports: [], wayIn: null };
  const { info } = artifact;
  checkNameGate(info, violations);
  checkComplexity(info, limits, violations);
  checkCoreLimits(artifact, violations);
  const wayIn = findEntry(artifact, violations);
  await checkShown(request.check, info, schemas, violations);
  const decisions = decideCoreImports(artifact);
  checkCoreImports(decisions, violations);
  if (manifest !== null) {
    checkImportList(
      decisions.map(({ name }) => name),
      manifest,
      violations,
    );
    checkCoreGrants(manifest, decisions, violations);
    if (wayIn !== null) checkOperations(wayIn, manifest, violations);
  }
  return { info, imports: decisions.map(({ name, class: kind, rule }) => ({ name, class: kind, rule })), wayIn };
}

function reportOf(
  { manifest, policy }: Pick<AdmissionRequest, "manifest" | "policy">,
  file: Pick<AdmissionReport, "bytes" | "sha256" | "kind">,
  info: ComponentInfo | null,
  imports: readonly ImportDecision[],
  wayIn: WayIn | null,
  granted: Granted,
  violations: Violations,
): AdmissionReport {
  const sorted = violations.sorted();
  return {
    accepted: sorted.length === 0,
    capability: manifest === null ? null : { id: manifest.id, version: manifest.version },
    ...file,
    hostAbi: { requested: manifest?.hostAbi ?? HOST_ABI_VERSIONS[0]!, supported: HOST_ABI_VERSIONS },
    coreModules: info?.coreModules.length ?? 0,
    memories: info?.coreModules.reduce((sum, { memories }) => sum + memories, 0) ?? 0,
    imports,
    exports: exportNames(info, file.kind),
    operations: operationNames(wayIn, manifest),
    grants: {
      fs: granted.directory,
      imports: [...granted.embedder],
      invoke: callees(granted),
      connectors: connectors(granted),
    },
    limits: effectiveLimits(policyOfProfile(policy.limits, profileOf(manifest, file.kind)), manifest?.limits),
    violations: sorted,
  };
}

function exportNames(info: ComponentInfo | null, kind: AdmissionReport["kind"]): readonly string[] {
  const exports = kind === "core-module" ? info?.coreModules[0]?.exports : info?.exports;
  return exports?.map(({ name }) => name) ?? [];
}

function callees({ callees }: Granted): readonly string[] {
  return callees.map(({ id, versions }) => `${id}@${versions}`);
}

function connectors({ connectors }: Granted): readonly string[] {
  return connectors.map(({ id, range }) => `${id}@${range}`);
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

const NOT_CHECKED = "the component was not checked to its end";

/** What is refused for what it could do to the transpiler or to the compiler is not shown to them. */
async function checkShown(
  ...[check, info, schemas, violations]: Parameters<typeof checkDeeply>
): Promise<string | null> {
  if (violations.has("unsafe_name", "too_complex")) return NOT_CHECKED;
  return checkDeeply(check, info, schemas, violations);
}

/** Looks deeper, in a process of its own. Gives why the linker cannot serve the component, or null when it can. */
async function checkDeeply(
  check: Checker,
  info: ComponentInfo,
  schemas: readonly { readonly field: string; readonly schema: JsonSchema }[],
  violations: Violations,
): Promise<string | null> {
  try {
    const { invalid, missingFeature, unlinkable, schemaProblems } = await check(info, schemas);
    if (invalid !== null)
      violations.add("malformed_wasm_artifact", `the component does not validate: ${quote(invalid, 300)}`);
    if (missingFeature !== null)
      violations.add("engine_feature_missing", `this version of Node cannot run it: ${quote(missingFeature, 300)}`);
    for (const { field, problem } of schemaProblems)
      violations.add("invalid_schema", `${field} does not compile: ${problem}`);
    return unlinkable;
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    // A component on which the validator hangs or breaks is as good as invalid; the sentence says what happened.
    if (thrown.code === "AIRLOCK_HOST_CLOSED") throw thrown;
    const code = thrown.code === "AIRLOCK_COMPILE_TIMED_OUT" ? "too_complex" : "malformed_wasm_artifact";
    violations.add(code, thrown.message);
    return NOT_CHECKED;
  }
}

function operationNames(wayIn: WayIn | null, manifest: Manifest | null): readonly string[] {
  if (wayIn?.kind === "functions") return wayIn.operations.map(({ name }) => name);
  const declared = manifest?.operations.map(({ name }) => name) ?? [];
  return wayIn?.kind === "core" && declared.length === 0 ? [CORE_OPERATION] : declared;
}
