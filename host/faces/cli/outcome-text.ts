import { assertNever, ENDINGS } from "../../errors/errors.ts";
import type { CapabilityEvent, Outcome, RunEvent } from "../../index.ts";
import type { LimitKey, Limits } from "../../manifest/manifest.ts";
import type { Paint } from "./paint.ts";
import { jsonText, printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import { shownBytes, shownCount, shownLimit, shownMs } from "./units.ts";

/** Events after a run; all of them come with `--events` or `--json`. */
const MOST_EVENTS = 10;
/** Ways in which connectors answered that are listed. */
const MOST_CONNECTORS = 20;
const EVENT_LENGTH = 160;
const DETAIL_LENGTH = 4_000;

/**
 * An outcome for people: how it ended, the output or the reason, events, what it used. `streamed` is text of the output that they have
 * seen already.
 */
export function outcomeLines(
  outcome: Outcome,
  emitted: readonly CapabilityEvent[],
  requested: Partial<Limits>,
  colours: Paint,
  streamed = "",
): readonly string[] {
  const { kind, providerId, operation } = outcome;
  const colour = kind === "succeeded" ? colours.good : kind === "cancelled" ? colours.warn : colours.bad;
  const what = colours.strong(`${printable(providerId)} ${printable(operation)}`);
  return [
    `${colour(kind)}  ${what}`,
    ...story(outcome, streamed),
    "",
    ...eventLines(outcome, emitted, colours),
    ...connectorLines(outcome, colours),
    ...usageLines(outcome, colours),
    ...notLowered(outcome, requested, colours),
  ];
}

/** One event or log line as it comes. */
export function liveLine(event: RunEvent, colours: Paint): string | null {
  switch (event.kind) {
    case "event":
      return `${colours.faint("event")}  ${eventName(event.event)}  ${jsonText(event.event.payload)}`;
    case "log":
      return `${colours.faint(event.level)}  ${printable(event.message, 8_192)}`;
    case "delta":
      return `${colours.faint("delta")}  ${printable(event.text, 8_192)}`;
    case "skipped":
      return `${colours.warn("skipped")}  ${event.count} events came faster than they could be shown`;
    default:
      return null;
  }
}

/** The output, or why there is none. */
function story(outcome: Outcome, streamed: string): readonly string[] {
  switch (outcome.kind) {
    case "succeeded":
      return outputLines(outcome.output, streamed);
    case "failed": {
      const { code, message, retryable, detail } = outcome.failure;
      const again = retryable ? " (it says that trying again can help)" : "";
      const more = detail === undefined ? [] : bounded(jsonText(detail, 2)).split("\n");
      return [`The capability declined: ${printable(code)}: ${printable(message, DETAIL_LENGTH)}${again}`, ...more];
    }
    case "trapped":
      return [`The guest trapped in phase ${outcome.trap.phase}: ${printable(outcome.trap.message, 1_000)}`];
    case "out-of-fuel":
    case "out-of-memory":
      return [tripped(outcome, outcome.limit, ` in phase ${outcome.phase}`)];
    case "out-of-stack":
      if (outcome.limit === "engine") return [`The engine's stack ran out in phase ${outcome.phase}`];
      return [tripped(outcome, outcome.limit, ` in phase ${outcome.phase}`)];
    case "past-deadline":
      if (outcome.limit === "deadlineMs") return [`The run's deadline passed in phase ${outcome.phase}`];
      return [tripped(outcome, outcome.limit, ` in phase ${outcome.phase}`)];
    case "over-budget":
      if (outcome.limit === "unreadEvents" || outcome.limit === "unreadBytes") {
        return ["The reader of the run was too slow: more waited for it than the stream may hold"];
      }
      return [tripped(outcome, outcome.limit, "")];
    case "invalid-input":
      return [`The input is not what the operation wants: ${printable(outcome.message, 1_000)}`];
    case "invalid-output":
      return [`The output is not what the operation promises: ${printable(outcome.message, 1_000)}`];
    case "cancelled":
      return [`Cancelled: ${printable(outcome.reason)}`];
    case "lost":
      return [`The thread died: ${printable(outcome.message, 1_000)}`];
    case "provider-failed":
      return [`The provider failed: ${printable(outcome.message, 1_000)}`];
    case "disconnected":
      return [`The connection broke off: ${printable(outcome.message, 1_000)}`];
    default:
      return assertNever(outcome);
  }
}

/** Without what was streamed, where it is the output or a field of it. */
function outputLines(output: unknown, streamed: string): readonly string[] {
  if (streamed !== "" && output === streamed) return [];
  const fields = streamed !== "" && typeof output === "object" && output !== null && !Array.isArray(output);
  const shown = fields ? Object.fromEntries(Object.entries(output).filter(([, each]) => each !== streamed)) : output;
  return jsonText(shown, 2).split("\n");
}

function tripped({ limits }: Outcome, key: LimitKey, where: string): string {
  return `The limit ${key} of ${shownLimit(key, limits[key])} was reached${where}`;
}

function eventLines({ kind, events }: Outcome, emitted: readonly CapabilityEvent[], colours: Paint): readonly string[] {
  if (events.accepted === 0 && events.refused === 0) return [];
  const standing = kind === "succeeded" ? "committed" : "dropped, because the run did not succeed";
  const refused = events.refused === 0 ? "" : `, ${events.refused} refused`;
  const shown = emitted.slice(0, MOST_EVENTS).map((event) => {
    return `  ${eventName(event)}  ${printable(jsonText(event.payload), EVENT_LENGTH)}`;
  });
  const more = emitted.length > shown.length ? [`  and ${emitted.length - shown.length} more: --events shows all`] : [];
  return [`${colours.strong("events")}  ${events.accepted} ${standing}${refused}`, ...shown, ...more, ""];
}

/** How often each connector answered how. */
function connectorLines({ connectorCalls = [] }: Outcome, colours: Paint): readonly string[] {
  if (connectorCalls.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { connectorId, resolvedVersion, resultClass, failureClass } of connectorCalls) {
    const version = resolvedVersion === null ? "" : `@${resolvedVersion}`;
    const line = `  ${printable(connectorId)}${version}  ${failureClass ?? printable(resultClass)}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const lines = [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`));
  const shown = lines.slice(0, MOST_CONNECTORS);
  const more = lines.length > shown.length ? [`  and ${lines.length - shown.length} more: --json has all`] : [];
  return [colours.strong("connectors"), ...shown, ...more, ""];
}

