import type { ComponentInfo, NameUse, NameWhere } from "./component-info.ts";

/** A name that must not reach the transpiler. */
export interface UnsafeName extends NameUse {
  readonly reason: "characters" | "length" | "prototype";
}

// The transpiler pastes core names into JavaScript between quotes, unescaped. This set has no quote, backslash,
// backtick, brace, semicolon, control character or non-ASCII letter: nothing that ends a string or a template.
const SAFE = /^[A-Za-z0-9_$.\-:/@#|[\]<>=+,() ]*$/;
const MAX_NAME_LENGTH = 256;

// Custom sections never reach the generated code; where they are shown they are quoted like any hostile text.
const UNGATED: ReadonlySet<NameWhere> = new Set(["custom-section"]);

/** The name gate: every name that could become code in the host. Empty when all are harmless. It cannot be turned off. */
export function checkNames(info: ComponentInfo): readonly UnsafeName[] {
  return info.names.flatMap((use) => {
    const reason = UNGATED.has(use.where) ? undefined : reasonOf(use.name);
    return reason === undefined ? [] : [{ ...use, reason }];
  });
}

function reasonOf(name: string): UnsafeName["reason"] | undefined {
  // On an object literal `__proto__` sets the prototype instead of a property.
  if (name === "__proto__") return "prototype";
  if (name.length > MAX_NAME_LENGTH) return "length";
  return SAFE.test(name) ? undefined : "characters";
}
