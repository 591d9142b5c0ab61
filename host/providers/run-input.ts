import { HostError, quote } from "../errors/errors.ts";
import { jsonExcess, type LimitKey, type Limits } from "../manifest/manifest.ts";

/** Null for what JSON cannot carry. */
export function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

/**
 * The input as a value of its own: the caller may change what he gave. Nothing counts as null. Throws
 * AIRLOCK_INVOCATION_REQUEST_INVALID for what is no JSON value, AIRLOCK_INVOCATION_INPUT_TOO_LARGE.
 */
export function copyOfInput(input: unknown, id: string, inputBytes: number): unknown {
  const text = jsonText(input ?? null);
  const refuse = (code: "AIRLOCK_INVOCATION_REQUEST_INVALID" | "AIRLOCK_INVOCATION_INPUT_TOO_LARGE", why: string) =>
    new HostError(code, `Cannot run ${id}: input ${why}`);
  if (text === null) throw refuse("AIRLOCK_INVOCATION_REQUEST_INVALID", "is no JSON value");
  const bytes = Buffer.byteLength(text);
  if (bytes > inputBytes) {
    throw refuse("AIRLOCK_INVOCATION_INPUT_TOO_LARGE", `has ${bytes} bytes as JSON, inputBytes allows ${inputBytes}`);
  }
  const excess = jsonExcess(text);
  if (excess === null) return JSON.parse(text) as unknown;
  const tooMany = excess.kind === "too-many";
  throw refuse(tooMany ? "AIRLOCK_INVOCATION_INPUT_TOO_LARGE" : "AIRLOCK_INVOCATION_REQUEST_INVALID", excess.text);
}

type RefusalCode = "AIRLOCK_PROVIDERS_DEFINITION_INVALID" | "AIRLOCK_INVOCATION_REQUEST_INVALID";

/** Refuses limits that `held` does not name: one that is only declared would be a false promise. Throws `code`. */
export function checkHeld(limits: Partial<Limits>, held: readonly LimitKey[], id: string, code: RefusalCode): void {
  for (const key in limits) {
    if ((held as readonly string[]).includes(key)) continue;
    throw new HostError(
      code,
      `Cannot hold ${quote(id)} to limits.${key}: for native code there are ${held.join(", ")}`,
    );
  }
}
