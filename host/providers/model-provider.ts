import { HostError, nearest, quote } from "../errors/errors.ts";
import {
  createSchemaValidator,
  effectiveLimits,
  type JsonSchema,
  LIMITS,
  type LimitKey,
  type LimitPolicy,
  type Limits,
  parseLimits,
  resolvePolicy,
  type ValueCheck,
} from "../manifest/manifest.ts";
import { type Clock, SYSTEM_CLOCK } from "./clock.ts";
import type { Capabilities } from "./commands.ts";
import { type EndpointDefinition, errorOf, HttpEndpoint } from "./http-endpoint.ts";
import type { DecoderGround, ModelDecoder } from "./model-decoder.ts";
import { MODEL_OUTPUT_SCHEMA, type ModelOutput, ModelOutputBuilder } from "./model-output.ts";
import { ModelRun } from "./model-run.ts";
import type { RunResult } from "./outcome.ts";
import type { Commands, Emitter, Provider, RunRequest, RunSignal } from "./provider.ts";
import { RunEnd } from "./run-end.ts";
import { checkHeld, copyOfInput } from "./run-input.ts";

/** A server of language models that is to be a provider. */
export interface ModelProviderDefinition extends EndpointDefinition {
  /** `id@version`. */
  readonly id: string;
  /** The model of a request that names none. */
  readonly model?: string;
  /** The only models that a request may name. Default: any. */
  readonly models?: readonly string[];
  /** Its limits, of `MODEL_LIMITS`. Without `wallMs` only its deadline ends a run that takes long. */
  readonly limits?: Partial<Limits>;
  /** The longest line, or server-sent event, that is taken from the server, in bytes. Default 1 MiB; 1 KiB to 64 MiB. */
  readonly maxLineBytes?: number;
}

/** What a host gives to its model providers. */
export interface ModelGround {
  /** Defaults and caps of the limits. */
  readonly policy?: LimitPolicy;
  readonly clock?: Clock;
}

/** The limits that hold for a run of a model provider. */
export const MODEL_LIMITS = ["wallMs", "inputBytes", "outputBytes"] as const satisfies readonly LimitKey[];

/** One thing that a server of models can be asked for. */
export interface ModelOperation {
  readonly name: string;
  /** After the base of the URL. */
  readonly path: string;
  /** Its properties besides `model`, which every operation has. */
  readonly input: { readonly properties: Readonly<Record<string, unknown>>; readonly required: readonly string[] };
  /** Whether the server may know more properties than these. */
  readonly open: boolean;
  /** Content types that say of an answer that it is no stream. Any other is taken: servers name them as they like. */
  readonly notStreamed?: RegExp;
  /** What is sent of an input that was checked; the model is in it. */
  bodyOf(input: Readonly<Record<string, unknown>>): unknown;
  decoder(ground: DecoderGround): ModelDecoder;
}

const DEFAULT_LINE_BYTES = 1024 * 1024;
const LEAST_LINE_BYTES = 1024;
const MOST_LINE_BYTES = 64 * 1024 * 1024;
const MOST_TYPE_CHARACTERS = 80;
const KEYS = ["id", "baseUrl", "apiKey", "headers", "model", "models", "limits", "maxLineBytes"];

interface CheckedOperation extends ModelOperation {
  readonly schema: JsonSchema;
  readonly check: ValueCheck;
}

/**
 * A server of language models as a provider. Trusted to do its work and not to keep to its protocol: whatever it sends is checked and
 * bounded, and only a whole answer is a success.
 */
export class ModelProvider implements Provider {
  readonly id: string;
  readonly operations: readonly string[];
  readonly commands: Commands;
  readonly #endpoint: HttpEndpoint;
  readonly #operations: ReadonlyMap<string, CheckedOperation>;
  readonly #model: string | undefined;
  readonly #maxLineBytes: number;
  readonly #policy: LimitPolicy;
  readonly #own: Partial<Limits>;
  readonly #clock: Clock;
  /** Inputs of requests that were checked, as they were then. */
  readonly #inputs = new WeakMap<RunRequest, unknown>();

