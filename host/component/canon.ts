import type { Reader } from "../binary/binary.ts";
import type { StringEncoding } from "./component-info.ts";
import { unsupported } from "./findings.ts";
import type { Scope } from "./scope.ts";
import type { CanonicalOptions } from "./structure.ts";
import { readResult } from "./value-type.ts";

/** What follows a built-in's opcode. `index` is an index of any space, `byte` a flag, `type` a core value type. */
type Operand = "index" | "byte" | "type" | "options" | "result";

/**
 * Canonical built-ins as wasm-tools 0.259 (the version in jco) spells them:
 * https://github.com/WebAssembly/component-model/blob/main/design/mvp/Binary.md#canonical-definitions
 */
const BUILTINS: ReadonlyMap<number, readonly [name: string, ...operands: Operand[]]> = new Map([
  [0x05, ["task.cancel"]],
  [0x06, ["subtask.cancel", "byte"]],
  [0x08, ["backpressure.set"]],
  [0x09, ["task.return", "result", "options"]],
  [0x0a, ["context.get", "type", "index"]],
  [0x0b, ["context.set", "type", "index"]],
  [0x0c, ["thread.yield", "byte"]],
  [0x0d, ["subtask.drop"]],
  [0x0e, ["stream.new", "index"]],
  [0x0f, ["stream.read", "index", "options"]],
  [0x10, ["stream.write", "index", "options"]],
  [0x11, ["stream.cancel-read", "index", "byte"]],
  [0x12, ["stream.cancel-write", "index", "byte"]],
  [0x13, ["stream.drop-readable", "index"]],
  [0x14, ["stream.drop-writable", "index"]],
  [0x15, ["future.new", "index"]],
  [0x16, ["future.read", "index", "options"]],
  [0x17, ["future.write", "index", "options"]],
  [0x18, ["future.cancel-read", "index", "byte"]],
  [0x19, ["future.cancel-write", "index", "byte"]],
  [0x1a, ["future.drop-readable", "index"]],
  [0x1b, ["future.drop-writable", "index"]],
  [0x1c, ["error-context.new", "options"]],
  [0x1d, ["error-context.debug-message", "options"]],
  [0x1e, ["error-context.drop"]],
  [0x1f, ["waitable-set.new"]],
  [0x20, ["waitable-set.wait", "byte", "index"]],
  [0x21, ["waitable-set.poll", "byte", "index"]],
  [0x22, ["waitable-set.drop"]],
  [0x23, ["waitable.join"]],
  [0x24, ["backpressure.inc"]],
  [0x25, ["backpressure.dec"]],
  [0x26, ["thread.index"]],
  [0x27, ["thread.new-indirect", "index", "index"]],
  [0x28, ["thread.resume-later"]],
  [0x29, ["thread.suspend", "byte"]],
  [0x2a, ["thread.suspend-then-resume", "byte"]],
  [0x2b, ["thread.yield-then-resume", "byte"]],
  [0x2c, ["thread.suspend-then-promote", "byte"]],
  [0x2d, ["thread.yield-then-promote", "byte"]],
  [0x40, ["thread.spawn-ref", "index"]],
  [0x41, ["thread.spawn-indirect", "index", "index"]],
  [0x42, ["thread.available_parallelism"]],
]);

/** From here on the built-ins belong to shared-everything threads, not to the async ABI. */
const FIRST_THREADS_OPCODE = 0x40;
const RESOURCE_BUILTINS = { 2: "resource.new", 3: "resource.drop", 4: "resource.rep" } as const;

/** Reads one canonical definition. A lift gives its function an index; the others define core functions. */
export function readCanon(reader: Reader, scope: Scope): void {
  const { findings } = scope;
  findings.spend(reader);
  const start = reader.position;
  const opcode = reader.byte();
  switch (opcode) {
    case 0x00: {
      if (reader.byte() !== 0) reader.fail("Lift of an unknown form", start);
      const core = reader.u32();
      const options = readOptions(reader, scope, "lift");
      const type = scope.funcType(reader, reader.u32());
      scope.add({ sort: "func", type });
      scope.note({ kind: "lift", core, type, options });
      return;
    }
    case 0x01: {
      if (reader.byte() !== 0) reader.fail("Lower of an unknown form", start);
      const func = reader.u32();
      const { type } = scope.func(reader, func);
      const options = readOptions(reader, scope, "lower");
      scope.note({ kind: "lower", func, type, options });
      return;
    }
    case 0x02:
    case 0x03:
    case 0x04: {
      scope.note({ kind: RESOURCE_BUILTINS[opcode], resource: scope.resource(reader, reader.u32()) });
      return;
    }
  }
  const builtin = BUILTINS.get(opcode);
  if (builtin === undefined) unsupported(`Canonical built-in 0x${opcode.toString(16)}`, start);
  const [name, ...operands] = builtin;
  findings.builtins.add(name);
  if (opcode < FIRST_THREADS_OPCODE) findings.asyncReasons.add(`canonical built-in ${name}`);
  for (const operand of operands) readOperand(reader, scope, operand, name);
  scope.note({ kind: "built-in", name });
}

function readOperand(reader: Reader, scope: Scope, operand: Operand, name: string): void {
  switch (operand) {
    case "index":
      reader.u32();
      return;
    case "byte":
    case "type":
      reader.byte();
      return;
    case "options":
      readOptions(reader, scope, name);
      return;
    case "result":
      readResult(reader, scope);
  }
}

function readOptions(reader: Reader, scope: Scope, of: string): CanonicalOptions {
  const { options, stringEncodings, asyncReasons } = scope.findings;
  const found: { -readonly [K in keyof CanonicalOptions]: CanonicalOptions[K] } = {
    encoding: "utf8",
    memory: null,
    realloc: null,
    postReturn: null,
    foreign: false,
  };
  const encode = (encoding: StringEncoding): void => {
    stringEncodings.add(encoding);
    found.encoding = encoding;
  };
  for (let count = reader.count(); count > 0; count--) {
    const option = reader.byte();
    switch (option) {
      case 0x00:
        encode("utf8");
        break;
      case 0x01:
        encode("utf16");
        break;
      case 0x02:
        encode("latin1+utf16");
        break;
      case 0x03:
        options.add("memory");
        found.memory = reader.u32();
        break;
      case 0x04:
        options.add("realloc");
        found.realloc = reader.u32();
        break;
      case 0x05:
        options.add("postReturn");
        found.postReturn = reader.u32();
        break;
      case 0x06:
        options.add("async");
        asyncReasons.add(`async ${of}`);
        break;
      case 0x07:
        options.add("callback");
        reader.u32();
        break;
      case 0x08:
        options.add("gc");
        reader.u32();
        break;
      case 0x09:
        options.add("gc");
        break;
      default:
        unsupported(`Canonical option 0x${option.toString(16)}`, reader.position - 1);
    }
    if (option > 0x05) found.foreign = true;
  }
  return found;
}
