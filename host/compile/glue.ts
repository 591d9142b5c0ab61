import { type AnyNode, type CallExpression, type ForStatement, type Program, parse } from "acorn";
import { analyze } from "eslint-scope";
import { HostError, quote } from "../errors/errors.ts";

/**
 * Every name that generated glue may take from outside itself. The worker hands in a value for each, so the glue never
 * reaches a global: what is listed here and not in `GLUE_HOOKS` gets a bounded or an inert stand-in.
 */
export const GLUE_NAMES = [
  "Array",
  "ArrayBuffer",
  "BigInt",
  "BigInt64Array",
  "BigUint64Array",
  "Boolean",
  "DataView",
  "Error",
  "FinalizationRegistry",
  "Float32Array",
  "Float64Array",
  "Int16Array",
  "Int32Array",
  "Int8Array",
  "JSON",
  "Map",
  "Math",
  "Number",
  "Object",
  "Promise",
  "RangeError",
  "Set",
  "String",
  "Symbol",
  "TextDecoder",
  "TextEncoder",
  "TypeError",
  "Uint16Array",
  "Uint32Array",
  "Uint8Array",
  "WeakMap",
  "WebAssembly",
  "clearInterval",
  "clearTimeout",
  "componentIdx",
  "console",
  "globalThis",
  "isNaN",
  "process",
  "queueMicrotask",
  "rep",
  "setInterval",
  "setTimeout",
  "undefined",
  "vals",
] as const;

/** Functions of the worker that the glue is edited to call. */
export const GLUE_HOOKS = ["__entry", "__realloc", "__postReturn", "__slice", "__elements"] as const;

/**
 * Generated JavaScript -> the body of a function whose parameters are `GLUE_NAMES` and `GLUE_HOOKS` and which returns
 * the component's `instantiate`. Refuses (AIRLOCK_ADMISSION_UNSAFE_NAME) code whose free identifiers are not all listed: such
 * code is not what the transpiler writes, so something was pasted into it. The edits let the worker see where the guest is
 * entered, where its allocator runs and how much memory is copied out.
 */
export function prepareGlue(source: string): string {
  const program = parseWithin(source, GLUE_NAMES, "module");
  const edits: Edit[] = [];
  visit(program, (node) => collectEdits(node, source, edits));
  // Another version of the transpiler may write other code: without this hook a run would never be in phase guest.
  if (!edits.some(({ text }) => text.startsWith("__entry("))) throw unsafe("enters no core function");
  return `"use strict";\n${applyEdits(source, edits)}\nreturn instantiate;`;
}

/** Refuses, as above, a text that `prepareGlue` cannot have made: for one that comes from elsewhere than the transpiler. */
export function checkPreparedGlue(body: string): void {
  const program = parseWithin(body, [...GLUE_NAMES, ...GLUE_HOOKS], "body");
  visit(program, (node) => collectEdits(node, body, []));
}

