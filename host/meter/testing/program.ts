/** A small language of Wasm instructions, for programs that the tests make up and run twice. All values are i32. */
export type Instruction =
  | { readonly op: "const"; readonly value: number }
  | { readonly op: "get" | "set" | "tee" | "global.get" | "global.set"; readonly index: number }
  | { readonly op: BinaryOperation | "load8_u" | "store8" | "drop" | "select" | "nop" | "eqz" }
  | { readonly op: "unreachable" | "return" | "memory.fill" | "memory.grow" }
  | { readonly op: "block" | "loop"; readonly results: number; readonly body: readonly Instruction[] }
  | {
      readonly op: "if";
      readonly results: number;
      readonly body: readonly Instruction[];
      readonly otherwise: readonly Instruction[] | undefined;
    }
  | { readonly op: "br" | "br_if"; readonly depth: number }
  | { readonly op: "br_table"; readonly depths: readonly number[] }
  | { readonly op: "call"; readonly callee: number }
  | { readonly op: "call_indirect"; readonly signature: number }
  | { readonly op: "throw"; readonly tag: number }
  | { readonly op: "rethrow"; readonly depth: number }
  | { readonly op: "try"; readonly body: readonly Instruction[]; readonly catches: readonly Catch[] }
  | { readonly op: "try_delegate"; readonly body: readonly Instruction[]; readonly depth: number }
  | { readonly op: "try_table"; readonly body: readonly Instruction[]; readonly clauses: readonly Clause[] }
  | {
      /** A `try_table` whose exception comes as a reference, with what it carries, to be dropped or thrown again. */
      readonly op: "try_ref";
      readonly body: readonly Instruction[];
      readonly tag: number | undefined;
      readonly rethrows: boolean;
    };

/** A handler of a `try`; no tag means `catch_all`. Tag 0 carries nothing, tag 1 one i32. */
export interface Catch {
  readonly tag: number | undefined;
  readonly body: readonly Instruction[];
}

/** A clause of a `try_table`, its depth counted from outside. */
export interface Clause {
  readonly tag: number | undefined;
  readonly depth: number;
}

export const BINARY_OPERATIONS = ["add", "sub", "mul", "and", "xor", "lt_s", "div_u", "rem_s"] as const;
export type BinaryOperation = (typeof BINARY_OPERATIONS)[number];

/** Numbers of parameters and results. */
export const SIGNATURES = [
  { parameters: 2, results: 1 },
  { parameters: 1, results: 2 },
  { parameters: 0, results: 0 },
] as const;

export interface ProgramFunction {
  readonly signature: number;
  /** Locals besides parameters. */
  readonly locals: number;
  readonly body: readonly Instruction[];
}

/** Function 0 is the import `host` `note` of one parameter and one result; the others follow, and are in the table. */
export interface Program {
  /** Whether the module has the two tags. */
  readonly hasTags: boolean;
  readonly functions: readonly ProgramFunction[];
}

export const GLOBALS = 2;

/** The program in the text format, with function 1 exported as `run`. */
export function toText(program: Program): string {
  const types = SIGNATURES.map((signature, index) => `(type $s${index} (func ${shape(signature)}))`);
  const functions = program.functions.map(({ signature, locals, body }, index) => {
    const exported = index === 0 ? ' (export "run")' : "";
    const declared = locals === 0 ? "" : ` (local${" i32".repeat(locals)})`;
    return `(func $f${index + 1}${exported} (type $s${signature})${declared}\n${textOf(body)})`;
  });
  return `(module ${types.join("\n")}
    (import "host" "note" (func $f0 (param i32) (result i32)))
    ${program.hasTags ? "(tag $t0) (tag $t1 (param i32))" : ""} (memory 1 4)
    (global $g0 (mut i32) (i32.const 0)) (global $g1 (mut i32) (i32.const 7))
    (table funcref (elem ${program.functions.map((_, index) => `$f${index + 1}`).join(" ")}))
    ${functions.join("\n")})`;
}

function shape({ parameters, results }: { parameters: number; results: number }): string {
  return `(param${" i32".repeat(parameters)}) (result${" i32".repeat(results)})`;
}

function textOf(body: readonly Instruction[]): string {
  return body.map(lineOf).join("\n");
}

function textOfCatch({ tag, body }: Catch): string {
  return `${tag === undefined ? "catch_all" : `catch $t${tag}`}\n${textOf(body)}`;
}

function textOfReference({ tag, body, rethrows }: Instruction & { readonly op: "try_ref" }): string {
  const clause = tag === undefined ? "(catch_all_ref 0)" : `(catch_ref $t${tag} 0)`;
  const carried = tag === 1 ? "i32 " : "";
  const drops = rethrows ? "throw_ref" : `drop ${tag === 1 ? "drop" : ""}`;
  return `block block (result ${carried}exnref) try_table ${clause}\n${textOf(body)}\nend br 1 end ${drops} end`;
}

function lineOf(instruction: Instruction): string {
  const { op } = instruction;
  switch (op) {
    case "const":
      return `i32.const ${instruction.value}`;
    case "get":
    case "set":
    case "tee":
      return `local.${op} ${instruction.index}`;
    case "global.get":
    case "global.set":
      return `${op} $g${instruction.index}`;
    case "block":
    case "loop":
      return `${op} (result${" i32".repeat(instruction.results)})\n${textOf(instruction.body)}\nend`;
    case "if": {
      const { results, body, otherwise } = instruction;
      const other = otherwise === undefined ? "" : `else\n${textOf(otherwise)}\n`;
      return `if (result${" i32".repeat(results)})\n${textOf(body)}\n${other}end`;
    }
    case "throw":
      return `throw $t${instruction.tag}`;
    case "rethrow":
      return `rethrow ${instruction.depth}`;
    case "try":
      return `try\n${textOf(instruction.body)}\n${instruction.catches.map(textOfCatch).join("\n")}\nend`;
    case "try_delegate":
      return `try\n${textOf(instruction.body)}\ndelegate ${instruction.depth}`;
    case "try_table": {
      const clauses = instruction.clauses.map(({ tag, depth }) =>
        tag === undefined ? `(catch_all ${depth})` : `(catch $t${tag} ${depth})`,
      );
      return `try_table ${clauses.join(" ")}\n${textOf(instruction.body)}\nend`;
    }
    case "try_ref":
      return textOfReference(instruction);
    case "br":
    case "br_if":
      return `${op} ${instruction.depth}`;
    case "br_table":
      return `br_table ${instruction.depths.join(" ")}`;
    case "call":
      return `call $f${instruction.callee}`;
    case "call_indirect":
      return `call_indirect (type $s${instruction.signature})`;
    case "drop":
    case "select":
    case "nop":
    case "unreachable":
    case "return":
    case "memory.fill":
    case "memory.grow":
      return op;
    default:
      return `i32.${op}`;
  }
}
