import { camelCase } from "./camel-case.ts";
import type { ComponentInfo, ExternInfo, NamedFunc } from "./component-info.ts";
import { inputSchema, type JsonSchema, outputSchema, SchemaBudget } from "./json-schema.ts";
import { type FuncType, isPlain, TypeSearch, type WitType } from "./wit-type.ts";

/** An exported function that can be called with JSON. Names in it are hostile text. */
export interface Operation {
  /** The function's own name where that is unique among the operations, else `interface#function`. */
  readonly name: string;
  /** The name of the component's export: the function itself, or the instance that holds it. */
  readonly exportName: string;
  /** The function's name in its instance; equal to `exportName` for one that is exported by itself. */
  readonly funcName: string;
  readonly inInstance: boolean;
  /** The property that jco's glue gives the function. */
  readonly jsName: string;
  readonly type: FuncType;
  /** An object with one property per parameter, by WIT name. */
  readonly inputSchema: JsonSchema;
  /** Of T where the function gives `result<T, E>`. */
  readonly outputSchema: JsonSchema;
  /** Of E where the function gives `result<T, E>`, else null. */
  readonly failureSchema: JsonSchema | null;
}

/**
 * The exported functions with plain WIT types, on their own or in an exported instance: no handles, no streams, not
 * async, no methods of resources. In the order of the exports. Throws AIRLOCK_COMPONENT_UNSUPPORTED when their schemas
 * would be too large.
 */
export function operations(info: ComponentInfo): readonly Operation[] {
  const foreign = new TypeSearch((type) => !isPlain(type));
  const isOperation = (func: NamedFunc): boolean => isPlainFunction(func, foreign);
  const budget = new SchemaBudget();
  const found = info.exports.flatMap((each) => {
    const funcs = functionsOf(each);
    // Each name of an instance counts: a file can export one of a thousand functions under a hundred thousand names.
    budget.spend(funcs.length);
    const inInstance = each.sort === "instance";
    return funcs.filter(isOperation).map((func) => ({ exportName: each.name, func, inInstance }));
  });
  const uses = new Map<string, number>();
  for (const { func } of found) uses.set(func.name, (uses.get(func.name) ?? 0) + 1);
  return found.map(({ exportName, func, inInstance }) => ({
    name: inInstance && uses.get(func.name) !== 1 ? `${exportName}#${func.name}` : func.name,
    exportName,
    funcName: func.name,
    inInstance,
    jsName: camelCase(func.name),
    type: func.type,
    ...schemasOf(func.type, budget),
  }));
}

function functionsOf(extern: ExternInfo): readonly NamedFunc[] {
  if (extern.sort === "func") return [extern];
  return extern.sort === "instance" ? extern.funcs : [];
}

function isPlainFunction({ name, type }: NamedFunc, foreign: TypeSearch): boolean {
  // `[constructor]blob`, `[method]blob.size`, `[static]blob.merge` belong to a resource.
  if (name.startsWith("[") || type.async) return false;
  const isForeign = (part: WitType | null): boolean => part !== null && foreign.find(part) !== null;
  return !isForeign(type.result) && !type.params.some((param) => isForeign(param.type));
}

function schemasOf(
  type: FuncType,
  budget: SchemaBudget,
): Pick<Operation, "inputSchema" | "outputSchema" | "failureSchema"> {
  const { result } = type;
  const isFallible = result?.kind === "result";
  return {
    inputSchema: inputSchema(type, budget),
    outputSchema: outputSchema(isFallible ? result.ok : result, budget),
    failureSchema: isFallible ? outputSchema(result.err, budget) : null,
  };
}
