import type { Reader } from "../binary/binary.ts";
import { unsupported } from "./findings.ts";
import type { Scope } from "./scope.ts";
import { type FuncType, MAX_TYPE_DEPTH, type PrimitiveKind, partsOf, type WitType } from "./wit-type.ts";

const primitive = (kind: PrimitiveKind): WitType => ({ kind });

/** One object per primitive, so that types are shared whatever way the binary spells them. */
const PRIMITIVE_BY_BYTE: ReadonlyMap<number, WitType> = new Map([
  [0x7f, primitive("bool")],
  [0x7e, primitive("s8")],
  [0x7d, primitive("u8")],
  [0x7c, primitive("s16")],
  [0x7b, primitive("u16")],
  [0x7a, primitive("s32")],
  [0x79, primitive("u32")],
  [0x78, primitive("s64")],
  [0x77, primitive("u64")],
  [0x76, primitive("f32")],
  [0x75, primitive("f64")],
  [0x74, primitive("char")],
  [0x73, primitive("string")],
  [0x64, primitive("error-context")],
]);

/** Reads a value type: a primitive or an index. */
export function readValueType(reader: Reader, scope: Scope): WitType {
  const start = reader.position;
  const byte = reader.byte();
  const known = PRIMITIVE_BY_BYTE.get(byte);
  if (known !== undefined) {
    noteAsync(scope, known);
    return known;
  }
  reader.position = start;
  const index = reader.s33();
  if (index < 0) unsupported(`Value type 0x${byte.toString(16)}`, start);
  return scope.valueType(reader, index);
}

/** Reads what follows the opcode of a `defvaltype`; undefined when the opcode is none. */
export function readDefinedType(reader: Reader, scope: Scope, opcode: number): WitType | undefined {
  const start = reader.position - 1;
  const type = PRIMITIVE_BY_BYTE.get(opcode) ?? readComposite(reader, scope, opcode);
  if (type === undefined) return undefined;
  noteAsync(scope, type);
  measure(scope, type, start);
  return type;
}

function measure(scope: Scope, type: WitType, offset: number): void {
  const { findings } = scope;
  let depth = 1;
  let nodes = 1;
  for (const part of partsOf(type)) {
    const size = findings.typeSizes.get(part);
    depth = Math.max(depth, 1 + (size?.depth ?? 1));
    nodes += size?.nodes ?? 1;
  }
  if (depth > MAX_TYPE_DEPTH) unsupported(`Types nested deeper than ${MAX_TYPE_DEPTH}`, offset);
  findings.typeSizes.set(type, { depth, nodes });
  findings.largestTypeNodes = Math.max(findings.largestTypeNodes, nodes);
}

function readComposite(reader: Reader, scope: Scope, opcode: number): WitType | undefined {
  switch (opcode) {
    case 0x72: {
      const fields = readVector(reader, scope, 2, () => ({
        name: readLabel(reader, scope),
        type: readValueType(reader, scope),
      }));
      return { kind: "record", name: null, fields };
    }
    case 0x71: {
      const cases = readVector(reader, scope, 3, () => {
        const name = readLabel(reader, scope);
        const type = readOptionalType(reader, scope);
        if (reader.byte() !== 0) unsupported("A variant case that refines another", reader.position - 1);
        return { name, type };
      });
      return { kind: "variant", name: null, cases };
    }
    case 0x70:
      return { kind: "list", element: readValueType(reader, scope), length: null };
    case 0x67:
      return { kind: "list", element: readValueType(reader, scope), length: reader.u32() };
    case 0x6f:
      return { kind: "tuple", elements: readVector(reader, scope, 1, () => readValueType(reader, scope)) };
    case 0x6e:
      return { kind: "flags", name: null, names: readVector(reader, scope, 1, () => readLabel(reader, scope)) };
    case 0x6d:
      return { kind: "enum", name: null, names: readVector(reader, scope, 1, () => readLabel(reader, scope)) };
    case 0x6b:
      return { kind: "option", some: readValueType(reader, scope) };
    case 0x6a:
      return { kind: "result", ok: readOptionalType(reader, scope), err: readOptionalType(reader, scope) };
    case 0x69:
      return { kind: "own", resource: scope.resource(reader, reader.u32()) };
    case 0x68:
      return { kind: "borrow", resource: scope.resource(reader, reader.u32()) };
    case 0x66:
      return { kind: "stream", element: readOptionalType(reader, scope) };
    case 0x65:
      return { kind: "future", element: readOptionalType(reader, scope) };
    default:
      return undefined;
  }
}

/** Reads what follows the opcode of a function type, 0x40 or, asynchronous, 0x43. */
export function readFuncType(reader: Reader, scope: Scope, opcode: number): FuncType {
  const params = readVector(reader, scope, 2, () => ({
    name: readLabel(reader, scope),
    type: readValueType(reader, scope),
  }));
  const async = opcode === 0x43;
  if (async) scope.findings.asyncReasons.add("async function type");
  return { params, result: readResult(reader, scope), async };
}

/** Reads a result list: one unnamed type or none. */
export function readResult(reader: Reader, scope: Scope): WitType | null {
  const form = reader.byte();
  if (form === 0) return readValueType(reader, scope);
  // Named results were dropped from the format; only the empty list of them is left.
  if (form !== 1 || reader.byte() !== 0) unsupported("Named results of a function", reader.position - 1);
  return null;
}

function readOptionalType(reader: Reader, scope: Scope): WitType | null {
  const flag = reader.byte();
  if (flag > 1) reader.fail("Neither absent nor present", reader.position - 1);
  return flag === 1 ? readValueType(reader, scope) : null;
}

function readVector<T>(reader: Reader, scope: Scope, itemBytes: number, read: () => T): T[] {
  const count = reader.count(itemBytes);
  const items: T[] = [];
  for (let index = 0; index < count; index++) {
    scope.findings.spend(reader);
    items.push(read());
  }
  return items;
}

function readLabel(reader: Reader, scope: Scope): string {
  return scope.findings.name(reader, "type-name", scope.path);
}

function noteAsync(scope: Scope, type: WitType): void {
  if (type.kind === "stream" || type.kind === "future" || type.kind === "error-context") {
    scope.findings.asyncReasons.add(`type ${type.kind}`);
  }
}
