import { HostError } from "../errors/errors.ts";
import { isBytes, isWrappedInJson } from "./js-forms.ts";
import { BIGINT_BOUNDS, INTEGER_BOUNDS } from "./scalars.ts";
import { type FuncType, partsOf, type WitField, type WitType } from "./wit-type.ts";

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Input accepts a safe integer where output always gives a decimal string, and may leave out an option. */
export type Direction = "input" | "output";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Schema objects and labels that one component may cost; past that it is refused. An interface has some hundred. */
const MAX_SCHEMA_NODES = 100_000;

/** Counts what the schemas of one component cost. */
export class SchemaBudget {
  #left = MAX_SCHEMA_NODES;

  spend(nodes: number): void {
    this.#left -= nodes;
    if (this.#left >= 0) return;
    throw new HostError(
      "AIRLOCK_COMPONENT_UNSUPPORTED",
      `Derive JSON Schemas: the component's operations need more than ${MAX_SCHEMA_NODES} schema nodes`,
      { details: { limit: MAX_SCHEMA_NODES } },
    );
  }
}

/** The schema of the object that holds a function's arguments. */
export function inputSchema(type: FuncType, budget: SchemaBudget): JsonSchema {
  const builder = new SchemaBuilder("input", budget);
  builder.count(type.params.map((param) => param.type));
  return builder.document(builder.object(type.params));
}

/** The schema of a value that comes out; `{ type: "null" }` when there is none. */
export function outputSchema(type: WitType | null, budget: SchemaBudget): JsonSchema {
  const builder = new SchemaBuilder("output", budget);
  builder.count(type === null ? [] : [type]);
  return builder.document(type === null ? { type: "null" } : builder.schema(type));
}

/** Builds one document. A composite type that is named or mentioned twice is written once, under `$defs`. */
class SchemaBuilder {
  readonly #direction: Direction;
  readonly #budget: SchemaBudget;
  readonly #mentions = new Map<WitType, number>();
  readonly #references = new Map<WitType, JsonSchema>();
  readonly #definitions = new Map<string, JsonSchema>();
  /** How many definitions go by a name. */
  readonly #taken = new Map<string, number>();

  constructor(direction: Direction, budget: SchemaBudget) {
    this.#direction = direction;
    this.#budget = budget;
  }

  /** Counts how often each type is mentioned, visiting each once. */
  count(roots: readonly WitType[]): void {
    const pending = [...roots];
    for (let type = pending.pop(); type !== undefined; type = pending.pop()) {
      const mentions = this.#mentions.get(type) ?? 0;
      this.#mentions.set(type, mentions + 1);
      if (mentions > 0) continue;
      for (const part of partsOf(type)) pending.push(part);
    }
  }

  document(schema: JsonSchema): JsonSchema {
    const definitions = this.#definitions.size === 0 ? {} : { $defs: Object.fromEntries(this.#definitions) };
    return { $schema: DIALECT, ...schema, ...definitions };
  }

  schema(type: WitType): JsonSchema {
    this.#budget.spend(1);
    const known = this.#references.get(type);
    if (known !== undefined) return known;
    const isComposite = "name" in type || partsOf(type).length > 0;
    const isNamed = "name" in type && type.name !== null;
    if (!isComposite || !(isNamed || (this.#mentions.get(type) ?? 0) > 1)) return this.#write(type);
    const name = this.#nameFor(type);
    const reference = { $ref: `#/$defs/${name}` };
    this.#references.set(type, reference);
    this.#definitions.set(name, this.#write(type));
    return reference;
  }

  object(fields: readonly WitField[]): JsonSchema {
    this.#budget.spend(fields.length);
    const isRequired = (field: WitField): boolean => this.#direction === "output" || field.type.kind !== "option";
    return {
      type: "object",
      // fromEntries defines own properties: a field cannot reach a prototype.
      properties: Object.fromEntries(fields.map((field) => [field.name, this.schema(field.type)])),
      required: fields.filter(isRequired).map((field) => field.name),
      additionalProperties: false,
    };
  }

  #write(type: WitType): JsonSchema {
    switch (type.kind) {
      case "bool":
        return { type: "boolean" };
      case "u8":
      case "s8":
      case "u16":
      case "s16":
      case "u32":
      case "s32": {
        const [minimum, maximum] = INTEGER_BOUNDS[type.kind];
        return { type: "integer", minimum, maximum };
      }
      case "u64":
      case "s64":
        return this.#bigint(type.kind);
      case "f32":
      case "f64":
        return { type: "number" };
      case "char":
        return { type: "string", minLength: 1, maxLength: 1 };
      case "string":
        return { type: "string" };
      case "list":
        if (isBytes(type)) return { type: "string", contentEncoding: "base64" };
        return { type: "array", items: this.schema(type.element), ...lengthOf(type.length) };
      case "record":
        return this.object(type.fields);
      case "tuple": {
        const prefixItems = type.elements.map((element) => this.schema(element));
        return { type: "array", ...(prefixItems.length > 0 ? { prefixItems } : {}), ...lengthOf(prefixItems.length) };
      }
      case "variant":
        return { oneOf: type.cases.map((each) => this.#case(each.name, each.type)) };
      case "enum":
        this.#budget.spend(type.names.length);
        return { type: "string", enum: type.names };
      case "flags":
        this.#budget.spend(type.names.length);
        return { type: "array", items: { type: "string", enum: type.names }, uniqueItems: true };
      case "option": {
        const some = this.schema(type.some);
        return { anyOf: [{ type: "null" }, isWrappedInJson(type) ? wrapped(some) : some] };
      }
      case "result":
        return { oneOf: [this.#case("ok", type.ok), this.#case("err", type.err)] };
      default:
        throw new Error(`Unreachable: no JSON Schema for ${type.kind}, which is not plain`);
    }
  }

  #bigint(kind: "u64" | "s64"): JsonSchema {
    const text = { type: "string", pattern: kind === "u64" ? "^(0|[1-9][0-9]{0,19})$" : "^(0|-?[1-9][0-9]{0,18})$" };
    if (this.#direction === "output") return text;
    const minimum = BIGINT_BOUNDS[kind][0] === 0n ? 0 : Number.MIN_SAFE_INTEGER;
    return { anyOf: [text, { type: "integer", minimum, maximum: Number.MAX_SAFE_INTEGER }] };
  }

  #case(tag: string, type: WitType | null): JsonSchema {
    this.#budget.spend(1);
    const isRequired = type !== null && (this.#direction === "output" || type.kind !== "option");
    return {
      type: "object",
      properties: { tag: { const: tag }, ...(type === null ? {} : { value: this.schema(type) }) },
      required: isRequired ? ["tag", "value"] : ["tag"],
      additionalProperties: false,
    };
  }

  /** A key that needs no escaping in a JSON pointer, and is nobody else's. */
  #nameFor(type: WitType): string {
    const wanted = ("name" in type ? type.name : null) ?? type.kind;
    const base = wanted.replace(/[^A-Za-z0-9-]/g, "-").slice(0, 64);
    // No base holds a dot, so a number behind one makes a name that no other base can be.
    const count = (this.#taken.get(base) ?? 0) + 1;
    this.#taken.set(base, count);
    return count === 1 ? base : `${base}.${count}`;
  }
}

function lengthOf(length: number | null): JsonSchema {
  return length === null ? {} : { minItems: length, maxItems: length };
}

function wrapped(schema: JsonSchema): JsonSchema {
  return { type: "object", properties: { some: schema }, required: ["some"], additionalProperties: false };
}
