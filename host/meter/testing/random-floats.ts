import fc from "fast-check";

/** Whether a program may look at the bits of its floats, or only at what they are as numbers. */
export type Looks = "at bits" | "at numbers";

type Type = "i64" | "f32" | "f64" | "v128";
type Pick = (count: number) => number;

const F64S = ["0", "-0", "1.5", "-3", "1e300", "inf", "-inf", "nan", "-nan", "nan:0x4000000000001", "-nan:0x1"];
const F32S = ["0", "-0", "1.5", "-3", "1e30", "inf", "-inf", "nan", "-nan", "nan:0x200001", "-nan:0x1"];
const UNARY = ["ceil", "floor", "trunc", "nearest", "sqrt", "neg", "abs"];
const BINARY = ["add", "sub", "mul", "div", "min", "max"];
const LANES = { f32: "f32x4", f64: "f64x2" } as const;
/** Locals of each type, the parameter apart. */
const LOCALS = 2;

/** Modules in the text format that compute with floats in a loop; `run` takes an i64 and answers one. */
export function floatPrograms(looks: Looks): fc.Arbitrary<string> {
  return fc.gen().map((draw) => new FloatMaker((count) => draw(fc.nat, { max: count - 1 }), looks).make());
}

class FloatMaker {
  private readonly pick: Pick;
  private readonly looks: Looks;
  private budget = 80;
  /** The helper must not call itself. */
  private isHelper = true;

  constructor(pick: Pick, looks: Looks) {
    this.pick = pick;
    this.looks = looks;
  }

  make(): string {
    const helper = this.value("f64");
    this.isHelper = false;
    this.budget = 80;
    const body = Array.from({ length: 2 + this.pick(5) }, () => this.statement()).join("\n");
    return `(module
      (import "host" "same" (func $same (param f64) (result f64)))
      (memory 1) (global $g (mut f64) (f64.const 0)) (global $sum (mut i64) (i64.const 0))
      (type $unary (func (param f64) (result f64))) (table funcref (elem $helper))
      (func $helper (type $unary) ${locals()} ${helper} local.get 0 f64.add)
      (func (export "run") (param $a i64) (result i64) (local $left i32) ${locals()}
        ${this.constant("f64")} local.tee $f640 f64x2.splat local.set $v1280
        i32.const 6 local.set $left
        loop $again
          ${body}
          ${this.sums()}
          local.get $left i32.const 1 i32.sub local.tee $left br_if $again
        end
        global.get $sum))`;
  }

  private statement(): string {
    switch (this.pick(8)) {
      case 0:
      case 1: {
        const type = this.floatType();
        return `${this.value(type)} local.set ${this.local(type)}`;
      }
      case 2:
        return `${this.value("f64")} global.set $g`;
      case 3: {
        const type = this.floatType();
        return `i32.const ${this.address(type)} ${this.value(type)} ${type}.store`;
      }
      case 4:
        return `${this.value("i64")} i64.const 0 i64.lt_s if ${this.statementOrNone()} else ${this.statementOrNone()} end`;
      case 5:
        return `block ${this.value("i64")} i64.const 3 i64.and i64.eqz br_if 0 ${this.statementOrNone()} end`;
      default:
        return this.sum(this.value("i64"));
    }
  }

  /** Takes into account what the locals came to be. */
  private sums(): string {
    const isBits = this.looks === "at bits";
    const looks = isBits
      ? ["local.get $f640 i64.reinterpret_f64", "local.get $v1280 i64x2.extract_lane 1"]
      : ["local.get $f640 i64.trunc_sat_f64_s", "local.get $v1280 f64x2.extract_lane 1 i64.trunc_sat_f64_s"];
    return looks.map((look) => this.sum(look)).join(" ");
  }

  private sum(value: string): string {
    // Two NaNs often differ in the highest bit alone, which a sum would lose.
    return `global.get $sum i64.const 7 i64.rotl ${value} i64.xor global.set $sum`;
  }

  private statementOrNone(): string {
    return this.budget-- <= 0 ? "" : this.statement();
  }

  private value(type: Type): string {
    if (this.budget-- <= 0) return this.constant(type);
    if (type === "i64") return this.integer();
    if (type === "v128") return this.vector();
    const other = type === "f32" ? "f64" : "f32";
    switch (this.pick(14)) {
      case 0:
        return this.constant(type);
      case 1:
        return `local.get ${this.local(type)}`;
      case 2:
        return `${this.value(type)} ${type}.${this.one(UNARY)}`;
      case 3:
      case 4:
      case 5:
        return `${this.value(type)} ${this.value(type)} ${type}.${this.one(BINARY)}`;
      case 6:
        return `${this.value(type)} local.tee ${this.local(type)}`;
      case 7:
        return `${this.value(other)} ${type}.${type === "f32" ? "demote_f64" : "promote_f32"}`;
      case 8:
        return `${this.value(type)} ${this.value(type)} ${this.value("i64")} i64.eqz select`;
      case 9:
        if (type === "f32" && this.looks === "at numbers") return this.constant(type);
        return `${this.value("v128")} ${LANES[type]}.extract_lane ${this.pick(2)}`;
      case 10:
        return `i32.const ${this.address(type)} ${type}.load`;
      case 11:
        return `${this.value("i64")} i64.eqz if (result ${type}) ${this.value(type)} else ${this.value(type)} end`;
      case 12:
        return this.looks === "at bits" ? this.fromBits(type) : `${this.value("i64")} ${type}.convert_i64_s`;
      default:
        return type === "f32" ? `local.get ${this.local(type)}` : this.throughCall();
    }
  }

