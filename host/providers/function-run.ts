import { quote } from "../errors/errors.ts";
import type { Limits, ValueCheck } from "../manifest/manifest.ts";
import type { Clock } from "./clock.ts";
import { nativeUsage } from "./emitter.ts";
import type { RunPhase, RunReport, TokenUsage } from "./outcome.ts";
import type { CapabilityEvent, Emitter, RunAccount, RunRequest, RunSignal } from "./provider.ts";
import { jsonText } from "./run-input.ts";
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
  /**
   * Answers as `delta` does. Throws an Error for an event that is not declared, breaks its schema or is past a limit; the function may go
   * on. A native capability's events wait for its return instead: then all of them are checked, and one that is wrong fails the run.
   */
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
  /** Events are kept until the function has returned. */
  readonly eventsWait: boolean;
}

/** There is room: one for all, as nearly every event finds some. */
const ROOM = Promise.resolve();

/** An event that waits for the function's return. */
interface HeldEvent {
  readonly type: string;
  readonly version: string;
  /** Its payload as it was then; null for one that is no JSON value. */
  readonly text: string | null;
}

/** A limit that ends a run as `over-budget`, whatever the function does after that. */
type Budget = "outputBytes" | "eventCount" | "eventBytes" | "eventTotalBytes";

/** One run of a function: its context, its budgets, its account. What a function may take out of its context works alone. */
export class FunctionRun implements FunctionContext, RunAccount {
  readonly providerId: string;
  readonly phase: RunPhase = "guest";
  readonly limits: Limits;
  readonly wallMs: number;
  /** The budget that the function went past; what it does after that changes nothing. */
  exceeded: Budget | null = null;
  readonly #request: RunRequest;
  readonly #rules: FunctionRules;
  readonly #emitter: Emitter;
  readonly #signal: RunSignal;
  readonly #startedAt: number;
  #deltaBytes = 0;
  #held: HeldEvent[] = [];
  #returned = false;
  #events = 0;
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
    const text = jsonText(payload ?? null);
    if (this.#rules.eventsWait) {
      this.#hold({ type, version, text });
      return ROOM;
    }
    const refusal = this.#refusal(type, version, text);
    if (refusal !== null) {
      this.#refused++;
      throw new Error(`The event ${type}@${version} was refused: ${refusal}`);
    }
    this.#emit({ type, version, text });
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

  /** The function has returned. Emits the events that have waited, and null; or none, and what is wrong with the first that is not right. */
  releaseEvents(): string | null {
    this.#returned = true;
    const held = this.#held;
    this.#held = [];
    let first: string | null = null;
    for (const { type, version, text } of held) {
      const problem = this.#contractProblem(type, version, text);
      if (problem === null) continue;
      this.#refused++;
      first ??= `the event ${quote(`${type}@${version}`)} is refused: ${problem}`;
    }
    if (first === null) for (const event of held) this.#emit(event);
    return first;
  }

  report(endedAt: number): RunReport {
    const usage = nativeUsage(this.#emitter.submittedAt ?? this.#startedAt, this.#startedAt, endedAt);
    return {
      usage: { ...usage, logBytes: this.#logBytes, logDropped: this.#logDropped },
      limits: this.limits,
      events: { accepted: this.#accepted, refused: this.#refused },
      evidence: null,
    };
  }

  /** Limits hold at once, for what waits takes memory; nobody waits any more for an event that comes after the return. */
  #hold(event: HeldEvent): void {
    if (this.#returned || this.exceeded !== null) return;
    const bytes = event.text === null ? 0 : Buffer.byteLength(event.text);
    this.exceeded = this.#exceededBy(bytes);
    if (this.exceeded !== null) {
      this.#refused++;
      this.#held = [];
      return;
    }
    this.#events++;
    this.#eventBytes += bytes;
    this.#held.push(event);
  }

  #emit({ type, version, text }: HeldEvent): void {
    this.#accepted++;
    this.#emitter.emit({ kind: "event", event: { type, version, payload: JSON.parse(text!) as unknown } });
  }

  #refusal(type: string, version: string, text: string | null): string | null {
    if (!this.#rules.events.has(`${type}@${version}`)) return this.#contractProblem(type, version, text);
    const bytes = text === null ? 0 : Buffer.byteLength(text);
    const exceeded = this.#exceededBy(bytes);
    if (exceeded === "eventBytes") return `it has ${bytes} bytes, eventBytes allows ${this.limits.eventBytes}`;
    if (exceeded !== null) return `${exceeded} allows ${this.limits[exceeded]}`;
    const problem = this.#contractProblem(type, version, text);
    if (problem !== null) return problem;
    this.#events++;
    this.#eventBytes += bytes;
    return null;
  }

  /** The limit that one event more, of that many bytes, would go past. */
  #exceededBy(bytes: number): Exclude<Budget, "outputBytes"> | null {
    const { eventCount, eventBytes, eventTotalBytes } = this.limits;
    if (bytes > eventBytes) return "eventBytes";
    if (this.#events >= eventCount) return "eventCount";
    return this.#eventBytes + bytes > eventTotalBytes ? "eventTotalBytes" : null;
  }

  #contractProblem(type: string, version: string, text: string | null): string | null {
    const check = this.#rules.events.get(`${type}@${version}`);
    if (check === undefined) {
      const declared = [...this.#rules.events.keys()].slice(0, 5).map((name) => quote(name));
      return `it is not declared, declared ${declared.length === 0 ? "is none" : `are ${declared.join(", ")}`}`;
    }
    if (text === null) return "its payload is no JSON value";
    return check === null ? null : check(JSON.parse(text) as unknown);
  }
}
