import type { Writer } from "../binary/binary.ts";
import { type ExactPlan, RESULTS } from "./exact-plan.ts";
import type { Layout } from "./layout.ts";
import type { CoreModule } from "./module.ts";
import { OP } from "./opcodes.ts";
import { canonicalId } from "./plan.ts";
import { FLOAT } from "./stack-effects.ts";
import { firstBytes, floatOf } from "./value-types.ts";

const F32_NAN = [0x00, 0x00, 0xc0, 0x7f];
const F64_NAN = [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8, 0x7f];

/** How a shape is made canonical: its value type, the instruction that pushes NaN, x == x, and the choice of the first. */
interface Shape {
  readonly type: number;
  readonly nan: readonly number[];
  readonly equal: readonly number[];
  readonly choose: readonly number[];
}

const SHAPES: Readonly<Record<number, Shape>> = {
  [FLOAT.f32]: { type: 0x7d, nan: [OP.f32_const, ...F32_NAN], equal: [0x5b], choose: [OP.select] },
  [FLOAT.f64]: { type: 0x7c, nan: [OP.f64_const, ...F64_NAN], equal: [0x61], choose: [OP.select] },
  [FLOAT.f32x4]: vector(0x41, [...F32_NAN, ...F32_NAN, ...F32_NAN, ...F32_NAN]),
  [FLOAT.f64x2]: vector(0x47, [...F64_NAN, ...F64_NAN]),
};

/**
 * Puts the canonical NaN in the place of any other, without a charge: fuel is that of the plain variant. It is put in
 * place and not into a function that is called, as V8 inlines none before version 12.
 */
export class CanonicalNan {
  private readonly module: CoreModule;
  private readonly plan: ExactPlan;
  private readonly layout: Layout;
  private site = 0;
  private end = 0;
  /** The index of the local of each value type. */
  private readonly locals = new Map<number, number>();

  constructor(module: CoreModule, plan: ExactPlan, layout: Layout) {
    this.module = module;
    this.plan = plan;
    this.layout = layout;
  }

  /** Starts a function; answers the types of the locals that it needs, which will stand from `firstLocal` on. */
  start(index: number, firstLocal: number): readonly number[] {
    const { plan, locals } = this;
    this.site = plan.firstSites[index]!;
    this.end = plan.firstSites[index + 1]!;
    locals.clear();
    for (let site = this.site; site < this.end; site++) {
      const type = SHAPES[plan.kinds[site]!]?.type;
      if (type !== undefined && !locals.has(type)) locals.set(type, firstLocal + locals.size);
    }
    return [...locals.keys()];
  }

  /** Parameters of a function that the host calls, as far as it reads them. */
  enter(index: number, body: Writer): void {
    const { module, plan } = this;
    const read = plan.entered.get(index);
    if (read === undefined) return;
    const type = module.types[module.functionTypes[module.importedFunctions + index]!]!;
    const firsts = firstBytes(module.bytes, type.parametersStart, type.parameters);
    for (const [local, first] of firsts.entries()) {
      const shape = SHAPES[floatOf(first)];
      if (shape === undefined || !read.has(local)) continue;
      body.byte(OP.local_get).u32(local);
      choose(body, shape, local);
      body.byte(OP.local_set).u32(local);
    }
  }

  /** Copies bytes of the body and what is put in between and right behind them. */
  copy(body: Writer, from: number, to: number): void {
    const { positions, kinds } = this.plan;
    const { bytes } = this.module;
    let copied = from;
    for (; this.site < this.end && positions[this.site]! <= to; this.site++) {
      const position = positions[this.site]!;
      const kind = kinds[this.site]!;
      body.copy(bytes, copied, position);
      copied = position;
      const shape = SHAPES[kind];
      if (shape === undefined) body.byte(OP.call).u32(this.layout.functionOf(canonicalId(kind - RESULTS)));
      else {
        const local = this.locals.get(shape.type)!;
        body.byte(OP.local_tee).u32(local);
        choose(body, shape, local);
      }
    }
    body.copy(bytes, copied, to);
  }
}

/** Writes the body of a function that takes and gives back values of `firsts`, the first bytes of their types. */
export function writeCanonicalResults(body: Writer, firsts: readonly number[]): void {
  for (const [local, first] of firsts.entries()) {
    body.byte(OP.local_get).u32(local);
    const shape = SHAPES[floatOf(first)];
    if (shape !== undefined) choose(body, shape, local);
  }
}

/** Takes the value of a local from the stack and leaves it there unless it is a NaN. */
function choose(body: Writer, { nan, equal, choose: choice }: Shape, local: number): void {
  body.bytes(nan).byte(OP.local_get).u32(local).byte(OP.local_get).u32(local).bytes(equal).bytes(choice);
}

function vector(equal: number, nan: readonly number[]): Shape {
  const bitselect = 0x52;
  return { type: 0x7b, nan: [OP.simd, 0x0c, ...nan], equal: [OP.simd, equal], choose: [OP.simd, bitselect] };
}