  private throughCall(): string {
    switch (this.pick(3)) {
      case 0:
        return "global.get $g";
      case 1:
        return `${this.value("f64")} call $same`;
      default:
        if (this.isHelper) return this.constant("f64");
        return `${this.value("f64")} ${this.pick(2) === 0 ? "call $helper" : "i32.const 0 call_indirect (type $unary)"}`;
    }
  }

  private fromBits(type: "f32" | "f64"): string {
    if (type === "f32") return `${this.value("i64")} i32.wrap_i64 f32.reinterpret_i32`;
    const sign = `${this.value("f64")} ${this.value("f64")} f64.copysign`;
    return this.pick(2) === 0 ? sign : `${this.value("i64")} f64.reinterpret_i64`;
  }

  private integer(): string {
    const float = this.pick(2) === 0 ? "f32" : "f64";
    switch (this.pick(8)) {
      case 0:
        return this.constant("i64");
      case 1:
        return `${this.value("i64")} ${this.value("i64")} i64.xor`;
      case 2:
        return `${this.value(float)} i64.trunc_sat_${float}_s`;
      case 3:
        return `${this.value(float)} ${this.value(float)} ${float}.${this.one(["eq", "lt", "ne", "ge"])} i64.extend_i32_u`;
      default:
        return this.looks === "at bits" ? this.bits() : `${this.value(float)} i64.trunc_sat_${float}_u`;
    }
  }

  private bits(): string {
    switch (this.pick(4)) {
      case 0:
        return `${this.value("f64")} i64.reinterpret_f64`;
      case 1:
        return `${this.value("f32")} i32.reinterpret_f32 i64.extend_i32_s`;
      case 2:
        return `${this.value("v128")} i64x2.extract_lane ${this.pick(2)}`;
      default:
        return `i32.const ${this.pick(8) * 8} i64.load`;
    }
  }

  private vector(): string {
    // Lanes of the other shape would be bits.
    const float = this.looks === "at numbers" || this.pick(2) === 0 ? "f64" : "f32";
    const lanes = LANES[float];
    switch (this.pick(9)) {
      case 0:
        return `local.get ${this.local("v128")}`;
      case 1:
      case 2:
        return `${this.value(float)} ${lanes}.splat`;
      case 3:
        return `${this.value("v128")} ${lanes}.${this.one(UNARY)}`;
      case 4:
      case 5:
        return `${this.value("v128")} ${this.value("v128")} ${lanes}.${this.one([...BINARY, "pmin", "pmax"])}`;
      case 6:
        return `${this.value("v128")} ${this.value(float)} ${lanes}.replace_lane ${this.pick(2)}`;
      case 7:
        if (this.looks === "at numbers") return this.constant("v128");
        return `${this.value("v128")} ${float === "f32" ? "f32x4.demote_f64x2_zero" : "f64x2.promote_low_f32x4"}`;
      default:
        return `${this.value("v128")} local.tee ${this.local("v128")}`;
    }
  }

  private constant(type: Type): string {
    if (type === "i64") return `i64.const ${this.pick(1_000)}`;
    if (type === "v128") return `${this.constant("f64")} f64x2.splat`;
    if (this.pick(3) === 0) return `${type}.const 0 ${type}.const 0 ${type}.div`;
    return `${type}.const ${this.one(type === "f32" ? F32S : F64S)}`;
  }

  /** Where only numbers are looked at, f32 and f64 lie apart. */
  private address(type: Exclude<Type, "i64">): number {
    if (this.looks === "at bits") return this.pick(8) * 8;
    return type === "f32" ? 256 + this.pick(4) * 4 : this.pick(4) * 16;
  }

  private floatType(): "f32" | "f64" | "v128" {
    return (["f32", "f64", "v128"] as const)[this.pick(3)]!;
  }

  private local(type: Exclude<Type, "i64">): string {
    return `$${type}${this.pick(LOCALS)}`;
  }

  private one(from: readonly string[]): string {
    return from[this.pick(from.length)]!;
  }
}

function locals(): string {
  const types = ["f32", "f64", "v128"];
  return types.map((type) => `(local $${type}0 ${type}) (local $${type}1 ${type})`).join(" ");
}
