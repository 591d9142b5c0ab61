import type { Writer } from "../binary/binary.ts";
import type { Layout } from "./layout.ts";
import { OP } from "./opcodes.ts";

const NO_RESULT = 0x40;

/** Writes what counts the slots of frames. */
export class FrameDepth {
  /** Whether frames are counted. */
  readonly isOn: boolean;
  private readonly body: Writer;
  private readonly depth: number;
  /** The index of the local that keeps the depth at entry. */
  private local = 0;
  /** What the frame takes from the counter `depth`. */
  private slots = 0;

  constructor(body: Writer, layout: Layout) {
    this.isOn = layout.counters.includes("depth");
    this.body = body;
    this.depth = layout.globalOf("depth");
  }

  /** Starts a function. */
  start(local: number, slots: number): void {
    this.local = local;
    this.slots = slots;
  }

  /** Traps with the counter negative. What it was before is kept in a local, so that leaving the frame reads nothing. */
  enter(): void {
    const { body, depth, local, slots } = this;
    body.byte(OP.global_get).u32(depth).byte(OP.local_tee).u32(local);
    body.byte(OP.i64_const).s32(slots).byte(OP.i64_sub).byte(OP.global_set).u32(depth);
    body.byte(OP.local_get).u32(local).byte(OP.i64_const).s32(slots);
    trapIfLess(body);
  }

  /** An exception may have unwound frames, which give nothing back. */
  restore(): void {
    const { body, depth, local, slots } = this;
    body.byte(OP.local_get).u32(local).byte(OP.i64_const).s32(slots).byte(OP.i64_sub);
    body.byte(OP.global_set).u32(depth);
  }

  leave(): void {
    this.body.byte(OP.local_get).u32(this.local).byte(OP.global_set).u32(this.depth);
  }
}

/** Traps if the first of two values on the stack is less than the second. */
export function trapIfLess(body: Writer): void {
  body.byte(OP.i64_lt_s).byte(OP.if).byte(NO_RESULT).byte(OP.unreachable).byte(OP.end);
}
