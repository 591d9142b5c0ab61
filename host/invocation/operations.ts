import { type Admitted, CORE_OPERATION } from "../admission/admission.ts";
import {
  ConversionError,
  failureToJson,
  jsonToArgs,
  resultToJson,
  type Operation as WitOperation,
} from "../component/component.ts";
import { HostError } from "../errors/errors.ts";
import { type JsonSchema, parseJsonText } from "../manifest/manifest.ts";
import type { Operation } from "../pool/pool.ts";
import type { Failure } from "../providers/providers.ts";

/** What goes to the guest, and the bytes that stand for it in the run's seed. */
export interface GuestInput {
  readonly value: string | readonly unknown[];
  readonly digestible: string;
}

/** What an operation takes and gives, as JSON Schemas. */
export interface Signature {
  readonly name: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
}

/** How one operation of a capability is called: values in and out on the host's side. */
export interface OperationPlan {
  readonly operation: Operation;
  /** What the manifest declares, or for a plain function what its WIT types mean. */
  readonly signature: Signature;
  /** Throws AIRLOCK_INVOCATION_REQUEST_INVALID for a value that is not JSON, or not what the WIT types want. */
  toGuest(input: unknown): GuestInput;
  /** Throws a ConversionError for an output that JSON cannot carry. */
  fromGuest(output: unknown): unknown;
  failureOf(payload: unknown): Failure;
}

/** The plans of all operations of a component, by name. */
export function planOperations(admitted: Admitted): ReadonlyMap<string, OperationPlan> {
  const { wayIn, manifest } = admitted;
  if (wayIn.kind === "handler") {
    const way = { interfaceName: wayIn.exportName, key: "handle" };
    return new Map(manifest.operations.map((declared) => [declared.name, textPlan(way, declared)]));
  }
  if (wayIn.kind === "core") {
    // Any JSON, where the manifest does not say what it takes and gives.
    const declared = manifest.operations[0] ?? { name: CORE_OPERATION, input: {}, output: {} };
    return new Map([[declared.name, textPlan({ interfaceName: null, key: wayIn.exportName }, declared)]]);
  }
  const wanted = new Set(manifest.operations.map(({ name }) => name));
  const callable = wayIn.operations.filter(({ name }) => wanted.size === 0 || wanted.has(name));
  return new Map(callable.map((operation) => [operation.name, valuesPlan(operation)]));
}

function textPlan(way: Pick<Operation, "interfaceName" | "key">, declared: Signature): OperationPlan {
  return {
    operation: {
      name: declared.name,
      ...way,
      calling: "text",
      inputSchema: declared.input,
      outputSchema: declared.output,
    },
    signature: { name: declared.name, input: declared.input, output: declared.output },
    toGuest(input) {
      const value = jsonText(input);
      return { value, digestible: value };
    },
    fromGuest: (output) => JSON.parse(output as string) as unknown,
    failureOf(payload) {
      const { code, message, retryable, detail } = payload as {
        code: string;
        message: string;
        retryable: boolean;
        detail?: string;
      };
      return { code, message, retryable, ...(detail === undefined ? {} : { detail: parsedOrText(detail) }) };
    },
  };
}

function valuesPlan(wit: WitOperation): OperationPlan {
  return {
    operation: {
      name: wit.name,
      interfaceName: wit.inInstance ? wit.exportName : null,
      key: wit.jsName,
      calling: "values",
    },
    signature: { name: wit.name, input: wit.inputSchema, output: wit.outputSchema },
    toGuest(input) {
      // An operation without parameters is also called with nothing.
      const given = input ?? (wit.type.params.length === 0 ? {} : input);
      try {
        return { value: jsonToArgs(given, wit.type), digestible: jsonText(given) };
      } catch (thrown) {
        if (!(thrown instanceof ConversionError)) throw thrown;
        throw new HostError(
          "AIRLOCK_INVOCATION_REQUEST_INVALID",
          `Cannot call ${JSON.stringify(wit.name)}: input ${thrown.path} ${thrown.message}`,
        );
      }
    },
    fromGuest: (output) => resultToJson(output, wit.type.result),
    failureOf(payload) {
      const detail = failureToJson(payload, wit.type.result);
      return {
        code: "error",
        message: typeof detail === "string" ? detail : "the function answered with its error value",
        retryable: false,
        detail,
      };
    },
  };
}

/** JSON text in which bytes are base64, and other typed arrays are arrays of numbers or decimal strings. */
function jsonText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, function (this: Record<string, unknown>, key, each: unknown) {
      // From the holder: what comes as the value has been through `toJSON`, which Buffer has.
      const raw = this[key];
      if (!ArrayBuffer.isView(raw) || raw instanceof DataView) return each;
      if (Object.prototype.toString.call(raw) === "[object Uint8Array]")
        return Buffer.from(raw as Uint8Array).toString("base64");
      return Array.from(raw as unknown as ArrayLike<unknown>, (item) =>
        typeof item === "bigint" ? String(item) : item,
      );
    });
  } catch {
    text = undefined;
  }
  if (text === undefined)
    throw new HostError(
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      "Cannot start the run: input is not a JSON value; a value that JSON.stringify can write is wanted",
    );
  return text;
}

/** A failure's detail is JSON text by contract; a guest that breaks it, or goes past its bounds, is quoted instead of refused. */
function parsedOrText(detail: string): unknown {
  const parsed = parseJsonText(detail);
  return parsed.kind === "value" ? parsed.value : detail;
}
