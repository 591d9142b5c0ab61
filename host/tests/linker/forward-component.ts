import type { WitType } from "../../component/component.ts";
import { inOrder, isNamed, typeWat } from "../../component/test-echo-component.ts";
import { Codecs } from "../../linker/codecs.ts";

/**
 * WAT of a component with a function `f<n>` per type, `(T) -> T`, which hands what it is given to an import of the same type and
 * gives back what that answers: values cross flat where they are small enough, in both directions. The core types come from the
 * linker's own layout; where that is wrong, the component does not validate.
 */
export function forwardComponent(types: readonly WitType[], encoding: "utf8" | "utf16" | "latin1+utf16"): string {
  const order = inOrder(types);
  const codecs = new Codecs(encoding);
  const of = (suffix: string) => (part: WitType) => `$t${order.indexOf(part)}${suffix}`;
  const define = (suffix: string, named: (index: number, text: string) => string): string =>
    order
      .map((type, index) => {
        const text = typeWat(type, of(suffix));
        return isNamed(type) ? named(index, text) : `(type $t${index}${suffix} ${text})`;
      })
      .join("\n");
  const each = (write: (n: number, type: WitType) => string): string =>
    types.map((type, n) => write(n, type)).join("\n");
  const signature = (type: WitType, suffix: string): string =>
    `(param "p" ${of(suffix)(type)}) (result ${of(suffix)(type)})`;
  const core = (type: WitType) => {
    const { flat, size, align } = codecs.of(type);
    const params = flat ?? ["i32"];
    return { params, spilled: flat?.length !== 1, result: flat?.length === 1 ? flat[0]! : "i32", size, align };
  };
  const options = `(memory (core memory $i "memory")) (realloc (core func $i "realloc")) string-encoding=${encoding}`;
  return `(component
    (import "echo:far/far" (instance $far
      ${define("f", (index, text) => `(type $raw${index} ${text}) (export "n${index}" (type $t${index}f (eq $raw${index})))`)}
      ${each((n, type) => `(export "f${n}" (func ${signature(type, "f")}))`)}))
    ${define("", (index) => `(alias export $far "n${index}" (type $t${index}))`)}
    (core module $memory
      (memory (export "memory") 64)
      (global $next (mut i32) (i32.const 1024))
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
        (global.set $next (i32.add (local.get $at) (local.get 3)))
        (local.get $at)))
    (core instance $i (instantiate $memory))
    ${each((n) => `(alias export $far "f${n}" (func $far${n})) (core func $low${n} (canon lower (func $far${n}) ${options}))`)}
    (core module $m
      (import "memory" "realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
      ${each((n, type) => {
        const { params, spilled, result } = core(type);
        return `(import "far" "f${n}" (func $f${n} (param ${params.join(" ")} ${spilled ? "i32" : ""}) ${spilled ? "" : `(result ${result})`}))`;
      })}
      ${each((n, type) => {
        const { params, spilled, result, size, align } = core(type);
        const given = params.map((_, index) => `(local.get ${index})`).join(" ");
        const head = `(func (export "f${n}") (param ${params.join(" ")}) (result ${result})`;
        if (!spilled) return `${head} (call $f${n} ${given}))`;
        return `${head} (local $at i32)
          (local.set $at (call $realloc (i32.const 0) (i32.const 0) (i32.const ${align}) (i32.const ${size})))
          (call $f${n} ${given} (local.get $at))
          (local.get $at))`;
      })})
    (core instance $c (instantiate $m (with "memory" (instance $i))
      (with "far" (instance ${each((n) => `(export "f${n}" (func $low${n}))`)}))))
    ${each((n, type) => `(func $e${n} ${signature(type, "")} (canon lift (core func $c "f${n}") ${options}))`)}
    (component $wrapper
      ${define("i", (index, text) => `(type $raw${index} ${text}) (import "import-type-n${index}" (type $t${index}i (eq $raw${index})))`)}
      ${each((n, type) => `(import "import-func-f${n}" (func $f${n} ${signature(type, "i")}))`)}
      ${define("e", (index, text) => `(type $own${index} ${text}) (export $t${index}e "n${index}" (type $own${index}))`)}
      ${each((n, type) => `(export "f${n}" (func $f${n}) (func ${signature(type, "e")}))`)})
    (instance $all (instantiate $wrapper
      ${order.map((type, index) => (isNamed(type) ? `(with "import-type-n${index}" (type $t${index}))` : "")).join("\n")}
      ${each((n) => `(with "import-func-f${n}" (func $e${n}))`)}))
    (export "echo:near/near" (instance $all)))`;
}
