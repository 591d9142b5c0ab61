import { Writer } from "../../binary/binary.ts";
import { instructionsOf } from "../instructions.ts";
import { type CoreModule, decodeModule, SECTION } from "../module.ts";
import { CAPS } from "../options.ts";

/** A function as a list of instructions, each of them its bytes. The last is the `end` of the function. */
export interface EditableBody {
  /** The declarations of locals. */
  readonly frame: Uint8Array;
  /** Parameters included. */
  readonly locals: number;
  /** Index of its type. */
  readonly type: number;
  readonly code: readonly Uint8Array[];
}

/** A module whose functions can be changed; nothing in it is ever written to. */
export interface EditableModule {
  readonly module: CoreModule;
  readonly bodies: readonly EditableBody[];
}

/** `bytes` are ones that the meter accepts. */
export function editable(bytes: Uint8Array): EditableModule {
  const module = decodeModule(bytes, CAPS);
  const { count, starts, code, locals } = module.bodies;
  const bodies = Array.from({ length: count }, (_, index): EditableBody => {
    const instructions = [...instructionsOf(module, index)];
    return {
      frame: bytes.slice(starts[index]!, code[index]!),
      locals: locals[index]!,
      type: module.functionTypes[module.importedFunctions + index]!,
      code: instructions.map(({ at, end }) => bytes.slice(at, end)),
    };
  });
  return { module, bodies };
}

/** The module in the binary format. */
export function encode({ module, bodies }: EditableModule): Uint8Array {
  const output = new Writer(module.bytes.length * 2);
  output.copy(module.bytes, 0, 8);
  for (const { id, header, start, end } of module.sections) {
    if (id !== SECTION.code) output.copy(module.bytes, header, end);
    else if (end > start) output.section(id, (inner) => writeBodies(bodies, inner));
  }
  return output.view().slice();
}

function writeBodies(bodies: readonly EditableBody[], into: Writer): void {
  into.u32(bodies.length);
  for (const { frame, code } of bodies) {
    into.u32(code.reduce((sum, { length }) => sum + length, frame.length)).bytes(frame);
    for (const instruction of code) into.bytes(instruction);
  }
}
