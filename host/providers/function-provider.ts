import { HostError, nearest, quote } from "../errors/errors.ts";
import {
  createSchemaValidator,
  effectiveLimits,
  type JsonSchema,
  type LimitKey,
  type LimitPolicy,
  type Limits,
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
  return new FunctionProvider(definition, ground);
}

class FunctionProvider implements Provider {
  readonly id: string;
  readonly operations: readonly string[];
  readonly commands: Commands;
  readonly #definition: FunctionDefinition;
  readonly #operation: string;
  readonly #policy: LimitPolicy;
  readonly #limits: Limits;
  readonly #rules: FunctionRules;
  readonly #checkInput: ValueCheck;
  readonly #checkOutput: ValueCheck;
  /** Inputs of requests that were checked, as they were then. */
  readonly #inputs = new WeakMap<RunRequest, unknown>();

  constructor(definition: FunctionDefinition, { policy = resolvePolicy(), clock = SYSTEM_CLOCK }: FunctionGround) {
    checkDefinition(definition);
    const { id, operation = "call", input = true, output = true, events = [], limits = {} } = definition;
    this.id = id;
    this.#definition = definition;
    this.#operation = operation;
    this.operations = [operation];
    this.#policy = policy;
    const own = parseLimits(limits, "limits", "AIRLOCK_PROVIDERS_DEFINITION_INVALID");
    checkHeld(own, FUNCTION_LIMITS, id, "AIRLOCK_PROVIDERS_DEFINITION_INVALID");
    this.#limits = effectiveLimits(policy, own);
    const validator = createSchemaValidator();
    this.#checkInput = validator.compile(input);
    this.#checkOutput = validator.compile(output);
    const checks = events.map(({ type, version, schema }) => {
      return [`${type}@${version}`, schema === undefined ? null : validator.compile(schema)] as const;
    });
    this.#rules = { providerId: id, clock, events: new Map(checks) };
    const held = Object.fromEntries(FUNCTION_LIMITS.map((key) => [key, this.#limits[key]]));
    this.commands = {
      capabilities: () => ({ operations: [{ name: operation, input, output }], events, limits: held, models: [] }),
      transport_status: () => ({ kind: "function" }),
    };
  }

  check(request: RunRequest): void {
    if (request.operation !== this.#operation) {
      throw new HostError(
        "AIRLOCK_INVOCATION_OPERATION_UNKNOWN",
        `Cannot run ${this.id}: it has no operation ${quote(request.operation)}; ${quote(this.#operation)} is wanted`,
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
    const problem = this.#checkInput(input);
    if (problem !== null) return { kind: "invalid-input", message: problem };
    let output: unknown;
    try {
      output = await this.#definition.call(input, run);
    } catch (error) {
      if (run.exceeded !== null) return { kind: "over-budget", limit: run.exceeded };
      if (error instanceof DeclinedError) return { kind: "failed", failure: error.failure };
      throw error;
    }
    return run.exceeded === null ? this.#resultOf(output, run) : { kind: "over-budget", limit: run.exceeded };
  }

  #resultOf(output: unknown, { limits }: FunctionRun): RunResult {
    const text = jsonText(output ?? null);
    if (text === null) return { kind: "invalid-output", message: "the output is no JSON value" };
    if (Buffer.byteLength(text) > limits.outputBytes) return { kind: "over-budget", limit: "outputBytes" };
    const value = JSON.parse(text) as unknown;
    const problem = this.#checkOutput(value);
    return problem === null ? { kind: "succeeded", output: value } : { kind: "invalid-output", message: problem };
  }

  #limitsOf({ limits }: RunRequest): Limits {
    for (const _ in limits) return effectiveLimits(this.#policy, this.#definition.limits, limits);
    return this.#limits;
  }
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
