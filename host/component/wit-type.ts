/** A resource type. Two mentions of one resource may be two objects: its name is its identity. Empty: never named. */
export interface WitResource {
  readonly name: string;
}

/** The types that need no more than their word. */
export const PRIMITIVES = [
  "bool",
  "s8",
  "u8",
  "s16",
  "u16",
  "s32",
  "u32",
  "s64",
  "u64",
  "f32",
  "f64",
  "char",
  "string",
  "error-context",
] as const;

export type PrimitiveKind = (typeof PRIMITIVES)[number];

export interface WitField {
  /** The WIT name, in kebab case. */
  readonly name: string;
  readonly type: WitType;
}

export interface WitCase {
  readonly name: string;
  readonly type: WitType | null;
}

export interface WitRecord {
  readonly kind: "record";
  /** The first name that the component gives this type, or null. */
  readonly name: string | null;
  readonly fields: readonly WitField[];
}

export interface WitVariant {
  readonly kind: "variant";
  readonly name: string | null;
  readonly cases: readonly WitCase[];
}

export interface WitNames {
  readonly kind: "enum" | "flags";
  readonly name: string | null;
  readonly names: readonly string[];
}

export interface WitList {
  readonly kind: "list";
  readonly element: WitType;
  /** The length of a fixed-length list, else null. */
  readonly length: number | null;
}

/**
 * A WIT type. A graph without cycles, shared by reference: who walks it remembers where it has been, since a type that
 * names its predecessor twice, sixty times over, has 2^60 paths. It is never deeper than `MAX_TYPE_DEPTH`.
 */
export type WitType =
  | { readonly kind: PrimitiveKind }
  | WitRecord
  | WitVariant
  | WitNames
  | WitList
  | { readonly kind: "tuple"; readonly elements: readonly WitType[] }
  | { readonly kind: "option"; readonly some: WitType }
  | { readonly kind: "result"; readonly ok: WitType | null; readonly err: WitType | null }
  | { readonly kind: "own" | "borrow"; readonly resource: WitResource }
  | { readonly kind: "stream" | "future"; readonly element: WitType | null };

export type WitKind = WitType["kind"];

/** The type of a component function. */
export interface FuncType {
  readonly params: readonly WitField[];
  readonly result: WitType | null;
  readonly async: boolean;
}

/** How deep types may nest; wit-bindgen's own types stay below ten, and recursion over types relies on it. */
export const MAX_TYPE_DEPTH = 100;

/** The types that `type` is made of. */
export function partsOf(type: WitType): readonly WitType[] {
  switch (type.kind) {
    case "record":
      return type.fields.map((field) => field.type);
    case "variant":
      return type.cases.flatMap((each) => (each.type === null ? [] : [each.type]));
    case "list":
      return [type.element];
    case "tuple":
      return type.elements;
    case "option":
      return [type.some];
    case "result":
      return [type.ok, type.err].filter((part) => part !== null);
    case "stream":
    case "future":
      return type.element === null ? [] : [type.element];
    default:
      return [];
  }
}

/**
 * Finds, within a type, itself included, the first type for which `test` holds. Remembers every answer: one search over
 * all signatures of a component visits each type once.
 */
export class TypeSearch {
  readonly #test: (type: WitType) => boolean;
  readonly #answers = new Map<WitType, WitType | null>();

  constructor(test: (type: WitType) => boolean) {
    this.#test = test;
  }

  find(type: WitType): WitType | null {
    const known = this.#answers.get(type);
    if (known !== undefined) return known;
    let found = this.#test(type) ? type : null;
    for (const part of partsOf(type)) found ??= this.find(part);
    this.#answers.set(type, found);
    return found;
  }
}

/** Kinds of numbers: a list of one of them is a typed array in JavaScript. */
export const NUMERIC_KINDS: ReadonlySet<WitKind> = new Set<WitKind>([
  "u8",
  "s8",
  "u16",
  "s16",
  "u32",
  "s32",
  "u64",
  "s64",
  "f32",
  "f64",
]);

const HANDLE_KINDS: ReadonlySet<WitKind> = new Set<WitKind>(["own", "borrow", "stream", "future", "error-context"]);

/** True for a type whose values are data: itself no handle. Says nothing of its parts. */
export function isPlain(type: WitType): boolean {
  return !HANDLE_KINDS.has(type.kind);
}
