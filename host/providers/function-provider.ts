import { HostError, nearest, quote } from "../errors/errors.ts";
import {
  createSchemaValidator,
  effectiveLimits,
  type JsonSchema,
  type LimitKey,
  type LimitPolicy,
  type Limits,
  type Operation,
  parseLimits,
  resolvePolicy,
  type ValueCheck,
} from "../manifest/manifest.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import type { Capabilities } from "./commands.ts";
import { type FunctionContext, type FunctionRules, FunctionRun } from "./function-run.ts";
import type { Failure, RunResult } from "./outcome.ts";
import type { Commands, Emitter, Provider, RunRequest, RunSignal } from "./provider.ts";
import { checkHeld, copyOfInput, jsonText } from "./run-input.ts";

/** A function of the embedding application that is to be a provider. */
export interface FunctionDefinition {
  /** `id@version`. */
  readonly id: string;
  /**
   * Carries a run out. The input is a JSON value of its own, the output is to be one; nothing counts as null. May be asynchronous. It
   * says no with a `DeclinedError`; anything else that it throws ends the run as `provider-failed`.
   */
  readonly call: (input: unknown, context: FunctionContext) => unknown;
  /** The name of its one operation. Default "call". */
  readonly operation?: string;
  /** What it takes: an input that does not fit ends the run as `invalid-input`. Default: any JSON value. */
  readonly input?: JsonSchema;
  /** What it gives: an output that does not fit ends the run as `invalid-output`. Default: any JSON value. */
  readonly output?: JsonSchema;
  /** The events that it may emit. */
  readonly events?: Capabilities["events"];
  /** Its limits, of `FUNCTION_LIMITS`: no other can be held for native code, and none that cannot be is taken. */
  readonly limits?: Partial<Limits>;
}

/** What a host gives to its functions. */
export interface FunctionGround {
  /** Defaults and caps of the limits. */
  readonly policy?: LimitPolicy;
  readonly clock?: Clock;
}

/** The limits that hold for a function. */
export const FUNCTION_LIMITS = [
  "wallMs",
  "inputBytes",
  "outputBytes",
  "eventCount",
  "eventBytes",
  "eventTotalBytes",
  "logBytes",
] as const satisfies readonly LimitKey[];

/** Thrown by a function to say no: its run ends as `failed`, with these words. */
export class DeclinedError extends Error {
  readonly failure: Failure;

  /** `detail` is a JSON value. `retryable`: whether the same request can succeed later. */
  constructor(code: string, message: string, more: { readonly retryable?: boolean; readonly detail?: unknown } = {}) {
    super(message);
    this.name = "DeclinedError";
    const { retryable = false, detail } = more;
    this.failure = { code, message, retryable, ...(detail === undefined ? {} : { detail }) };
  }
}

/**
 * A function as a provider. Trusted code: nothing bounds what it does, but its input, its output, its events and its time are
 * held to their limits. Throws AIRLOCK_PROVIDERS_DEFINITION_INVALID, AIRLOCK_ADMISSION_INVALID_SCHEMA.
 */
export function functionProvider(definition: FunctionDefinition, ground: FunctionGround = {}): Provider {
  checkDefinition(definition);
  const { id, call, operation = "call", input = true, output = true, events = [], limits = {} } = definition;
  const own = parseLimits(limits, "limits", "AIRLOCK_PROVIDERS_DEFINITION_INVALID");
  const operations = [{ name: operation, input, output }];
  return new FunctionProvider({ id, call, operations, events, limits: own, eventsWait: false }, ground);
}

/** A function as its provider knows it: everything is there, and checked but for which limits hold and whether the schemas compile. */
export interface FunctionInit extends Pick<FunctionDefinition, "id" | "call"> {
  readonly operations: Capabilities["operations"];
  readonly events: Capabilities["events"];
  readonly limits: Partial<Limits>;
  readonly eventsWait: boolean;
}

/** Use `functionProvider`, or the native executor. */
export class FunctionProvider implements Provider {
  readonly id: string;
  readonly operations: readonly string[];
  readonly commands: Commands;
  readonly #call: FunctionDefinition["call"];
  readonly #policy: LimitPolicy;
  readonly #ownLimits: Partial<Limits>;
  readonly #limits: Limits;
  readonly #rules: FunctionRules;
  readonly #checks: ReadonlyMap<string, { readonly input: ValueCheck; readonly output: ValueCheck }>;
  /** Inputs of requests that were checked, as they were then. */
  readonly #inputs = new WeakMap<RunRequest, unknown>();

