import type { WitRecord, WitType, WitVariant } from "./wit-type.ts";

/** Looks up fields, cases and labels by name, with one index per type: a list of enums has as many look-ups as members. */
export class Labels {
  readonly #indexes = new Map<WitType, ReadonlyMap<string, WitType | null>>();

  /** The type of a field or case, null for one that carries nothing, undefined for a name that the type does not have. */
  find(type: WitRecord | WitVariant | Extract<WitType, { kind: "enum" | "flags" }>, name: string) {
    let index = this.#indexes.get(type);
    if (index === undefined) {
      index = indexOf(type);
      this.#indexes.set(type, index);
    }
    return index.get(name);
  }
}

function indexOf(type: Parameters<Labels["find"]>[0]): ReadonlyMap<string, WitType | null> {
  switch (type.kind) {
    case "record":
      return new Map(type.fields.map((field) => [field.name, field.type]));
    case "variant":
      return new Map(type.cases.map((each) => [each.name, each.type]));
    default:
      return new Map(type.names.map((name) => [name, null]));
  }
}
