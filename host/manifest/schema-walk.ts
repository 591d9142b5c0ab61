import { quote } from "../errors/errors.ts";
import { patternProblem } from "./pattern.ts";
import { brief, fieldPath, knownNames } from "./schema-text.ts";

const MAX_PROBLEMS = 20;
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

const ONE_SCHEMA = new Set(
  (
    "additionalProperties propertyNames items contains not if then else unevaluatedProperties unevaluatedItems " +
    "contentSchema"
  ).split(" "),
);
const LIST_OF_SCHEMAS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const MAP_OF_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose schemas see the same value, so that a reference cycle through them alone never ends. */
const IN_PLACE = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]);
const OTHER_KEYWORDS = new Set(
  (
    "$schema $id $ref $anchor $comment type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum " +
    "maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties " +
    "required dependentRequired format contentEncoding contentMediaType title description default deprecated readOnly " +
    "writeOnly examples"
  ).split(" "),
);
const REFUSED: Readonly<Record<string, string>> = {
  $dynamicRef: "references that depend on the caller are not allowed",
  $dynamicAnchor: "references that depend on the caller are not allowed",
  $recursiveRef: "references that depend on the caller are not allowed",
  $recursiveAnchor: "references that depend on the caller are not allowed",
  $data: "references into the value are not allowed",
  $vocabulary: "vocabularies cannot be chosen",
  dependencies: '"dependentSchemas" or "dependentRequired" is wanted',
  id: '"$id" is wanted, or nothing',
};
const KEYWORDS = [...ONE_SCHEMA, ...LIST_OF_SCHEMAS, ...MAP_OF_SCHEMAS, ...OTHER_KEYWORDS];

/** Formats of draft 2020-12. They are annotations, as the draft says by default: accepted and never asserted. */
const FORMATS = (
  "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference " +
  "uuid uri-template json-pointer relative-json-pointer regex"
).split(" ");

/** Finds what is not allowed in a schema whose size and depth are bounded already, without compiling any of it. */
export class SchemaWalk {
  readonly problems: string[] = [];
  readonly #where: string;
  /** Each place that is a schema, with the places that see the same value. */
  readonly #inPlace = new Map<string, string[]>();
  readonly #anchors = new Map<string, string>();
  readonly #references: { readonly from: string; readonly ref: string }[] = [];

  constructor(where: string) {
    this.#where = where;
  }

  visit(schema: unknown, pointer: string): void {
    this.#inPlace.set(pointer, []);
    if (!isObject(schema)) return;
    for (const [keyword, value] of Object.entries(schema)) {
      // Each problem costs a search for the word that was meant, and a schema can have one in every few bytes.
      if (this.problems.length >= MAX_PROBLEMS) return;
      const place = `${pointer}/${escaped(keyword)}`;
      if (ONE_SCHEMA.has(keyword)) {
        this.#child(value, place, keyword, pointer);
      } else if (LIST_OF_SCHEMAS.has(keyword) && Array.isArray(value)) {
        for (const [index, part] of value.entries()) this.#child(part, `${place}/${index}`, keyword, pointer);
      } else if (MAP_OF_SCHEMAS.has(keyword) && isObject(value)) {
        if (keyword === "patternProperties") this.#patterns(Object.keys(value), place);
        for (const [name, part] of Object.entries(value)) {
          this.#child(part, `${place}/${escaped(name)}`, keyword, pointer);
        }
      } else {
        this.#plain(keyword, value, pointer, place);
      }
    }
  }

  /** To be called once, after `visit`. */
  resolveReferences(): void {
    for (const { from, ref } of this.#references) {
      const target = this.#target(ref);
      if (target === undefined) {
        this.#problem(`${from}/$ref`, `is ${quote(ref, 80)}: there is no such schema in this document`);
      } else {
        this.#inPlace.get(from)?.push(target);
      }
    }
    const cycle = endlessFrom(this.#inPlace);
    if (cycle !== null) this.#problem(cycle, "refers to itself without descending into the value: it would never end");
  }

  #child(value: unknown, place: string, keyword: string, parent: string): void {
    if (IN_PLACE.has(keyword)) this.#inPlace.get(parent)?.push(place);
    this.visit(value, place);
  }

