import type { CoreType } from "./codec.ts";
import type { CoreValue } from "./guest.ts";

const scratch = new DataView(new ArrayBuffer(8));

/** The core type that holds values of both: https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md#flattening */
export function join(a: CoreType, b: CoreType): CoreType {
  if (a === b) return a;
  return (a === "i32" && b === "f32") || (a === "f32" && b === "i32") ? "i32" : "i64";
}

/** A value of type `want` out of one of the joined type `have`. */
export function fromJoined(value: CoreValue, have: CoreType, want: CoreType): CoreValue {
  if (have === want) return value;
  if (want === "f64") {
    scratch.setBigUint64(0, BigInt.asUintN(64, value as bigint));
    return scratch.getFloat64(0);
  }
  const bits = have === "i64" ? Number(BigInt.asUintN(32, value as bigint)) : (value as number) >>> 0;
  if (want === "i32") return bits | 0;
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

/** A value of the joined type `want` that holds one of type `have`. */
export function toJoined(value: CoreValue, have: CoreType, want: CoreType): CoreValue {
  if (have === want) return value;
  if (have === "f64") {
    scratch.setFloat64(0, value as number);
    return scratch.getBigUint64(0);
  }
  let bits = (value as number) >>> 0;
  if (have === "f32") {
    scratch.setFloat32(0, value as number);
    bits = scratch.getUint32(0);
  }
  return want === "i64" ? BigInt(bits) : bits;
}
