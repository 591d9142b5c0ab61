import {
  isNullable,
  type NumberKind,
  type StringEncoding,
  TYPED_ARRAYS,
  type WitType,
  type WitVariant,
} from "../component/component.ts";
import { type Codec, unfit } from "./codec.ts";
import { handleCodec } from "./handle-codecs.ts";
import { fixedListCodec, listCodec, numbersCodec } from "./list-codecs.ts";
import { flagsCodec, recordCodec, tupleCodec } from "./record-codecs.ts";
import { SCALAR_CODECS } from "./scalar-codecs.ts";
import { stringCodec } from "./string-codecs.ts";
import { type Cases, variantCodec } from "./variant-codec.ts";

/** The codecs of one component's types for strings of one encoding. Each type is compiled once, however often it is mentioned. */
export class Codecs {
  readonly #string: Codec;
  readonly #known = new Map<WitType, Codec>();

  constructor(encoding: StringEncoding) {
    this.#string = stringCodec(encoding);
  }

  of(type: WitType): Codec {
    let codec = this.#known.get(type);
    if (codec === undefined) {
      codec = this.#compile(type);
      this.#known.set(type, codec);
    }
    return codec;
  }

  #compile(type: WitType): Codec {
    switch (type.kind) {
      case "string":
        return this.#string;
      case "list":
        return this.#list(type.element, type.length);
      case "record":
        return recordCodec(
          type.fields,
          type.fields.map((field) => this.of(field.type)),
        );
      case "tuple":
        return tupleCodec(type.elements.map((element) => this.of(element)));
      case "flags":
        return flagsCodec(type.names);
      case "enum":
        return variantCodec(enumCases(type.names));
      case "variant":
        return variantCodec(this.#tagged(type, "variant"));
      case "result":
        return variantCodec(this.#tagged(resultAsVariant(type), "result"));
      case "option":
        if (isNullable(type)) return variantCodec(nullableCases(this.of(type.some)));
        return variantCodec(this.#tagged(optionAsVariant(type), "option"));
      case "own":
      case "borrow":
        return handleCodec(type.kind, type.resource);
      default: {
        const scalar = SCALAR_CODECS.get(type.kind);
        if (scalar === undefined) throw new Error(`The linker has no codec for ${type.kind}`);
        return scalar;
      }
    }
  }

  #list(element: WitType, length: number | null): Codec {
    const kind = Object.hasOwn(TYPED_ARRAYS, element.kind) ? (element.kind as NumberKind) : null;
    if (length !== null) return fixedListCodec(this.of(element), length, kind);
    return kind === null ? listCodec(this.of(element)) : numbersCodec(kind);
  }

  #tagged({ cases }: Pick<WitVariant, "cases">, what: "variant" | "result" | "option"): Cases {
    const index = new Map(cases.map(({ name }, at) => [name, at]));
    const payloads = cases.map((each) => (each.type === null ? null : this.of(each.type)));
    return {
      payloads,
      indexOf(guest, value) {
        const tag = typeof value === "object" && value !== null ? (value as { tag?: unknown }).tag : undefined;
        return index.get(tag as string) ?? unfit(guest, what);
      },
      payloadOf: (value) => (value as { val?: unknown }).val,
      toJs(at, val) {
        const tag = cases[at]!.name;
        // Without a payload only a result has `val`: what an import is handed is priced by its properties, in jco's glue too.
        return payloads[at] === null && what !== "result" ? { tag } : { tag, val };
      },
    };
  }
}

function enumCases(names: readonly string[]): Cases {
  const index = new Map(names.map((name, at) => [name, at]));
  return {
    payloads: names.map(() => null),
    indexOf: (guest, value) => index.get(value as string) ?? unfit(guest, "case of the enum"),
    payloadOf: () => undefined,
    toJs: (at) => names[at],
  };
}

function nullableCases(some: Codec): Cases {
  return {
    payloads: [null, some],
    indexOf: (_, value) => (value === undefined || value === null ? 0 : 1),
    payloadOf: (value) => value,
    toJs: (_, payload) => payload,
  };
}

function optionAsVariant({ some }: Extract<WitType, { kind: "option" }>): Pick<WitVariant, "cases"> {
  return {
    cases: [
      { name: "none", type: null },
      { name: "some", type: some },
    ],
  };
}

function resultAsVariant({ ok, err }: Extract<WitType, { kind: "result" }>): Pick<WitVariant, "cases"> {
  return {
    cases: [
      { name: "ok", type: ok },
      { name: "err", type: err },
    ],
  };
}
