import { camelCase, decodeStructure } from "../component/component.ts";
import { quote } from "../errors/errors.ts";
import { Elaboration, type Func, type Value } from "./elaboration.ts";
import type { LiftedExport, LinkPlan } from "./link-plan.ts";
import { Unlinkable, unlinkable } from "./unlinkable.ts";

/** A plan, or why the linker cannot serve the component; the reason names the type where one is the cause. */
export type Planned =
  | { readonly kind: "linkable"; readonly plan: LinkPlan }
  | { readonly kind: "unlinkable"; readonly reason: string };

/** Works out how a valid component is put together. Throws what decodeComponent() throws; work ends at a cap. */
export function planLink(bytes: Uint8Array): Planned {
  try {
    const elaboration = new Elaboration();
    const exports = elaboration.component(decodeStructure(bytes));
    const { modules, steps, options, made, resources } = elaboration;
    return {
      kind: "linkable",
      plan: { modules, steps, options, made, resources, exports: exportsOf(exports, elaboration) },
    };
  } catch (thrown) {
    if (!(thrown instanceof Unlinkable)) throw thrown;
    return { kind: "unlinkable", reason: thrown.message };
  }
}

function exportsOf(exports: ReadonlyMap<string, Value>, elaboration: Elaboration): readonly LiftedExport[] {
  const found: LiftedExport[] = [];
  for (const [name, value] of exports) {
    if (value.sort === "func") found.push(exportOf(null, name, value, elaboration));
    if (value.sort !== "instance") continue;
    const keys = new Set<string>();
    for (const [funcName, func] of value.exports) {
      elaboration.spend();
      if (func.sort !== "func") continue;
      const exported = exportOf(name, funcName, func, elaboration);
      if (keys.has(exported.key)) unlinkable(`${quote(name)} exports ${quote(exported.key)} twice`);
      keys.add(exported.key);
      found.push(exported);
    }
  }
  return found;
}

function exportOf(interfaceName: string | null, name: string, func: Func, elaboration: Elaboration): LiftedExport {
  if (name.startsWith("[")) unlinkable(`${quote(name)} belongs to a resource`);
  if (func.kind === "imported") unlinkable(`${quote(name)} is an import that is exported again`);
  elaboration.checkPlain(func.lifted.type, quote(name));
  return { interfaceName, key: camelCase(name), ...func.lifted };
}
