import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { HostError, messageOf, quote } from "../../errors/errors.ts";
import { type JsonSchema, parseJsonText } from "../../manifest/manifest.ts";
import { shownBytes } from "./units.ts";

/** Where the input of a run comes from. */
export interface InputSource {
  /** A file, or `-` for stdin. */
  readonly input?: string | undefined;
  /** The input itself. */
  readonly value?: string | undefined;
  /** Whether it is text, and not JSON text. */
  readonly text?: boolean | undefined;
}

/** A run's input as it was read; how text is handed over depends on the operation. */
export type RawInput =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string };

/** The cap on `inputBytes` is 64 MiB of compact JSON; this leaves room for white space and is no danger to the process. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Reads the input. Throws AIRLOCK_CLI_INPUT_UNREADABLE. */
export async function readInput({ input, value, text }: InputSource, stdin: Readable): Promise<RawInput> {
  if (input === undefined && value === undefined) return { kind: "none" };
  const what =
    value !== undefined ? "The input of --value" : input === "-" ? "The input on stdin" : `Input ${quote(input!)}`;
  const content = value ?? (await contentOf(input!, what, stdin));
  if (text) return { kind: "text", text: content };
  const json = parseJsonText(content.replace(/^\ufeff/, ""));
  if (json.kind === "value") return { kind: "json", value: json.value };
  throw unreadable(content.trim() === "" ? `${what} is empty: JSON is wanted` : `${what} ${json.text}`);
}

/**
 * The JSON value that an operation is called with. Text goes in as a string, or, where the operation wants an object with
 * exactly one required string, as that property. No input is an empty object where an object is wanted, else null.
 */
export function inputValue(raw: RawInput, schema: JsonSchema | undefined): unknown {
  switch (raw.kind) {
    case "json":
      return raw.value;
    case "text": {
      const property = onlyRequiredString(schema);
      return property === null ? raw.text : { [property]: raw.text };
    }
    case "none":
      return typeof schema === "object" && schema["type"] === "object" ? {} : null;
  }
}

function onlyRequiredString(schema: JsonSchema | undefined): string | null {
  if (typeof schema !== "object" || schema["type"] !== "object") return null;
  const { required, properties } = schema;
  if (!Array.isArray(required) || typeof properties !== "object" || properties === null) return null;
  const strings = required.filter((name: unknown): name is string => {
    if (typeof name !== "string" || name === "__proto__" || !Object.hasOwn(properties, name)) return false;
    return (properties as Record<string, { type?: unknown } | boolean>)[name] instanceof Object
      ? (properties as Record<string, { type?: unknown }>)[name]!.type === "string"
      : false;
  });
  return required.length === 1 && strings.length === 1 ? strings[0]! : null;
}

async function contentOf(input: string, what: string, stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of input === "-" ? stdin : createReadStream(input)) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > MOST_BYTES) break;
    }
  } catch (thrown) {
    throw unreadable(`${what} cannot be read: ${reasonOf(thrown)}`, thrown);
  }
  if (length > MOST_BYTES) throw unreadable(`${what} is larger than ${shownBytes(MOST_BYTES)}`);
  try {
    // A byte order mark is part of a text; JSON is read without it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks, length));
  } catch (thrown) {
    throw unreadable(`${what} is not UTF-8 text`, thrown);
  }
}

function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : null;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder, a file or - is wanted";
  if (code === "EACCES" || code === "EPERM") return "permission is denied";
  return messageOf(thrown);
}

function unreadable(message: string, cause?: unknown): HostError {
  return new HostError("AIRLOCK_CLI_INPUT_UNREADABLE", message, cause === undefined ? {} : { cause });
}
