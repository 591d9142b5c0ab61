import type { WitType } from "./wit-type.ts";

const MAX_DEPTH = 4;
const MAX_ELEMENTS = 8;

/** A type in WIT's words, for a message: bounded in depth and width. Names in it are hostile text: quote it. */
export function typeText(type: WitType, depth = 0): string {
  const of = (part: WitType | null): string => (part === null ? "_" : typeText(part, depth + 1));
  if (depth > MAX_DEPTH) return "…";
  switch (type.kind) {
    case "record":
    case "variant":
    case "enum":
    case "flags":
      return type.name ?? type.kind;
    case "list":
      return type.length === null ? `list<${of(type.element)}>` : `list<${of(type.element)}, ${type.length}>`;
    case "tuple": {
      const shown = type.elements.slice(0, MAX_ELEMENTS).map(of);
      return `tuple<${[...shown, ...(shown.length < type.elements.length ? ["…"] : [])].join(", ")}>`;
    }
    case "option":
      return `option<${of(type.some)}>`;
    case "result":
      return type.ok === null && type.err === null ? "result" : `result<${of(type.ok)}, ${of(type.err)}>`;
    case "own":
      return type.resource.name;
    case "borrow":
      return `borrow<${type.resource.name}>`;
    case "stream":
    case "future":
      return type.element === null ? type.kind : `${type.kind}<${of(type.element)}>`;
    default:
      return type.kind;
  }
}
