import { Cursor } from "./cursor.ts";
import type { CoreModule, FunctionType } from "./module.ts";
import { firstBytes, V128 } from "./value-types.ts";

/** Counts the `v128` locals of functions, parameters included. */
export class VectorLocals {
  private readonly module: CoreModule;
  private readonly cursor: Cursor;
  /** Of each type's parameters: many functions may share a long type. */
  private readonly parameters = new Map<FunctionType, number>();

  constructor(module: CoreModule) {
    this.module = module;
    this.cursor = new Cursor(module.bytes);
  }

  /** Of the function at `index` of the code section. */
  of(index: number): number {
    const { module, cursor } = this;
    const { groups, groupCounts } = module.bodies;
    let count = this.ofParameters(module.types[module.functionTypes[module.importedFunctions + index]!]!);
    cursor.position = groups[index]!;
    for (let left = groupCounts[index]!; left > 0; left--) {
      const locals = cursor.u32();
      if (module.bytes[cursor.position] === V128) count += locals;
      cursor.valueType();
    }
    return count;
  }

  private ofParameters(type: FunctionType): number {
    const known = this.parameters.get(type);
    if (known !== undefined) return known;
    const firsts = firstBytes(this.module.bytes, type.parametersStart, type.parameters);
    const count = firsts.filter((first) => first === V128).length;
    this.parameters.set(type, count);
    return count;
  }
}
