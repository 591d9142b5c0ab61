import { ENDINGS, messageOf } from "../errors/errors.ts";
import { effectiveLimits, type Limits, resolvePolicy } from "../manifest/manifest.ts";
import type { Clock, Sleeper } from "./clock.ts";
import type { Outcome, RunReport, RunResult, TokenUsage } from "./outcome.ts";
import type { Emitter, LiveEvent, RunAccount, RunEvent, RunRequest, TerminalEvent } from "./provider.ts";
import { StopSignal } from "./run-signal.ts";

/** Who hears of a run. */
export interface RunListener {
  /** Every event, in order. Must not throw. */
  heard(event: RunEvent): void;
  /** Once, right before the terminal event is heard: whatever the run held is to be given back. Must not throw. */
  ended(terminal: TerminalEvent): void;
  /** Null while another event has room; else settles once it has, or once the run has ended. */
  room?(): Promise<void> | null;
}

/** What came after a run's end and was dropped. One for many runs. */
export interface LateCounts {
  events: number;
  /** Results, cancellations, deadlines and disconnects. A provider whose run was ended from outside still answers: one each. */
  endings: number;
}

/** Characters of a thrown text that an outcome carries. */
const MOST_MESSAGE = 1_000;

/** Echoed for a provider that names no limits of its own. */
const DEFAULT_LIMITS: Limits = effectiveLimits(resolvePolicy());

/**
 * The state machine of one run: open, then ended. Takes whatever races (the provider's events, its result or its exception, a
 * cancellation, the deadline, a disconnect) and gives events in the order in which they came, with exactly one terminal event as
 * the last. The first ending wins; what comes later is dropped and counted. Silence is no input. Nothing here throws.
 */
export class RunEmitter implements Emitter, Sleeper {
  readonly signal = new StopSignal();
  readonly submittedAt: number;
  readonly #request: RunRequest;
  readonly #listener: RunListener;
  readonly #clock: Clock;
  readonly #late: LateCounts;
  #providerId: string;
  #startedAt: number | null = null;
  #terminal: TerminalEvent | null = null;
  #account: RunAccount | null = null;
  #tokens: TokenUsage | undefined = undefined;
  #events = 0;
  #alarm: object | null = null;

  constructor(request: RunRequest, listener: RunListener, clock: Clock, late: LateCounts) {
    this.#request = request;
    this.#listener = listener;
    this.#clock = clock;
    this.#late = late;
    this.#providerId = request.providerId;
    this.submittedAt = clock.now();
  }

  /** How the run ended; null while it has not. */
  get terminal(): TerminalEvent | null {
    return this.#terminal;
  }

  /** The request was taken: it runs, or waits for its slot. Once, before anything else. */
  open(): void {
    const { runId, providerId, deadline } = this.#request;
    this.#listener.heard({ kind: "started", runId, providerId });
    if (deadline !== null) this.wake();
  }