  constructor(
    { id, call, operations, events, limits, eventsWait }: FunctionInit,
    { policy = resolvePolicy(), clock = SYSTEM_CLOCK }: FunctionGround,
  ) {
    checkHeld(limits, FUNCTION_LIMITS, id, "AIRLOCK_PROVIDERS_DEFINITION_INVALID");
    this.id = id;
    this.operations = operations.map(({ name }) => name);
    this.#call = call;
    this.#policy = policy;
    this.#ownLimits = limits;
    this.#limits = effectiveLimits(policy, limits);
    const validator = createSchemaValidator();
    const checksOf = ({ input, output }: Pick<Operation, "input" | "output">) => {
      return { input: validator.compile(input), output: validator.compile(output) };
    };
    this.#checks = new Map(operations.map((operation) => [operation.name, checksOf(operation)]));
    const checks = events.map(({ type, version, schema }) => {
      return [`${type}@${version}`, schema === undefined ? null : validator.compile(schema)] as const;
    });
    this.#rules = { providerId: id, clock, events: new Map(checks), eventsWait };
    const held = Object.fromEntries(FUNCTION_LIMITS.map((key) => [key, this.#limits[key]]));
    this.commands = {
      capabilities: () => ({ operations, events, limits: held, models: [] }),
      transport_status: () => ({ kind: "function" }),
    };
  }

  check(request: RunRequest): void {
    if (!this.#checks.has(request.operation)) {
      throw new HostError(
        "AIRLOCK_INVOCATION_OPERATION_UNKNOWN",
        `Cannot run ${this.id}: it has no operation ${quote(request.operation)}; ${this.operations.map((name) => quote(name)).join(" or ")} is wanted`,
      );
    }
    checkHeld(request.limits, FUNCTION_LIMITS, this.id, "AIRLOCK_INVOCATION_REQUEST_INVALID");
    this.#inputs.set(request, copyOfInput(request.input, this.id, this.#limitsOf(request).inputBytes));
  }

  async execute(request: RunRequest, emitter: Emitter, signal: RunSignal): Promise<RunResult> {
    if (!this.#inputs.has(request)) this.check(request);
    const input = this.#inputs.get(request);
    const run = new FunctionRun(request, this.#rules, this.#limitsOf(request), emitter, signal);
    emitter.account?.(run);
    const check = this.#checks.get(request.operation)!;
    const problem = check.input(input);
    if (problem !== null) return { kind: "invalid-input", message: problem };
    let output: unknown;
    try {
      output = await this.#call(input, run);
    } catch (error) {
      if (run.exceeded !== null) return { kind: "over-budget", limit: run.exceeded };
      if (error instanceof DeclinedError) return { kind: "failed", failure: error.failure };
      throw error;
    }
    return run.exceeded === null ? resultOf(output, check.output, run) : { kind: "over-budget", limit: run.exceeded };
  }

  /** Of a nested run, no more events than its caller may still emit. */
  #limitsOf({ limits, nested }: RunRequest): Limits {
    const own = isEmpty(limits) ? this.#limits : effectiveLimits(this.#policy, this.#ownLimits, limits);
    if (nested === undefined) return own;
    const { eventCount, eventTotalBytes } = nested.budget;
    return {
      ...own,
      eventCount: Math.min(own.eventCount, eventCount),
      eventTotalBytes: Math.min(own.eventTotalBytes, eventTotalBytes),
    };
  }
}

function isEmpty(limits: object): boolean {
  for (const _ in limits) return false;
  return true;
}

function resultOf(output: unknown, check: ValueCheck, run: FunctionRun): RunResult {
  const text = jsonText(output ?? null);
  if (text === null) return { kind: "invalid-output", message: "the output is no JSON value" };
  if (Buffer.byteLength(text) > run.limits.outputBytes) return { kind: "over-budget", limit: "outputBytes" };
  const value = JSON.parse(text) as unknown;
  // The events come last: with an output that is wrong, none of those that have waited is heard of.
  const problem = check(value) ?? run.releaseEvents();
  return problem === null ? { kind: "succeeded", output: value } : { kind: "invalid-output", message: problem };
}

function checkDefinition(definition: FunctionDefinition): void {
  const known = ["id", "call", "operation", "input", "output", "events", "limits"];
  const key = Object.keys(definition).find((each) => !known.includes(each));
  const near = key === undefined ? undefined : nearest(key, known);
  const hint = near === undefined ? `known are ${known.join(", ")}` : `did you mean ${quote(near)}?`;
  if (key !== undefined) throw invalid(`it has the unknown key ${quote(key, 40)}; ${hint}`);
  if (typeof definition.call !== "function") throw invalid("call is missing, a function is wanted");
}

function invalid(text: string): HostError {
  return new HostError("AIRLOCK_PROVIDERS_DEFINITION_INVALID", `Cannot make a provider of the function: ${text}`);
}
