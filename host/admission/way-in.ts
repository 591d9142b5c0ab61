import {
  type ComponentInfo,
  flatSignature,
  type Operation,
  operations,
  SignatureSearch,
} from "../component/component.ts";
import { isHostError, quote } from "../errors/errors.ts";
import type { Violations } from "./violations.ts";

/** How a component is called. */
export type WayIn =
  /** It exports `airlock:capability/handler`: JSON text in and out. */
  | { readonly kind: "handler"; readonly exportName: string }
  /** It exports plain functions: each is an operation. */
  | { readonly kind: "functions"; readonly operations: readonly Operation[] }
  /** It is a core module, which exports an entry that takes and gives nothing: JSON text on its standard input and output. */
  | { readonly kind: "core"; readonly exportName: "" | "_start" };

/** The one operation of a core module whose manifest declares none: any JSON in and out. */
export const CORE_OPERATION = "run";

const HANDLER = /^airlock:capability\/handler@(.+)$/;

/** componentize-qjs leaves a stray export that runs its start-up again; it is no operation. */
const STRAY_EXPORTS = new Set(["init"]);

/** Finds the way in, in the order of the host ABI, or adds why there is none. Not every operation in it may be callable. */
export function findWayIn(info: ComponentInfo, abiVersions: readonly string[], violations: Violations): WayIn | null {
  for (const { name, sort } of info.exports) {
    const version = HANDLER.exec(name)?.[1];
    if (version === undefined || sort !== "instance") continue;
    if (abiVersions.includes(version)) return { kind: "handler", exportName: name };
    violations.add(
      "unsupported_abi_version",
      `the component exports handler ${quote(version)}: the host speaks ${abiVersions.join(", ")}`,
      {
        requested: version,
        supported: abiVersions,
      },
    );
    return null;
  }
  try {
    const all = operations(info).filter(({ exportName, inInstance }) => inInstance || !STRAY_EXPORTS.has(exportName));
    if (all.length > 0) return { kind: "functions", operations: all };
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    violations.add("too_complex", thrown.message);
    return null;
  }
  violations.add(
    "missing_export",
    "the component exports neither airlock:capability/handler@1.0.0 nor a plain function that can be called",
  );
  return null;
}

/**
 * The way in with the operations whose values can be bounded, or null and why no operation is left. `unlinkable` is why
 * generated glue carries the values, which loops over elements before anyone can count them, or null when the linker does.
 */
export function boundWayIn(wayIn: WayIn, unlinkable: string | null, violations: Violations): WayIn | null {
  if (wayIn.kind !== "functions" || unlinkable === null) return wayIn;
  const search = new SignatureSearch();
  const callable: Operation[] = [];
  const reasons: string[] = [];
  for (const operation of wayIn.operations) {
    const { signature, typeName } = flatSignature(operation.type, "export", search);
    if (signature === "plain") callable.push(operation);
    else
      reasons.push(
        `${quote(operation.name)} gives ${quote(typeName ?? signature)}, which cannot be bounded before it is read`,
      );
  }
  if (callable.length > 0) return { kind: "functions", operations: callable };
  violations.add(
    "limit_unenforceable",
    `outputBytes cannot be held: ${reasons.slice(0, 3).join("; ")}; the component needs generated glue: ${unlinkable}`,
  );
  return null;
}
