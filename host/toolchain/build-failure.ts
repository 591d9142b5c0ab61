import { HostError, quote } from "../errors/errors.ts";

/** A source that does not build: the first problem in the message, all of them in `details.problems`, one line each. */
export function buildFailure(where: string, problems: readonly string[], cause?: unknown): HostError {
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new HostError("AIRLOCK_TOOLCHAIN_BUILD_FAILED", `Cannot build ${quote(where)}: ${problems[0]}${more}`, {
    details: { where, problems },
    ...(cause === undefined ? {} : { cause }),
  });
}
