import fc from "fast-check";
import { IMMEDIATES, LEB_IMMEDIATE, OP } from "../opcodes.ts";
import { type EditableBody, type EditableModule, encode } from "./editable-module.ts";
import { wasm } from "./engine.ts";
import { alikeOpcodes } from "./operators.ts";
import { snippet } from "./snippets.ts";

/** A change of the code of a module; what exactly is drawn from `seed`. */
export interface CodeEdit {
  readonly kind: keyof typeof EDITS;
  readonly seed: number;
}

/** Draws a number below `count`. */
export type Pick = (count: number) => number;

/** How often an edit is drawn anew when what comes out is not valid. */
const ATTEMPTS = 8;

/** Changes of an instruction or of a run of them. Each answers undefined where it finds nothing to change. */
const EDITS = {
  operator: changeOne(alikeOperator),
  constant: changeOne(anotherConstant),
  branch: changeOne(anotherDepth),
  table: changeOne(anotherTable),
  local: changeOne(anotherLocal),
  callee: changeOne(anotherCallee),
  stretch: changeOne(stretched),
  insert: spliced((module, body, pick) => ({
    at: pick(body.code.length),
    remove: 0,
    put: snippet(module, body, pick),
  })),
  remove: spliced((_module, { code }, pick) => ({ at: pick(code.length - 1), remove: 1 + pick(4), put: [] })),
  repeat: spliced((module, body, pick) => {
    const { code } = pick(3) === 0 ? module.bodies[pick(module.bodies.length)]! : body;
    return { at: pick(body.code.length), remove: 0, put: run(code, pick) };
  }),
  wrap: spliced(wrapped),
} as const satisfies Record<string, Edit>;

type Edit = (module: EditableModule, body: EditableBody, pick: Pick) => readonly Uint8Array[] | undefined;

/** One to six edits. */
export const codeEdits: fc.Arbitrary<readonly CodeEdit[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...(Object.keys(EDITS) as CodeEdit["kind"][]), "insert", "insert", "wrap", "repeat"),
    seed: fc.noBias(fc.nat(2 ** 30)),
  }),
  { minLength: 1, maxLength: 6, size: "max" },
);

/** The module with the edits made one after another; those that leave it invalid, however drawn, are left out. */
export function edit(original: EditableModule, edits: readonly CodeEdit[]): Uint8Array {
  let module = original;
  let bytes = original.module.bytes;
  for (const { kind, seed } of edits) {
    const pick = picker(seed);
    for (let left = ATTEMPTS; left > 0; left--) {
      const changed = editOnce(module, kind, pick);
      const encoded = changed === undefined ? undefined : encode(changed);
      if (changed === undefined || !wasm.validate(encoded!)) continue;
      module = changed;
      bytes = encoded!;
      break;
    }
  }
  return bytes;
}

function editOnce(module: EditableModule, kind: CodeEdit["kind"], pick: Pick): EditableModule | undefined {
  if (module.bodies.length === 0) return undefined;
  const index = pick(module.bodies.length);
  const body = module.bodies[index]!;
  const code = EDITS[kind](module, body, pick);
  return code === undefined ? undefined : { ...module, bodies: module.bodies.with(index, { ...body, code }) };
}

/** https://en.wikipedia.org/wiki/Linear_congruential_generator, of which the high bits are used. */
function picker(seed: number): Pick {
  let state = BigInt(seed);
  return (count) => {
    state = BigInt.asUintN(64, state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n);
    return Number(state >> 33n) % count;
  };
}

/** An edit of one instruction, of those that `change` has an answer for. */
function changeOne(
  change: (old: Uint8Array, pick: Pick, body: EditableBody, module: EditableModule) => readonly number[] | undefined,
): Edit {
  return (module, body, pick) => {
    const first = pick(body.code.length);
    for (let step = 0; step < body.code.length; step++) {
      const at = (first + step) % body.code.length;
      const changed = change(body.code[at]!, pick, body, module);
      if (changed !== undefined) return body.code.with(at, Uint8Array.from(changed));
    }
    return undefined;
  };
}

interface Splice {
  readonly at: number;
  readonly remove: number;
  readonly put: readonly (Uint8Array | readonly number[])[];
}

function spliced(make: (module: EditableModule, body: EditableBody, pick: Pick) => Splice): Edit {
  return (module, body, pick) => {
    const { at, remove, put } = make(module, body, pick);
    return body.code.toSpliced(at, remove, ...put.map((bytes) => Uint8Array.from(bytes)));
  };
}

