import { type ComponentInfo, type ExternInfo, flatSignature, SignatureSearch } from "../component/component.ts";
import { quote } from "../errors/errors.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { CONNECTORS, decideImport, HOST_ABI_VERSIONS, type ImportDecision, INVOKE } from "./interfaces.ts";
import type { Granted } from "./policy.ts";
import type { Violations } from "./violations.ts";

export function checkImports(
  info: ComponentInfo,
  granted: Granted,
  unlinkable: string | null,
  violations: Violations,
): readonly ImportDecision[] {
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
    const unbounded = decision.class === "embedder" ? unboundedFunction(extern, unlinkable) : null;
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
function unboundedFunction(extern: ExternInfo, unlinkable: string | null): string | null {
  if (extern.sort !== "instance") return "an interface of the application is imported as an interface";
  if (extern.resources.length > 0) return "interfaces with resources are not supported for applications";
  const search = new SignatureSearch();
  for (const { name, type } of extern.funcs) {
    const { signature, typeName } = flatSignature(type, "import", search);
    if (signature === "plain" || (signature === "needs-walk" && unlinkable === null)) continue;
    const why = unlinkable === null ? "" : `; the component needs generated glue: ${unlinkable}`;
    return `its function ${quote(name)} takes ${quote(typeName ?? signature)}, which cannot be bounded before it is read${why}`;
  }
  return null;
}

/** A right that the component cannot use is one that nobody has thought about. */
export function checkUnusedGrants(info: ComponentInfo, { callees, connectors }: Granted, violations: Violations): void {
  const check = (field: string, named: readonly { readonly id: string }[], wanted: string): void => {
    if (named.length === 0 || info.imports.some(({ name }) => name === wanted)) return;
    const ids = named.slice(0, 10).map(({ id }) => quote(id));
    violations.add(
      "grant_denied",
      `${field} names ${ids.join(", ")}, but the component does not import ${quote(wanted)}: remove the grant, or build against a world that imports it`,
    );
  };
  check("grants.invoke", callees, INVOKE);
  check("grants.connectors", connectors, CONNECTORS);
}

/** The names that a manifest has to list. */
export function listedImports(info: ComponentInfo): readonly string[] {
  return info.imports.filter(({ sort }) => sort !== "type").map(({ name }) => name);
}

export function checkImportList(actual: readonly string[], manifest: Manifest, violations: Violations): void {
  const surplus = manifest.imports.filter((name) => !actual.includes(name));
  const missing = actual.filter((name) => !manifest.imports.includes(name));
  if (surplus.length === 0 && missing.length === 0) return;
  const list = (names: readonly string[]): string =>
    names
      .slice(0, 10)
      .map((name) => quote(name))
      .join(", ");
  const differences = [
    ...(surplus.length === 0 ? [] : [`the file does not import ${list(surplus)}`]),
    ...(missing.length === 0 ? [] : [`the manifest does not list ${list(missing)}`]),
  ];
  violations.add(
    "import_list_mismatch",
    `imports of the manifest are not those of the file: ${differences.join(", and ")}`,
    { surplus, missing },
  );
}