/** Parses code and makes sure that it takes no other names from outside itself. */
function parseWithin(source: string, names: readonly string[], form: "module" | "body"): Program {
  let program: Program;
  try {
    program = parse(source, {
      ecmaVersion: 2022,
      sourceType: "module",
      ranges: true,
      allowReturnOutsideFunction: form === "body",
    });
  } catch (cause) {
    throw unsafe("is not JavaScript", cause);
  }
  const allowed = new Set<string>(names);
  for (const { identifier } of analyze(program as never, { ecmaVersion: 2022, sourceType: "module" }).globalScope
    ?.through ?? []) {
    if (!allowed.has(identifier.name)) throw unsafe(`uses the name ${quote(identifier.name)}`);
  }
  return program;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function collectEdits(node: AnyNode, source: string, edits: Edit[]): void {
  switch (node.type) {
    case "ImportDeclaration":
    case "ImportExpression":
    case "ExportAllDeclaration":
    case "ExportDefaultDeclaration":
    case "WithStatement":
      throw unsafe(`contains ${node.type}`);
    case "ExportNamedDeclaration":
      if (!node.declaration) throw unsafe("re-exports names");
      edits.push({ start: node.start, end: node.declaration.start, text: "" });
      return;
    case "AssignmentExpression": {
      if (node.operator !== "=" || node.left.type !== "Identifier" || !isCoreExport(node.right)) return;
      const hook = hookFor(node.left.name);
      if (hook === null) return;
      const value = source.slice(node.right.start, node.right.end);
      edits.push({ start: node.right.start, end: node.right.end, text: `${hook}(${value})` });
      return;
    }
    case "ForStatement": {
      const count = liftedCount(node);
      if (count !== null) edits.push({ start: node.start, end: node.start, text: `__elements(${count}); ` });
      return;
    }
    case "CallExpression":
      editCall(node, source, edits);
  }
}

/** `for (let i = 0; i < len3; i++)`: a loop over as many elements as the guest says. */
function liftedCount(node: ForStatement): string | null {
  const { test } = node;
  if (test?.type !== "BinaryExpression" || test.right.type !== "Identifier") return null;
  return /^len\d+$/.test(test.right.name) ? test.right.name : null;
}

function editCall(node: CallExpression, source: string, edits: Edit[]): void {
  const callee = node.callee;
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
  const object = callee.object;
  if (callee.property.name === "slice") {
    // `memory0.buffer.slice(from, to)`: the one copy out of guest memory that passes no constructor.
    if (
      object.type !== "MemberExpression" ||
      object.property.type !== "Identifier" ||
      object.property.name !== "buffer"
    )
      return;
    edits.push({
      start: callee.start,
      end: callee.end,
      text: `__slice.bind(null, ${source.slice(object.start, object.end)})`,
    });
    return;
  }
  const [target, marks] = node.arguments;
  if (callee.property.name === "assign" && target !== undefined && marks !== undefined && isNoSuspendMark(marks)) {
    // `Object.assign(f, { _jcoMaySuspend: false })` on every core function: 6 ms an instance for a mark that says nothing.
    edits.push({ start: node.start, end: target.start, text: "(" });
    edits.push({ start: target.end, end: node.end, text: ")" });
  }
}

function isNoSuspendMark(node: AnyNode): boolean {
  if (node.type !== "ObjectExpression" || node.properties.length !== 1) return false;
  const [mark] = node.properties;
  return (
    mark?.type === "Property" &&
    mark.key.type === "Identifier" &&
    mark.key.name === "_jcoMaySuspend" &&
    mark.value.type === "Literal" &&
    mark.value.value === false
  );
}

/** `exports3.name` or `exports3['name']`. */
function isCoreExport(node: AnyNode): boolean {
  return node.type === "MemberExpression" && node.object.type === "Identifier" && /^exports\d+$/.test(node.object.name);
}

function hookFor(target: string): (typeof GLUE_HOOKS)[number] | null {
  // Exact names of the transpiler: its variable for an export ends like the guest's name for it, which may be `x-async`.
  if (/^(memory|table)\d+$/.test(target) || /^(realloc|postReturn)\d+Async$/.test(target)) return null;
  if (/^realloc\d+$/.test(target)) return "__realloc";
  if (/^postReturn\d+$/.test(target)) return "__postReturn";
  if (/^callback\d+$/.test(target)) throw unsafe("uses the asynchronous ABI");
  return "__entry";
}

function visit(node: AnyNode, enter: (node: AnyNode) => void): void {
  const pending: AnyNode[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    enter(next);
    for (const child of Object.values(next)) {
      if (Array.isArray(child)) {
        for (const item of child) if (isNode(item)) pending.push(item);
      } else if (isNode(child)) {
        pending.push(child);
      }
    }
  }
}

function isNode(value: unknown): value is AnyNode {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}

function applyEdits(source: string, edits: Edit[]): string {
  edits.sort((a, b) => a.start - b.start);
  let result = "";
  let position = 0;
  for (const edit of edits) {
    if (edit.start < position) throw unsafe("has edits that overlap");
    result += source.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return result + source.slice(position);
}

function unsafe(why: string, cause?: unknown): HostError {
  return new HostError(
    "AIRLOCK_ADMISSION_UNSAFE_NAME",
    `Cannot use the generated glue: it ${why}; the transpiler never writes that`,
    { cause },
  );
}
