import { channel } from "node:diagnostics_channel";
import type { Admitted } from "../admission/admission.ts";
import { ConversionError, camelCase, type FuncType, witToJson } from "../component/component.ts";
import { HostError, messageOf, quote } from "../errors/errors.ts";
import type { HostAnswer } from "../imports/imports.ts";
import type { HostCall } from "../pool/pool.ts";

/** What a host function learns besides its arguments. */
export interface HostFunctionContext {
  readonly runId: string;
  readonly providerId: string;
  /** Aborts when the run is cancelled or past its deadline: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * A function of the embedding application. It gets the WIT parameters in their order, as jco maps them to JavaScript (u64
 * is a bigint, a record has camelCase keys, an option is undefined or the value), and then the context. It may be asynchronous;
 * the guest waits. For a WIT `result` it returns the ok value, or throws a `WitError` with the error value.
 */
// biome-ignore lint/suspicious/noExplicitAny: the parameters are those of the WIT function, which only its author knows.
export type HostFunction = (...args: any[]) => unknown;

/** Interfaces of the embedding application: by full name, then by function name as in WIT or in camelCase. */
export type EmbedderImports = Readonly<Record<string, Readonly<Record<string, HostFunction>>>>;

/** Thrown by a host function to hand the error value of its WIT `result` to the guest. */
export class WitError extends Error {
  readonly payload: unknown;

  constructor(payload: unknown) {
    super("The host function answers with an error");
    this.name = "WitError";
    this.payload = payload;
  }
}

/** What the handler knows of an offered function. */
export interface OfferedFunction {
  readonly call: HostFunction;
  readonly type: FuncType;
}

/**
 * The functions that an admitted component may call, by `interface#function`, with the types that the component gives them.
 * Throws AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT for one that the application does not have.
 */
export function offerFunctions(
  { info, granted }: Admitted,
  imports: EmbedderImports,
): ReadonlyMap<string, OfferedFunction> {
  const offered = new Map<string, OfferedFunction>();
  for (const extern of info.imports) {
    if (extern.sort !== "instance" || !granted.embedder.has(extern.name)) continue;
    const functions = imports[extern.name] ?? {};
    for (const { name, type } of extern.funcs) {
      const key = [name, camelCase(name)].find((each) => Object.hasOwn(functions, each));
      if (key === undefined) throw notOffered(`${extern.name}#${name}`, Object.keys(functions));
      offered.set(`${extern.name}#${name}`, { call: functions[key]!, type });
    }
  }
  return offered;
}

function notOffered(name: string, offered: readonly string[]): HostError {
  const names = offered.map((each) => quote(each)).join(", ");
  return new HostError(
    "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT",
    `Cannot admit: the component imports ${quote(name)}, the application offers ${names}`,
  );
}

const failures = channel("airlock:invocation:host-function-failed");

/**
 * Answers a host call of a run: finds the function, waits for it, checks its value against the WIT type. Answers at once where
 * the function does. Never rejects, never throws.
 */
export function answerHostCall(
  { interfaceName, functionName, args }: HostCall,
  functions: ReadonlyMap<string, OfferedFunction>,
  context: HostFunctionContext,
): HostAnswer | Promise<HostAnswer> {
  const name = `${interfaceName}#${functionName}`;
  const offered = functions.get(name);
  if (offered === undefined) return broken(name, "is not offered");
  const { call, type } = offered;
  const fallible = type.result?.kind === "result" ? type.result : null;
  const returned = (value: unknown): HostAnswer => {
    try {
      check(value, fallible === null ? type.result : fallible.ok);
      return { kind: "value", value };
    } catch (problem) {
      return thrown(problem);
    }
  };
  const thrown = (problem: unknown): HostAnswer => {
    if (fallible !== null && problem instanceof WitError) return errorAnswer(name, problem, fallible.err);
    // The text of an application's error may hold its secrets: it goes to the application, not into the outcome.
    failures.publish({ name, runId: context.runId, error: problem });
    return problem instanceof ConversionError
      ? broken(name, `returned a wrong value: ${messageOf(problem)}`)
      : broken(name, "failed");
  };
  try {
    const value: unknown = call(...args, context);
    return isThenable(value) ? Promise.resolve(value).then(returned, thrown) : returned(value);
  } catch (problem) {
    return thrown(problem);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function errorAnswer(name: string, thrown: WitError, type: FuncType["result"]): HostAnswer {
  try {
    check(thrown.payload, type);
    return { kind: "error", value: thrown.payload };
  } catch (problem) {
    return broken(name, `threw a WitError with a wrong value: ${messageOf(problem)}`);
  }
}

/** Throws a ConversionError when the value is not what the glue may lower. */
function check(value: unknown, type: FuncType["result"]): void {
  if (type !== null) witToJson(value, type);
}

function broken(name: string, what: string): HostAnswer {
  return { kind: "broken", message: `the host function ${quote(name)} ${what}` };
}