/** Some instructions that stand together. */
function run(code: readonly Uint8Array[], pick: Pick): readonly Uint8Array[] {
  const at = pick(code.length);
  return code.slice(at, at + 1 + pick(8));
}

/** A run within a block of some kind. Branches in it then go elsewhere. */
function wrapped(_module: EditableModule, { code }: EditableBody, pick: Pick): Splice {
  const at = pick(code.length);
  const inner = pick(2) === 0 ? [] : code.slice(at, Math.min(code.length - 1, at + 1 + pick(12)));
  const put = WRAPPERS[pick(WRAPPERS.length)]!;
  const [before, after] = put(pick);
  return { at, remove: inner.length, put: [...before, ...inner, ...after] };
}

type Code = readonly (readonly number[])[];

const NO_RESULT = 0x40;
const I32 = 0x7f;
const END: Code = [[OP.end]];

const WRAPPERS: readonly ((pick: Pick) => readonly [before: Code, after: Code])[] = [
  () => [[[OP.block, NO_RESULT]], END],
  () => [[[OP.block, I32]], END],
  () => [[[OP.loop, NO_RESULT]], END],
  (pick) => [[...condition(pick), [OP.if, NO_RESULT]], END],
  (pick) => [
    [...condition(pick), [OP.if, NO_RESULT]],
    [[OP.else], [OP.br, pick(3)], [OP.end]],
  ],
  () => [[[OP.try, NO_RESULT]], [[OP.catch_all], [OP.end]]],
  (pick) => [[[OP.try, NO_RESULT]], [[OP.catch, pick(2)], [OP.end]]],
  (pick) => [[[OP.try, NO_RESULT]], [[OP.delegate, pick(3)]]],
];

function condition(pick: Pick): Code {
  return [pick(2) === 0 ? [OP.i32_const, pick(2)] : [OP.local_get, pick(4)]];
}

function alikeOperator(old: Uint8Array, pick: Pick): readonly number[] | undefined {
  const alike = alikeOpcodes(old[0]!);
  return alike === undefined ? undefined : [alike[pick(alike.length)]!, ...old.subarray(1)];
}

function anotherConstant(old: Uint8Array, pick: Pick): readonly number[] | undefined {
  switch (old[0]) {
    case OP.i32_const:
    case OP.i64_const: {
      const interesting = [[0], [1], [0x7f], [2], [3], [5], [8], [0x80, 0x80, 4], [0x80, 0x80, 0x80, 0x80, 0x78]];
      return [old[0]!, ...(pick(2) === 0 ? [pick(128)] : interesting[pick(interesting.length)]!)];
    }
    case OP.f32_const:
    case OP.f64_const:
      return [old[0]!, ...Array.from(old.subarray(1), () => pick(128))];
    default:
      return undefined;
  }
}

function anotherDepth([opcode]: Uint8Array, pick: Pick): readonly number[] | undefined {
  return opcode === OP.br || opcode === OP.br_if || opcode === OP.rethrow || opcode === OP.delegate
    ? [pick(4) === 0 ? OP.br_if : opcode, pick(6)]
    : undefined;
}

function anotherTable([opcode]: Uint8Array, pick: Pick): readonly number[] | undefined {
  if (opcode !== OP.br_table) return undefined;
  const depths = Array.from({ length: 1 + pick(5) }, () => pick(5));
  return [opcode, depths.length - 1, ...depths];
}

function anotherLocal([opcode]: Uint8Array, pick: Pick, { locals }: EditableBody): readonly number[] | undefined {
  if (opcode !== OP.local_get && opcode !== OP.local_set && opcode !== OP.local_tee) return undefined;
  const changed = opcode === OP.local_set && pick(3) === 0 ? [OP.drop] : [opcode, pick(Math.min(locals, 128))];
  return changed;
}

function anotherCallee([opcode]: Uint8Array, pick: Pick, _body: EditableBody, { module }: EditableModule) {
  if (opcode !== OP.call && opcode !== OP.return_call) return undefined;
  return [pick(4) === 0 ? OP.return_call : OP.call, pick(Math.min(module.functionTypes.length, 128))];
}

/** The same number in one byte more. */
function stretched(old: Uint8Array): readonly number[] | undefined {
  const hasNumber = IMMEDIATES[old[0]!] === LEB_IMMEDIATE || old[0] === OP.br_if || old[0] === OP.call;
  if (!hasNumber || old.length > 4) return undefined;
  const last = old.at(-1)!;
  const isSigned = old[0] === OP.i32_const || old[0] === OP.i64_const;
  return [...old.subarray(0, -1), last | 0x80, isSigned && (last & 0x40) !== 0 ? 0x7f : 0];
}
