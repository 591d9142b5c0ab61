import { isDeepStrictEqual } from "node:util";
import type { Outcome } from "../index.ts";
import type { Expectation } from "./definition.ts";

/** How a guest ended, in the words of an expectation. */
export interface Observed {
  readonly refused?: string;
  readonly outcome?: Outcome["kind"];
  readonly limit?: string;
  readonly phase?: string;
  readonly output?: unknown;
  readonly events?: { readonly accepted: number; readonly refused: number };
  readonly logDropped?: number;
  readonly message?: string;
}

/** The same words for an outcome. */
export function observe(outcome: Outcome): Observed {
  const { kind, events, usage } = outcome;
  return {
    outcome: kind,
    ...("limit" in outcome ? { limit: outcome.limit } : {}),
    ...(kind === "trapped" ? { phase: outcome.trap.phase } : "phase" in outcome ? { phase: outcome.phase } : {}),
    ...(kind === "succeeded" ? { output: outcome.output } : {}),
    ...messageOf(outcome),
    events,
    logDropped: usage.logDropped,
  };
}

/** What differs, in one line; null when everything that is expected was seen. */
export function difference(expected: Expectation, observed: Observed): string | null {
  const problems = Object.entries(expected).flatMap(([key, wanted]) => {
    const seen = observed[key as keyof Observed];
    const same = key === "message" ? String(seen ?? "").includes(String(wanted)) : isDeepStrictEqual(seen, wanted);
    return same ? [] : [`${key} is ${shown(seen)}, ${shown(wanted)} is wanted`];
  });
  if (problems.length === 0) return null;
  return observed.message === undefined ? problems.join("; ") : `${problems.join("; ")} (${observed.message})`;
}

function messageOf(outcome: Outcome): { message?: string } {
  switch (outcome.kind) {
    case "trapped":
      return { message: outcome.trap.message };
    case "failed":
      return { message: `${outcome.failure.code}: ${outcome.failure.message}` };
    case "cancelled":
      return { message: outcome.reason };
    default:
      return "message" in outcome ? { message: outcome.message } : {};
  }
}

function shown(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
