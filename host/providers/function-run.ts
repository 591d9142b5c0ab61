import type { Limits, ValueCheck } from "../manifest/manifest.ts";
import type { Clock } from "./clock.ts";
import { nativeUsage } from "./emitter.ts";
import type { RunPhase, RunReport, TokenUsage } from "./outcome.ts";
import type { CapabilityEvent, Emitter, RunAccount, RunRequest, RunSignal } from "./provider.ts";
import { abortSignalOf } from "./run-signal.ts";

/** What a function learns of its run, and where it says what happens. After the run's end what it says is dropped. */
export interface FunctionContext {
  readonly runId: string;
  /** As the caller wrote it; it means nothing to the host. */
  readonly sessionId: string | undefined;
  readonly providerId: string;
  readonly operation: string;
  /** Aborts when the run is ended from outside: nobody waits for the output any more. */
  readonly signal: AbortSignal;
  /**
   * The next piece of an output that comes in pieces. All of them together count against `outputBytes`. Whoever waits for what it answers
   * is no faster than a slow reader of the run; the run of whoever does not may end as `over-budget`. Never rejects.
   */
  delta(text: string): Promise<void>;
  /** Answers as `delta` does. Throws an Error for an event that is not declared, breaks its schema or is past a limit; the function may go on. */
  event(event: CapabilityEvent): Promise<void>;
  /** Lines past `logBytes` are dropped and counted. */
  log(level: "trace" | "debug" | "info" | "warn" | "error", message: string): void;
  /** Tokens so far. */
  usage(tokens: TokenUsage): void;
}

/** What the runs of one function share. */
export interface FunctionRules {
  readonly providerId: string;
  readonly clock: Clock;
  /** By `type@version`; null is any payload. */
  readonly events: ReadonlyMap<string, ValueCheck | null>;
}

/** There is room: one for all, as nearly every event finds some. */
const ROOM = Promise.resolve();

/** One run of a function: its context, its budgets, its account. What a function may take out of its context works alone. */
export class FunctionRun implements FunctionContext, RunAccount {
  readonly providerId: string;
  readonly phase: RunPhase = "guest";
  readonly limits: Limits;
  readonly wallMs: number;
  /** The budget that the function went past; what it does after that changes nothing. */
  exceeded: "outputBytes" | null = null;
  readonly #request: RunRequest;
  readonly #rules: FunctionRules;
  readonly #emitter: Emitter;
  readonly #signal: RunSignal;
  readonly #startedAt: number;
  #deltaBytes = 0;
  #accepted = 0;
  #refused = 0;
  #eventBytes = 0;
  #logBytes = 0;
  #logDropped = 0;

  constructor(request: RunRequest, rules: FunctionRules, limits: Limits, emitter: Emitter, signal: RunSignal) {
    this.#request = request;
    this.#rules = rules;
    this.#emitter = emitter;
    this.#signal = signal;
    this.#startedAt = rules.clock.now();
    this.providerId = rules.providerId;
    this.limits = limits;
    this.wallMs = limits.wallMs;
  }

  get runId(): string {
    return this.#request.runId;
  }

  get sessionId(): string | undefined {
    return this.#request.sessionId;
  }

  get operation(): string {
    return this.#request.operation;
  }

  get signal(): AbortSignal {
    return abortSignalOf(this.#signal);
  }

  readonly delta = (text: string): Promise<void> => {
    this.#deltaBytes += Buffer.byteLength(text);
    if (this.#deltaBytes > this.limits.outputBytes) {
      this.exceeded ??= "outputBytes";
      throw new Error(`The output has more than ${this.limits.outputBytes} bytes, which outputBytes allows`);
    }
    this.#emitter.emit({ kind: "delta", text });
    return this.#emitter.room?.() ?? ROOM;
  };

  readonly event = ({ type, version, payload }: CapabilityEvent): Promise<void> => {
    const text = JSON.stringify(payload ?? null);
    const refusal = this.#refusal(`${type}@${version}`, text);
    if (refusal !== null) {
      this.#refused++;
      throw new Error(`The event ${type}@${version} was refused: ${refusal}`);
    }
    this.#accepted++;
    this.#emitter.emit({ kind: "event", event: { type, version, payload: JSON.parse(text) as unknown } });
    return this.#emitter.room?.() ?? ROOM;
  };

  readonly log = (level: string, message: string): void => {
    const bytes = Buffer.byteLength(message);
    if (this.#logBytes + bytes > this.limits.logBytes) {
      this.#logDropped += bytes;
      return;
    }
    this.#logBytes += bytes;
    this.#emitter.emit({ kind: "log", level, message });
  };

  readonly usage = (tokens: TokenUsage): void => {
    this.#emitter.emit({ kind: "usage", tokens });
  };

  report(endedAt: number): RunReport {
    const usage = nativeUsage(this.#emitter.submittedAt ?? this.#startedAt, this.#startedAt, endedAt);
    return {
      usage: { ...usage, logBytes: this.#logBytes, logDropped: this.#logDropped },
      limits: this.limits,
      events: { accepted: this.#accepted, refused: this.#refused },
      evidence: null,
    };
  }

  #refusal(name: string, payload: string): string | null {
    const check = this.#rules.events.get(name);
    if (check === undefined) return "it is not declared";
    const { eventCount, eventBytes, eventTotalBytes } = this.limits;
    const bytes = Buffer.byteLength(payload);
    if (bytes > eventBytes) return `it has ${bytes} bytes, eventBytes allows ${eventBytes}`;
    if (this.#accepted >= eventCount) return `eventCount allows ${eventCount}`;
    if (this.#eventBytes + bytes > eventTotalBytes) return `eventTotalBytes allows ${eventTotalBytes}`;
    const problem = check === null ? null : check(JSON.parse(payload) as unknown);
    if (problem === null) this.#eventBytes += bytes;
    return problem;
  }
}
