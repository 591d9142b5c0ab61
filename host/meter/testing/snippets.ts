import { BULK, OP } from "../opcodes.ts";
import type { Pick } from "./code-edits.ts";
import type { EditableBody, EditableModule } from "./editable-module.ts";

type Code = readonly (readonly number[])[];

const NO_RESULT = 0x40;

/** What may be put in anywhere: it takes nothing from the stack and leaves nothing, unless the path ends in it. */
export function snippet(module: EditableModule, body: EditableBody, pick: Pick): Code {
  const local = pick(Math.max(1, Math.min(body.locals, 128)));
  const callee = pick(Math.min(module.module.functionTypes.length, 128));
  const small = [OP.i32_const, pick(64)];
  const value = pick(2) === 0 ? small : [OP.local_get, local];
  const depth = pick(5);
  const choices: readonly Code[] = [
    [[OP.nop]],
    [[OP.local_get, local], [OP.drop]],
    [
      [OP.local_get, local],
      [OP.local_set, local],
    ],
    [small, [OP.drop]],
    [value, small, [DIV_U], [OP.drop]],
    [[OP.block, NO_RESULT], [OP.end]],
    [[OP.loop, NO_RESULT], [OP.end]],
    [value, [OP.if, NO_RESULT], [OP.end]],
    [value, [OP.if, NO_RESULT], [OP.unreachable], [OP.end]],
    [value, [OP.if, NO_RESULT], [OP.return], [OP.end]],
    [value, [OP.if, NO_RESULT], [OP.br, depth], [OP.else], small, [OP.drop], [OP.end]],
    [value, [OP.br_if, depth]],
    [value, [OP.br_if, depth]],
    [[OP.br, depth]],
    [[OP.block, NO_RESULT], value, [OP.br_table, 2, depth, 0, pick(5)], [OP.end]],
    [[OP.unreachable]],
    [[OP.return]],
    [[OP.call, callee]],
    [value, [OP.call, callee], [OP.drop]],
    [value, value, [OP.call, callee], [OP.drop]],
    [[OP.return_call, callee]],
    [value, [OP.return_call, callee]],
    [value, [OP.call_indirect, pick(4), 0]],
    [value, small, [OP.call_indirect, pick(4), 0], [OP.drop]],
    [small, [OP.memory_grow, 0], [OP.drop]],
    [small, small, value, [OP.bulk, BULK.memory_fill, 0]],
    [small, small, small, [OP.bulk, BULK.memory_copy, 0, 0]],
    [value, [OP.if, NO_RESULT], [OP.throw, pick(2)], [OP.end]],
    [[OP.try, NO_RESULT], [OP.call, callee], [OP.catch_all], [OP.end]],
    [[OP.try, NO_RESULT], [OP.throw, pick(2)], [OP.catch_all], small, [OP.drop], [OP.end]],
    [[OP.try, NO_RESULT], value, [OP.br_if, depth], [OP.delegate, depth]],
  ];
  return choices[pick(choices.length)]!;
}

const DIV_U = 0x6e;