  /** `keys` are those that the definition may have besides the common ones. Throws AIRLOCK_PROVIDERS_DEFINITION_INVALID. */
  constructor(
    definition: ModelProviderDefinition,
    operations: readonly ModelOperation[],
    { policy = resolvePolicy(), clock = SYSTEM_CLOCK }: ModelGround,
    more: { readonly keys?: readonly string[]; commands?(endpoint: HttpEndpoint): Commands } = {},
  ) {
    checkDefinition(definition, [...KEYS, ...(more.keys ?? [])]);
    const { id, model, models, limits = {}, maxLineBytes = DEFAULT_LINE_BYTES } = definition;
    this.id = id;
    this.operations = operations.map(({ name }) => name);
    this.#endpoint = new HttpEndpoint(definition);
    this.#model = model;
    this.#maxLineBytes = maxLineBytes;
    this.#policy = policy;
    this.#clock = clock;
    this.#own = parseLimits(limits, "limits", "AIRLOCK_PROVIDERS_DEFINITION_INVALID");
    checkHeld(this.#own, MODEL_LIMITS, id, "AIRLOCK_PROVIDERS_DEFINITION_INVALID");
    const validator = createSchemaValidator();
    const checked = operations.map((operation) => {
      const schema = inputSchema(operation, definition);
      return [operation.name, { ...operation, schema, check: validator.compile(schema) }] as const;
    });
    this.#operations = new Map(checked);
    const capabilities: Capabilities = {
      operations: checked.map(([name, { schema }]) => ({ name, input: schema, output: MODEL_OUTPUT_SCHEMA })),
      events: [],
      limits: heldOf(this.#limitsOf({})),
      models: models ?? (model === undefined ? [] : [model]),
    };
    this.commands = {
      capabilities: () => capabilities,
      transport_status: () => ({ kind: "http" }),
      ...more.commands?.(this.#endpoint),
    };
  }

  check(request: RunRequest): void {
    if (!this.#operations.has(request.operation)) {
      const names = [...this.#operations.keys()].map((name) => quote(name)).join(" or ");
      throw new HostError(
        "AIRLOCK_INVOCATION_OPERATION_UNKNOWN",
        `Cannot run ${this.id}: it has no operation ${quote(request.operation)}; ${names} is wanted`,
      );
    }
    checkHeld(request.limits, MODEL_LIMITS, this.id, "AIRLOCK_INVOCATION_REQUEST_INVALID");
    this.#inputs.set(request, copyOfInput(request.input, this.id, this.#limitsOf(request.limits).inputBytes));
  }

  async execute(request: RunRequest, emitter: Emitter, signal: RunSignal): Promise<RunResult> {
    if (!this.#inputs.has(request)) this.check(request);
    const input = this.#inputs.get(request);
    const operation = this.#operations.get(request.operation)!;
    const limits = this.#limitsOf(request.limits);
    emitter.account?.(new ModelRun(limits, emitter, this.#clock));
    const problem = operation.check(input);
    if (problem !== null) return { kind: "invalid-input", message: problem };
    try {
      const named = input as Readonly<Record<string, unknown>>;
      const model = (named["model"] as string | undefined) ?? this.#model!;
      const output = new ModelOutputBuilder(model, limits.outputBytes, emitter);
      return { kind: "succeeded", output: await this.#answer(operation, { ...named, model }, output, signal) };
    } catch (error) {
      if (error instanceof RunEnd) return error.result;
      throw error;
    }
  }

  async #answer(
    operation: CheckedOperation,
    input: Readonly<Record<string, unknown>>,
    output: ModelOutputBuilder,
    signal: RunSignal,
  ): Promise<ModelOutput> {
    const answer = await this.#endpoint.ask(operation.path, operation.bodyOf(input), signal);
    const { status, secrets } = answer;
    if (status !== 200) throw await errorOf(answer, operation.path);
    const type = answer.header("content-type") ?? "";
    if (operation.notStreamed?.test(type)) {
      answer.close();
      const shown = secrets.excerpt(type, false, MOST_TYPE_CHARACTERS);
      throw RunEnd.failed(`The server answered ${operation.path} with ${shown}, a stream is wanted; is baseUrl right?`);
    }
    const decoder = operation.decoder({ output, secrets, maxLineBytes: this.#maxLineBytes });
    let whole = false;
    try {
      for await (const bytes of answer.body) {
        whole = decoder.push(bytes);
        if (whole) break;
        // A slow reader holds the server up: what is not read from the socket is not sent.
        const room = output.room();
        if (room !== null) await room;
      }
      whole ||= decoder.end();
    } finally {
      answer.close();
    }
    if (whole) return output.output();
    throw RunEnd.disconnected(`The server's answer ended without ${decoder.ending}, so it is not whole`);
  }

  /** Not the policy's `wallMs`: it is meant for guests, and a model that takes long is no defect. */
  #limitsOf(asked: Partial<Limits>): Limits {
    const limits = effectiveLimits(this.#policy, this.#own, asked);
    const wallMs = Math.min(this.#own.wallMs ?? LIMITS.wallMs.maximum, asked.wallMs ?? LIMITS.wallMs.maximum);
    return { ...limits, wallMs };
  }
}

function heldOf(limits: Limits): Readonly<Record<string, number | null>> {
  const held = Object.fromEntries(MODEL_LIMITS.map((key) => [key, limits[key]] as const));
  return { ...held, wallMs: limits.wallMs === LIMITS.wallMs.maximum ? null : limits.wallMs };
}

function inputSchema({ input, open }: ModelOperation, { model, models }: ModelProviderDefinition): JsonSchema {
  const description = model === undefined ? "The model to ask." : `The model to ask. Default ${quote(model)}.`;
  const named = models === undefined ? { type: "string", minLength: 1, maxLength: 256 } : { enum: models };
  return {
    type: "object",
    properties: { model: { ...named, description }, ...input.properties },
    required: model === undefined ? ["model", ...input.required] : input.required,
    additionalProperties: open,
  };
}

function checkDefinition(definition: ModelProviderDefinition, known: readonly string[]): void {
  const refuse = (text: string) =>
    new HostError("AIRLOCK_PROVIDERS_DEFINITION_INVALID", `Cannot make a provider: ${text}`);
  const key = Object.keys(definition).find((each) => !known.includes(each));
  const near = key === undefined ? undefined : nearest(key, known);
  const hint = near === undefined ? `known are ${known.join(", ")}` : `did you mean ${quote(near)}?`;
  if (key !== undefined) throw refuse(`it has the unknown key ${quote(key, 40)}; ${hint}`);
  const { id, model, models, maxLineBytes = DEFAULT_LINE_BYTES } = definition;
  if (typeof id !== "string" || !/^[^@\s]+@[^@\s]+$/.test(id)) throw refuse("id is not of the form id@version");
  if (model !== undefined && !isModel(model)) throw refuse("model is no name of a model");
  if (models !== undefined && !(Array.isArray(models) && models.length > 0 && models.every(isModel))) {
    throw refuse("models is no list of names of models");
  }
  if (models !== undefined && model !== undefined && !models.includes(model)) {
    throw refuse(`model is ${quote(model)}, which is not one of models`);
  }
  if (!Number.isSafeInteger(maxLineBytes) || maxLineBytes < LEAST_LINE_BYTES || maxLineBytes > MOST_LINE_BYTES) {
    throw refuse(`maxLineBytes is no whole number from ${LEAST_LINE_BYTES} to ${MOST_LINE_BYTES}`);
  }
}

function isModel(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= 256;
}
