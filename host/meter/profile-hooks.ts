import { type Section, Writer } from "../binary/binary.ts";
import type { Layout, TypeList } from "./layout.ts";
import { type CoreModule, SECTION } from "./module.ts";
import { OP } from "./opcodes.ts";

/**
 * What a profile build imports from `$airlock` besides its counters, as globals that never change: the number of its first
 * frame, and three functions. Functions as globals, because imported functions would renumber the module's own; they
 * are called through a table that is added behind those of the module, so the guest cannot name it.
 */
export const PROFILE_IMPORTS = ["frames", "enter", "leave", "resume"] as const;

/** The name of an import of a profile build; `PROFILE_TYPES` has its Wasm type. */
export type ProfileImport = (typeof PROFILE_IMPORTS)[number];

/** The Wasm type of each. */
export const PROFILE_TYPES: { readonly [Name in ProfileImport]: "i32" | "funcref" } = Object.freeze({
  frames: "i32",
  enter: "funcref",
  leave: "funcref",
  resume: "funcref",
});

/** The functions, by their places in the added table. */
const HOOKS = ["enter", "leave", "resume"] as const;
type Hook = (typeof HOOKS)[number];

const I32 = 0x7f;
const F64 = 0x7c;
const FUNCREF = 0x70;
const I32_XOR = 0x73;
const F64_CONVERT_I64_S = 0xb9;

/** What every hook takes: a number, and the counter `fuel` as an f64, in which any budget is exact. */
const TAKEN: TypeList = { count: 2, types: [I32, F64] };
const DEPTH: TypeList = { count: 1, types: [I32] };
const NOTHING: TypeList = { count: 0, types: [] };

/** Writes what tells the profiler where a function begins, ends and goes on. The counter is up to date at each place. */
export class ProfileCalls {
  private readonly body: Writer;
  private readonly layout: Layout;
  private readonly table: number;
  private index = 0;
  /** The index of the local that keeps how many frames there were at entry. */
  private local = 0;

  constructor(body: Writer, module: CoreModule, layout: Layout) {
    this.body = body;
    this.layout = layout;
    this.table = module.tables.length;
  }

  /** Starts the function at `index` of the code section. */
  start(index: number, local: number): void {
    this.index = index;
    this.local = local;
  }

  /** The frame begins. */
  enter(): void {
    const { body, layout, index, local } = this;
    body.byte(OP.global_get).u32(layout.globalOf("frames")).byte(OP.i32_const).s32(index).byte(OP.i32_add);
    this.call("enter");
    body.byte(OP.local_set).u32(local);
  }

  /** The frame ends, and with it all that it called. */
  leave(): void {
    this.body.byte(OP.local_get).u32(this.local);
    this.call("leave");
  }

  /** The frame ends in a tail call, whose price it has paid: said by the complement. */
  tail(): void {
    this.body.byte(OP.local_get).u32(this.local).byte(OP.i32_const).s32(-1).byte(I32_XOR);
    this.call("leave");
  }

  /** An exception may have unwound what the frame called. */
  resume(): void {
    this.body.byte(OP.local_get).u32(this.local);
    this.call("resume");
  }

  private call(hook: Hook): void {
    const { body, layout, table } = this;
    const type = layout.types.indexOf(TAKEN, hook === "enter" ? DEPTH : NOTHING);
    body.byte(OP.global_get).u32(layout.globalOf("fuel")).byte(F64_CONVERT_I64_S);
    body.byte(OP.i32_const).s32(HOOKS.indexOf(hook)).byte(OP.call_indirect).u32(type).u32(table);
  }
}

/** Writes the type of the added table. */
export function writeHookTable(into: Writer): void {
  into.byte(FUNCREF).byte(1).u32(HOOKS.length).u32(HOOKS.length);
}

/** Writes the element segment that fills the added table. */
export function writeHookElements(module: CoreModule, layout: Layout, into: Writer): void {
  // Active, with a table and expressions: https://webassembly.github.io/spec/core/binary/modules.html#element-section
  into.byte(6).u32(module.tables.length).byte(OP.i32_const).byte(0).byte(OP.end).byte(FUNCREF).u32(HOOKS.length);
  for (const hook of HOOKS) into.byte(OP.global_get).u32(layout.globalOf(hook)).byte(OP.end);
}

/** The order of the sections that may have to be added. */
const ADDED_SECTIONS = [SECTION.import, SECTION.table, SECTION.element];

/** The sections that the module lacks and the metered one has, in their order. */
export function missingSections(sections: readonly Section[], needsImports: boolean, profiles: boolean): number[] {
  const needed = ADDED_SECTIONS.filter((id) => (id === SECTION.import ? needsImports : profiles));
  return needed.filter((id) => !sections.some((section) => section.id === id));
}

/** Modules whose exports are functions that a table can hold: each passes on to a function of JavaScript. */
export function hookModule(): Uint8Array {
  const writer = new Writer(128).bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  writer.section(SECTION.type, (inner) =>
    inner.u32(2).bytes([0x60, 2, I32, F64, 1, I32]).bytes([0x60, 2, I32, F64, 0]),
  );
  writer.section(SECTION.import, (inner) => {
    inner.u32(HOOKS.length);
    for (const hook of HOOKS)
      inner
        .name("")
        .name(hook)
        .byte(0)
        .u32(hook === "enter" ? 0 : 1);
  });
  writer.section(SECTION.export, (inner) => {
    inner.u32(HOOKS.length);
    for (const [index, hook] of HOOKS.entries()) inner.name(hook).byte(0).u32(index);
  });
  return writer.view().slice();
}
