import { COUNTER_NAMES, type CounterName } from "./counters.ts";
import { type ExactPlan, RESULTS } from "./exact-plan.ts";
import type { CoreModule } from "./module.ts";
import type { ResolvedOptions } from "./options.ts";
import { canonicalId, canonicalType, grownBy, MODE, type Plan } from "./plan.ts";
import { PROFILE_IMPORTS, type ProfileImport } from "./profile-hooks.ts";
import { mutableGlobals } from "./resettable.ts";

/** Where what is added ends up. Everything is added behind what is there, so only the module's own globals move. */
export interface Layout {
  /** The counters that the module needs, in the order in which it imports them. */
  readonly counters: readonly CounterName[];
  /** Whether functions are profiled. */
  readonly profiles: boolean;
  /** All globals that are imported, the counters first. */
  readonly addedGlobals: readonly (CounterName | ProfileImport)[];
  /** Whether the memory becomes an import. */
  readonly importsMemory: boolean;
  /** Indices, among those the module defines, of the globals that become exports. */
  readonly exportedGlobals: readonly number[];
  /** Ids of the injected functions, in the order of their indices. */
  readonly injected: readonly number[];
  readonly types: AddedTypes;
  /** The index of an imported global. */
  globalOf(added: CounterName | ProfileImport): number;
  /** The index of an injected function. */
  functionOf(injected: number): number;
}

export function layOut(module: CoreModule, plan: Plan, exact: ExactPlan | undefined, options: ResolvedOptions): Layout {
  const canonical = options.canonicalNan ? (exact?.kinds ?? []).filter((kind) => kind >= RESULTS) : [];
  const ids = new Set([...plan.injected, ...canonical.map((kind) => canonicalId(kind - RESULTS))]);
  const injected = [...ids].sort((a, b) => a - b);
  const growsMemory = injected.some((id) => grownBy(id)?.what === "memory");
  const growsTable = injected.some((id) => grownBy(id)?.what === "table");
  const isCharged =
    injected.some((id) => canonicalType(id) === undefined) ||
    plan.modes.some((mode) => mode !== MODE.free && mode !== MODE.leaf);
  const profiles = options.profile && module.bodies.count > 0;
  const needs: { readonly [Name in CounterName]: boolean } = {
    fuel: isCharged || profiles,
    pages: growsMemory,
    elements: growsTable,
    refused: growsMemory || growsTable,
    depth: options.callDepth && module.bodies.count > 0,
  };
  const counters = COUNTER_NAMES.filter((name) => needs[name]);
  const addedGlobals = [...counters, ...(profiles ? PROFILE_IMPORTS : [])];
  const [memory, second] = module.memories;
  const functions = new Map(injected.map((id, index) => [id, module.functionTypes.length + index]));
  return {
    counters,
    profiles,
    addedGlobals,
    importsMemory: options.importMemory && second === undefined && memory?.imported === false && !memory.is64,
    exportedGlobals: options.resettable && plan.lasting === null ? mutableGlobals(module) : [],
    injected,
    types: new AddedTypes(module.types.length),
    globalOf: (added) => module.importedGlobals + addedGlobals.indexOf(added),
    functionOf: (id) => functions.get(id)!,
  };
}

/** Value types in the binary format; one may take several bytes. */
export interface TypeList {
  readonly count: number;
  readonly types: Iterable<number>;
}

export const NO_TYPES: TypeList = { count: 0, types: [] };

/** The types that are added behind the module's own, each once. */
export class AddedTypes {
  readonly encoded: number[][] = [];
  private readonly first: number;
  private readonly indices = new Map<string, number>();

  constructor(first: number) {
    this.first = first;
  }

  /** Both lists are counted and given as the bytes of their types. */
  indexOf(parameters: TypeList, results: TypeList): number {
    const encoded = [
      0x60,
      ...countOf(parameters.count),
      ...parameters.types,
      ...countOf(results.count),
      ...results.types,
    ];
    const key = encoded.join();
    const known = this.indices.get(key);
    if (known !== undefined) return known;
    const index = this.first + this.encoded.length;
    this.encoded.push(encoded);
    this.indices.set(key, index);
    return index;
  }
}

/** An unsigned LEB128 of at most 14 bits; the engine allows 1,000 results. */
function countOf(count: number): number[] {
  return count < 0x80 ? [count] : [(count & 0x7f) | 0x80, count >> 7];
}
