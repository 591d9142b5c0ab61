import { type CoreModule, SECTION } from "./module.ts";

const I32 = 0x7f;
const I64 = 0x7e;

/** A mutable global that cannot be put back: JavaScript would lose references, vectors and the bits of a NaN. */
export function lastingGlobal(module: CoreModule): string | null {
  const index = module.globals.findIndex(({ isMutable, type }) => isMutable && type !== I32 && type !== I64);
  if (index !== -1) return `mutable global ${module.importedGlobals + index}, which is no integer`;
  const exports = module.sections.some(({ id }) => id === SECTION.export);
  return exports || mutableGlobals(module).length === 0 ? null : "mutable globals, and it exports nothing";
}

/** Where the mutable globals stand among those that the module defines. */
export function mutableGlobals(module: CoreModule): readonly number[] {
  return module.globals.flatMap(({ isMutable }, index) => (isMutable ? [index] : []));
}

/** The name by which a resettable module exports a mutable global. */
export function globalExport(index: number): string {
  return `$airlock:global:${index}`;
}
