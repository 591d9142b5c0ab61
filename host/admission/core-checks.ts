import { type CoreArtifact, decodeCoreModule } from "../component/component.ts";
import { isHostError, quote } from "../errors/errors.ts";
import { CORE_TABLES, type Manifest } from "../manifest/manifest.ts";
import { CONNECTOR_INVOKE, type CoreImportDecision, decideCoreImports } from "./core-abi.ts";
import { Violations } from "./violations.ts";
import type { WayIn } from "./way-in.ts";

/** What the entry of a core module has to be. */
const ENTRY_TYPE = "() -> ()";

/** Adds each import that is refused, as `{ module, name, rule }`. */
export function checkCoreImports(decisions: readonly CoreImportDecision[], violations: Violations): void {
  for (const { name, rule, class: kind, import: pair } of decisions) {
    if (kind !== "refused") continue;
    violations.add("unauthorized_host_import", `import ${quote(name)} is refused: ${rule}`, { ...pair, rule });
  }
}

/** The entry: the function that is exported as the default, under the empty name, else `_start`. Or adds why there is none. */
export function findEntry({ info, exportTypes }: CoreArtifact, violations: Violations): WayIn | null {
  const exports = info.coreModules[0]?.exports ?? [];
  for (const wanted of ["", "_start"] as const) {
    const index = exports.findIndex(({ name, kind }) => name === wanted && kind === "func");
    if (index === -1) continue;
    const type = exportTypes[index] ?? null;
    if (type === ENTRY_TYPE) return { kind: "core", exportName: wanted };
    violations.add(
      "missing_export",
      `the entry ${quote(wanted)} is of type ${type ?? "another form"}: ${ENTRY_TYPE} is wanted`,
    );
    return null;
  }
  violations.add(
    "missing_export",
    'the module exports no entry: a function named "_start", or one under the empty name, is wanted',
  );
  return null;
}

/** Adds what the profile does not allow besides imports and entry. */
export function checkCoreLimits({ info }: CoreArtifact, violations: Violations): void {
  const tables = info.coreModules[0]?.tables ?? 0;
  if (tables > CORE_TABLES)
    violations.add("too_complex", `the module defines ${tables} tables: at most ${CORE_TABLES} are allowed`);
}

/** A right that a core module cannot use is one that nobody has thought about. */
export function checkCoreGrants(
  { grants }: Manifest,
  imports: readonly CoreImportDecision[],
  violations: Violations,
): void {
  const unusable = {
    "grants.fs": grants.fs?.read !== undefined || grants.fs?.write !== undefined,
    "grants.imports": (grants.imports ?? []).length > 0,
    "grants.invoke": (grants.invoke ?? []).length > 0,
  };
  for (const [grant, isAsked] of Object.entries(unusable)) {
    if (isAsked)
      violations.add("grant_denied", `${grant} is granted to a core module: its host ABI has no way to use it`);
  }
  if ((grants.connectors ?? []).length === 0 || imports.some(({ name }) => name === CONNECTOR_INVOKE)) return;
  violations.add(
    "grant_denied",
    `grants.connectors names connectors, but the module does not import ${quote(CONNECTOR_INVOKE)}: remove the grant, or call it`,
  );
}

/** A core module has one way in, which the manifest may name and describe. */
export function checkCoreOperations({ operations }: Manifest, violations: Violations): void {
  if (operations.length > 1)
    violations.add(
      "missing_export",
      `the manifest declares ${operations.length} operations: a core module has one way in, at most one is wanted`,
    );
}

/** Whether the bytes would do for the core profile as far as imports and entry go. */
export function fitsCore(bytes: Uint8Array): boolean {
  try {
    const artifact = decodeCoreModule(bytes);
    const isRefused = decideCoreImports(artifact).some(({ class: kind }) => kind === "refused");
    return !isRefused && findEntry(artifact, new Violations()) !== null;
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    return false;
  }
}
