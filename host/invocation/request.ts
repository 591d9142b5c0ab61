import { HostError, nearest, quote } from "../errors/errors.ts";
import { jsonExcess, type Limits } from "../manifest/manifest.ts";
import type { RunRequest } from "../providers/providers.ts";
import type { GuestInput, OperationPlan } from "./operations.ts";

/**
 * Checks what a request alone can have wrong, before anything starts, and takes a copy of its input, which the caller may
 * change later. Throws AIRLOCK_INVOCATION_*.
 */
export function checkRequest(
  request: RunRequest,
  plan: OperationPlan | undefined,
  limits: Limits,
  operations: readonly string[],
): GuestInput {
  if (plan === undefined) {
    const near = nearest(request.operation, operations);
    const hint =
      near === undefined
        ? `one of ${operations.map((name) => quote(name)).join(", ")} is wanted`
        : `did you mean ${quote(near)}?`;
    throw new HostError(
      "AIRLOCK_INVOCATION_OPERATION_UNKNOWN",
      `Cannot run ${request.providerId}: it has no operation ${quote(request.operation)}; ${hint}`,
    );
  }
  const input = plan.toGuest(request.input);
  const { digestible } = input;
  const bytes = digestible.length > limits.inputBytes ? digestible.length : Buffer.byteLength(digestible);
  if (bytes > limits.inputBytes) {
    throw new HostError(
      "AIRLOCK_INVOCATION_INPUT_TOO_LARGE",
      `Cannot run ${request.providerId}: input has ${bytes} bytes as JSON, inputBytes allows ${limits.inputBytes}`,
    );
  }
  const excess = jsonExcess(digestible);
  if (excess !== null) {
    const code =
      excess.kind === "too-many" ? "AIRLOCK_INVOCATION_INPUT_TOO_LARGE" : "AIRLOCK_INVOCATION_REQUEST_INVALID";
    throw new HostError(code, `Cannot run ${request.providerId}: input ${excess.text}`);
  }
  return input;
}