  /** The run has its slot, and `providerId` is who carries it out. False when it has ended meanwhile: nothing is to start. */
  begin(providerId: string): boolean {
    // A timer can be late, and a run whose time is over is not worth a start.
    if (this.#request.deadline !== null && this.#terminal === null) this.wake();
    if (this.#terminal !== null) return false;
    this.#providerId = providerId;
    this.#startedAt = this.#clock.now();
    return true;
  }

  emit(event: LiveEvent): void {
    if (this.#terminal !== null) {
      this.#late.events++;
      return;
    }
    // One that looks like an end would be a second terminal event to whoever reads.
    if (!isLive(event)) {
      const message = "The provider emitted an event of no known form";
      this.#end({ kind: "provider-failed", message }, message);
      return;
    }
    if (event.kind === "event") this.#events++;
    else if (event.kind === "usage") this.#tokens = event.tokens;
    this.#listener.heard(event);
  }

  room(): Promise<void> | null {
    return this.#terminal === null ? (this.#listener.room?.() ?? null) : null;
  }

  account(account: RunAccount): void {
    if (this.#terminal !== null || this.#account !== null) return;
    this.#account = account;
    if (account.wallMs !== undefined) this.wake();
  }

  /** The provider's own ending. */
  finish(result: RunResult): boolean {
    // From here on the host trusts it; a native provider is trusted with its doing, not with its types.
    if (typeof result !== "object" || result === null || !Object.hasOwn(ENDINGS, result.kind)) {
      return this.#end({ kind: "provider-failed", message: "The provider returned no result of a known kind" });
    }
    return this.#end(result);
  }

  /** The provider threw. */
  fail(thrown: unknown): boolean {
    return this.#end({ kind: "provider-failed", message: messageOf(thrown).slice(0, MOST_MESSAGE) });
  }

  /** Whoever asked for the run wants it no more. */
  cancel(reason: string): boolean {
    return this.#end({ kind: "cancelled", reason });
  }

  /** The connection to the provider, or to whoever asked, is gone. */
  disconnect(message: string): boolean {
    return this.#end({ kind: "disconnected", message });
  }

  /** Whoever reads the run cannot go on with it: stops the provider, which had no part in the ending. */
  cut(result: RunResult): boolean {
    return this.#end(result, "message" in result ? result.message : `${result.kind}: the reader is too slow`);
  }

  /** Looks at the time, ends the run when it is over and sleeps on when it is not. */
  wake(): void {
    if (this.#alarm !== null) this.#clock.cancel(this.#alarm);
    this.#alarm = null;
    if (this.#terminal !== null) return;
    const now = this.#clock.now();
    const deadlineIn = (this.#request.deadline ?? Number.POSITIVE_INFINITY) - now;
    const wallIn = this.#wallIn(now);
    const sleepMs = Math.min(deadlineIn, wallIn);
    if (sleepMs > 0) {
      if (sleepMs !== Number.POSITIVE_INFINITY) this.#alarm = this.#clock.after(sleepMs, this);
      return;
    }
    const limit = deadlineIn <= wallIn ? "deadlineMs" : "wallMs";
    this.#end({ kind: "past-deadline", phase: this.#phase(), limit });
  }

  /** The only way to an end. */
  #end(result: RunResult, cutReason: string | null = null): boolean {
    if (this.#terminal === null) this.#account?.ending?.();
    // Also where somebody who heard of what ended with it has ended this run.
    if (this.#terminal !== null) {
      this.#late.endings++;
      return false;
    }
    const outcome = this.#outcomeOf(result);
    const { terminal: kind, failure } = ENDINGS[result.kind];
    const terminal: TerminalEvent = failure === null ? { kind, outcome } : { kind, failure, outcome };
    this.#terminal = terminal;
    if (this.#alarm !== null) this.#clock.cancel(this.#alarm);
    this.#alarm = null;
    // The provider stops before its slot goes to the next run, and both before anyone is told.
    if (cutReason === null) this.#stop(result);
    else this.signal.abort(cutReason, "AbortError");
    this.#listener.ended(terminal);
    this.#listener.heard(terminal);
    return true;
  }

  #stop(result: RunResult): void {
    if (result.kind === "past-deadline") this.signal.abort(`past ${result.limit}`, "TimeoutError");
    else if (result.kind === "cancelled") this.signal.abort(result.reason, "AbortError");
    else if (result.kind === "disconnected") this.signal.abort(result.message, "AbortError");
  }

  #wallIn(now: number): number {
    const account = this.#account;
    if (account?.wallMs === undefined) return Number.POSITIVE_INFINITY;
    const since = account.wallSince === undefined ? this.#startedAt : account.wallSince();
    return since === null ? account.wallMs : account.wallMs - (now - since);
  }

  #phase(): RunAccount["phase"] {
    return this.#account?.phase ?? (this.#startedAt === null ? "queue" : "guest");
  }

  #outcomeOf(result: RunResult): Outcome {
    const { sessionId } = this.#request;
    const tokens = result.tokens ?? this.#tokens;
    const outcome = isWhole(result) ? result : this.#filledIn(result);
    if (sessionId === undefined && tokens === outcome.tokens) return outcome;
    return {
      ...outcome,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(tokens === undefined ? {} : { tokens }),
    };
  }

  #filledIn(result: RunResult): Outcome {
    const { runId, operation } = this.#request;
    const providerId = this.#providerId;
    const endedAt = this.#clock.now();
    const report = this.#account?.report(endedAt) ?? this.#report(endedAt);
    const { usage, limits, events, evidence, nested, connectorCalls } = report;
    if (
      result.kind !== "succeeded" ||
      result.tokens !== undefined ||
      nested !== undefined ||
      connectorCalls !== undefined
    )
      return { ...result, runId, providerId, operation, ...report };
    // Field by field: this is how most runs end, and a copy by spread takes ten times as long.
    return { kind: "succeeded", output: result.output, runId, providerId, operation, usage, limits, events, evidence };
  }

  #report(endedAt: number): RunReport {
    return {
      usage: nativeUsage(this.submittedAt, this.#startedAt, endedAt),
      limits: DEFAULT_LIMITS,
      events: { accepted: this.#events, refused: 0 },
      evidence: null,
    };
  }
}

/** What a run used that is no Wasm. Times in milliseconds since the epoch; `startedAt` is when it got its slot, null when it never did. */
export function nativeUsage(submittedAt: number, startedAt: number | null, endedAt: number): RunReport["usage"] {
  return {
    fuel: 0,
    setupFuel: 0,
    fuelExact: true,
    peakMemoryBytes: 0,
    hostCalls: 0,
    hostBytesIn: 0,
    hostBytesOut: 0,
    logBytes: 0,
    logDropped: 0,
    randomBytes: 0,
    queueMs: (startedAt ?? endedAt) - submittedAt,
    setupMs: 0,
    guestMs: startedAt === null ? 0 : endedAt - startedAt,
    hostMs: 0,
    totalMs: endedAt - submittedAt,
  };
}

/** A native provider is trusted with its doing, not with its types. */
function isLive(event: LiveEvent): boolean {
  if (typeof event !== "object" || event === null) return false;
  switch (event.kind) {
    case "delta":
      return typeof event.text === "string";
    case "log":
      return typeof event.message === "string";
    case "event":
      return typeof event.event === "object" && event.event !== null;
    case "usage":
      return typeof event.tokens === "object" && event.tokens !== null;
    default:
      return false;
  }
}

function isWhole(result: RunResult): result is Outcome {
  return "usage" in result;
}