function usageLines(outcome: Outcome, colours: Paint): readonly string[] {
  const { usage, limits, kind } = outcome;
  const limit = "limit" in outcome ? outcome.limit : null;
  const row = (name: string, key: string, used: string, most: string): readonly string[] => [
    name,
    used,
    most,
    limit === key ? "tripped" : "",
  ];
  const least = usage.fuelExact ? "" : "at least ";
  const wasm = [
    row("fuel", "fuel", `${least}${shownCount(usage.fuel)}`, `of ${shownLimit("fuel", limits.fuel)}`),
    row("setup fuel", "setupFuel", shownCount(usage.setupFuel), `of ${shownLimit("setupFuel", limits.setupFuel)}`),
    row(
      "memory",
      "memoryBytes",
      shownBytes(usage.peakMemoryBytes),
      `of ${shownLimit("memoryBytes", limits.memoryBytes)}`,
    ),
    row("guest time", "wallMs", shownMs(usage.guestMs), `of ${shownLimit("wallMs", limits.wallMs)}`),
    row(
      "host time",
      "",
      shownMs(usage.hostMs),
      usage.hostCalls === 1 ? "in 1 call" : `in ${shownCount(usage.hostCalls)} calls`,
    ),
  ];
  // What runs no Wasm has neither evidence nor fuel.
  const native = outcome.evidence === null && usage.fuel === 0 && usage.setupFuel === 0;
  const rows = [
    ...(native ? [] : wasm),
    ...tokenRows(outcome),
    row("queue, setup", "", `${shownMs(usage.queueMs)}, ${shownMs(usage.setupMs)}`, ""),
    row("total", "deadlineMs", shownMs(usage.totalMs), ""),
  ];
  const listed = native ? ["deadlineMs"] : ["fuel", "setupFuel", "memoryBytes", "wallMs", "deadlineMs"];
  if (limit !== null && Object.hasOwn(limits, limit) && !listed.includes(limit)) {
    const key = limit as LimitKey;
    rows.push(row(key, key, "", `of ${shownLimit(key, limits[key])}`));
  }
  if (usage.logDropped > 0) rows.push(["log", `${shownBytes(usage.logDropped)} dropped`, "", ""]);
  const lines = alignedRows(rows, [colours.faint, undefined, colours.faint, colours.bad]);
  return ENDINGS[kind].retry
    ? [...lines, colours.faint("The same request can end otherwise when it is repeated.")]
    : lines;
}

function tokenRows({ tokens }: Outcome): readonly (readonly string[])[] {
  if (tokens === undefined) return [];
  const { inputTokens, outputTokens, model } = tokens;
  const by = model === undefined ? "" : `by ${printable(model, 80)}`;
  return [["tokens", `${shownCount(inputTokens)} in, ${shownCount(outputTokens)} out`, by, ""]];
}

/** A request can only lower a limit: whoever asked for more is told. */
function notLowered({ limits }: Outcome, requested: Partial<Limits>, colours: Paint): readonly string[] {
  return (Object.keys(requested) as LimitKey[]).flatMap((key) => {
    const [asked, holds] = [requested[key], limits[key]];
    if (typeof asked !== "number" || holds === null || asked <= holds) return [];
    return [
      colours.warn(
        `--limit ${key}=${asked} changed nothing: a run can only lower a limit, the package and the host allow ${shownLimit(key, holds)}`,
      ),
    ];
  });
}

function eventName({ type, version }: CapabilityEvent): string {
  return `${printable(type)}@${printable(version)}`;
}

function bounded(text: string): string {
  return text.length > DETAIL_LENGTH ? `${text.slice(0, DETAIL_LENGTH)}…` : text;
}
