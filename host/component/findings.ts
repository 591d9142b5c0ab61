import type { Reader } from "../binary/binary.ts";
import { HostError } from "../errors/errors.ts";
import type {
  CanonOptions,
  ComponentInfo,
  CoreModuleInfo,
  NameUse,
  NameWhere,
  StringEncoding,
} from "./component-info.ts";
import type { WitType } from "./wit-type.ts";

/** How deep a type nests, and of how many types it consists when each mention is counted. */
export interface TypeSize {
  readonly depth: number;
  readonly nodes: number;
}

/** How deep components and type declarations may nest. wit-component needs 3 and 4; composition adds one each. */
export const MAX_NESTING = 32;
/** Names, sections, definitions, their parts and function bodies in one component. QuickJS comes to 7,500. */
const MAX_ITEMS = 400_000;

/** What reading a component adds up, over all its depths, and the budget that bounds it. */
export class Findings {
  readonly names: NameUse[] = [];
  readonly coreModules: CoreModuleInfo[] = [];
  readonly nestedComponents: string[] = [];
  readonly builtins = new Set<string>();
  readonly asyncReasons = new Set<string>();
  readonly stringEncodings = new Set<StringEncoding>();
  /** Depth and expanded size of every composite type read so far; a type that is absent is one deep and one large. */
  readonly typeSizes = new Map<WitType, TypeSize>();
  /** Instances that one instantiation of a nested component makes, by the map of its exports. */
  readonly instancesOf = new Map<unknown, number>();
  readonly options = new Set<Exclude<keyof CanonOptions, "stringEncodings">>();
  hasComponentStart = false;
  depth = 1;
  largestTypeNodes = 1;
  #items = 0;

  /** Pays for one item; refuses the component that has too many. */
  spend(reader: Reader): void {
    if (++this.#items > MAX_ITEMS) unsupported(`More than ${MAX_ITEMS} names and definitions`, reader.position);
  }

  /** Reads a name and notes it. */
  name(reader: Reader, where: NameWhere, path: string): string {
    const name = reader.name();
    this.note(reader, name, where, path);
    return name;
  }

  note(reader: Reader, name: string, where: NameWhere, path: string): void {
    this.spend(reader);
    this.names.push({ name, where, path });
  }

  /** The part of a ComponentInfo that is the same at every depth. */
  summary(): Omit<ComponentInfo, "imports" | "exports" | "componentImports" | "valueImports" | "instances"> {
    return {
      coreModules: this.coreModules,
      canonBuiltins: [...this.builtins].sort(),
      canonOptions: {
        async: this.options.has("async"),
        callback: this.options.has("callback"),
        gc: this.options.has("gc"),
        memory: this.options.has("memory"),
        realloc: this.options.has("realloc"),
        postReturn: this.options.has("postReturn"),
        stringEncodings: [...this.stringEncodings].sort(),
      },
      hasComponentStart: this.hasComponentStart,
      nestedComponents: this.nestedComponents,
      depth: this.depth,
      largestTypeNodes: this.largestTypeNodes,
      usesAsync: this.asyncReasons.size > 0,
      asyncReasons: [...this.asyncReasons].sort(),
      names: this.names,
    };
  }
}

/** Refuses a feature that this decoder does not know: what is not understood is never skipped, a name could hide in it. */
export function unsupported(what: string, offset: number): never {
  throw new HostError("AIRLOCK_COMPONENT_UNSUPPORTED", `Decode component: ${what} at offset ${offset}`, {
    details: { offset },
  });
}
