import { partsOf, type WitType } from "./component.ts";

/**
 * WAT of a component with a function `f<n>` per type, each `(pad, T) -> tuple<pad, T>`. Seventeen bytes of pad make the
 * arguments spill into memory, where they lie as the result must: the core function gives its pointer back.
 */
export function echoComponent(types: readonly WitType[], encoding = "utf8"): string {
  const order = inOrder(types);
  const define = (suffix: string, named: (index: number, name: string) => string): string =>
    order
      .map((type, index) => {
        const text = typeWat(type, (part) => `$t${order.indexOf(part)}${suffix}`);
        return isNamed(type) ? named(index, text) : `(type $t${index}${suffix} ${text})`;
      })
      .join("\n");
  const signature = (type: WitType, suffix: string): string =>
    `(param "pad" $pad) (param "p" $t${order.indexOf(type)}${suffix}) (result $r${types.indexOf(type)}${suffix})`;
  const results = (suffix: string): string =>
    types.map((type, n) => `(type $r${n}${suffix} (tuple $pad $t${order.indexOf(type)}${suffix}))`).join("\n");
  const pad = `(type $pad (tuple ${"u8 ".repeat(17)}))`;
  const options = `(memory (core memory $i "memory")) (realloc (core func $i "realloc")) (post-return (core func $i "reset")) string-encoding=${encoding}`;
  return `(component
    (core module $m
      (memory (export "memory") 64)
      (global $next (mut i32) (i32.const 1024))
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
        (global.set $next (i32.add (local.get $at) (local.get 3)))
        (local.get $at))
      (func (export "reset") (param i32) (global.set $next (i32.const 1024)))
      (func (export "echo") (param i32) (result i32) (local.get 0)))
    (core instance $i (instantiate $m))
    ${pad}
    ${define("", (index, text) => `(type $t${index} ${text})`)}
    ${results("")}
    ${types.map((type, n) => `(func $f${n} ${signature(type, "")} (canon lift (core func $i "echo") ${options}))`).join("\n")}
    (component $wrapper
      ${pad}
      ${define("i", (index, text) => `(type $raw${index} ${text}) (import "import-type-n${index}" (type $t${index}i (eq $raw${index})))`)}
      ${results("i")}
      ${types.map((type, n) => `(import "import-func-f${n}" (func $f${n} ${signature(type, "i")}))`).join("\n")}
      ${define("e", (index, text) => `(type $own${index} ${text}) (export $t${index}e "n${index}" (type $own${index}))`)}
      ${results("e")}
      ${types.map((type, n) => `(export "f${n}" (func $f${n}) (func ${signature(type, "e")}))`).join("\n")})
    (instance $all (instantiate $wrapper
      ${order.map((type, index) => (isNamed(type) ? `(with "import-type-n${index}" (type $t${index}))` : "")).join("\n")}
      ${types.map((_, n) => `(with "import-func-f${n}" (func $f${n}))`).join("\n")}))
    (export "echo:all/all" (instance $all)))`;
}

/** Every type that the types are made of, each after its parts. */
export function inOrder(types: readonly WitType[]): readonly WitType[] {
  const order: WitType[] = [];
  const visit = (type: WitType): void => {
    if (order.includes(type)) return;
    for (const part of partsOf(type)) visit(part);
    order.push(type);
  };
  types.forEach(visit);
  return order;
}

/** True for a type that must have a name where a function that is exported uses it. */
export function isNamed(type: WitType): boolean {
  return ["record", "variant", "enum", "flags"].includes(type.kind);
}

export function typeWat(type: WitType, of: (part: WitType) => string): string {
  switch (type.kind) {
    case "record":
      return `(record ${type.fields.map((field) => `(field "${field.name}" ${of(field.type)})`).join(" ")})`;
    case "variant":
      return `(variant ${type.cases.map((each) => `(case "${each.name}" ${each.type ? of(each.type) : ""})`).join(" ")})`;
    case "enum":
    case "flags":
      return `(${type.kind} ${type.names.map((name) => `"${name}"`).join(" ")})`;
    case "list":
      return `(list ${of(type.element)} ${type.length ?? ""})`;
    case "tuple":
      return `(tuple ${type.elements.map(of).join(" ")})`;
    case "option":
      return `(option ${of(type.some)})`;
    case "result":
      return `(result ${type.ok ? of(type.ok) : ""} ${type.err ? `(error ${of(type.err)})` : ""})`;
    default:
      return type.kind;
  }
}