  /** A keyword whose value is no schema. */
  #plain(keyword: string, value: unknown, pointer: string, place: string): void {
    const refused = Object.hasOwn(REFUSED, keyword);
    if (refused || (isObject(value) && Object.hasOwn(value, "$data") && keyword !== "const" && keyword !== "default")) {
      this.#problem(place, `is refused: ${REFUSED[refused ? keyword : "$data"]}`);
    } else if (!keyword.startsWith("x-") && !KEYWORDS.includes(keyword)) {
      this.#problem(pointer, `has the unknown keyword ${quote(keyword, 60)}: ${keywordHint(keyword)}`);
    } else if (keyword === "$schema" && typeof value !== "string") {
      // The meta-schema's validator reads it before it checks anything, and throws.
      this.#problem(place, `is ${brief(value)}: ${DIALECT} is wanted`);
    } else if (keyword === "enum" && Array.isArray(value) && value.length === 0) {
      // The meta-schema lets it pass, the compiler does not; and nothing would ever fit.
      this.#problem(place, "is empty: at least one value is wanted");
    } else if (typeof value === "string") {
      this.#word(keyword, value, pointer, place);
    }
  }

  #word(keyword: string, value: string, pointer: string, place: string): void {
    switch (keyword) {
      case "$schema":
        if (value.replace(/#$/, "") !== DIALECT) this.#problem(place, `is ${quote(value, 80)}: ${DIALECT} is wanted`);
        break;
      case "$id":
        if (pointer !== "") this.#problem(place, "is below the root of the schema: only the root may have an $id");
        break;
      case "$anchor":
        if (this.#anchors.has(value)) this.#problem(place, `is ${quote(value, 60)}, which another schema has already`);
        this.#anchors.set(value, pointer);
        break;
      case "$ref":
        if (value.startsWith("#")) this.#references.push({ from: pointer, ref: value });
        else this.#problem(place, `is ${quote(value, 80)}: a reference into this document (#…) is wanted`);
        break;
      case "pattern":
        this.#patterns([value], place);
        break;
      case "format":
        if (!FORMATS.includes(value)) {
          this.#problem(place, `is the unknown format ${quote(value, 60)}: ${knownNames(value, FORMATS)}`);
        }
        break;
    }
  }

  #patterns(patterns: readonly string[], place: string): void {
    for (const pattern of patterns) {
      const problem = patternProblem(pattern);
      if (problem !== null) this.#problem(place, `has the pattern ${quote(pattern, 60)}: ${problem}`);
    }
  }

  #target(ref: string): string | undefined {
    let fragment: string;
    try {
      fragment = decodeURIComponent(ref.slice(1));
    } catch {
      return undefined;
    }
    if (fragment !== "" && !fragment.startsWith("/")) return this.#anchors.get(fragment);
    // Only a place that was visited as a schema: one that hides in `default` or `x-…` went unchecked.
    return this.#inPlace.has(fragment) ? fragment : undefined;
  }

  #problem(pointer: string, text: string): void {
    const path = fieldPath(pointer);
    const field = path === "" ? this.#where : `${this.#where}.${path}`;
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(`${bounded(field)} ${text}`);
  }
}

/** A place from which in-place steps come back to it, or null. */
function endlessFrom(graph: ReadonlyMap<string, readonly string[]>): string | null {
  const state = new Map<string, "open" | "done">();
  for (const start of graph.keys()) {
    if (state.has(start)) continue;
    const path: { readonly place: string; next: number }[] = [{ place: start, next: 0 }];
    state.set(start, "open");
    while (path.length > 0) {
      const top = path.at(-1)!;
      const step = graph.get(top.place)?.[top.next++];
      if (step === undefined) {
        state.set(top.place, "done");
        path.pop();
      } else if (state.get(step) === "open") {
        return step;
      } else if (!state.has(step)) {
        state.set(step, "open");
        path.push({ place: step, next: 0 });
      }
    }
  }
  return null;
}

function keywordHint(keyword: string): string {
  const known = knownNames(keyword, KEYWORDS);
  return known.startsWith("known are") ? "one of draft 2020-12 or one that starts with x- is wanted" : known;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function bounded(text: string): string {
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
