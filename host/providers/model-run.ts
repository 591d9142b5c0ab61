import type { Limits } from "../manifest/manifest.ts";
import type { Clock } from "./clock.ts";
import { nativeUsage } from "./emitter.ts";
import type { RunPhase, RunReport } from "./outcome.ts";
import type { Emitter, RunAccount } from "./provider.ts";

/** The account of one run of a model provider: its times and its limits. */
export class ModelRun implements RunAccount {
  readonly phase: RunPhase = "guest";
  readonly limits: Limits;
  readonly wallMs: number;
  readonly #emitter: Emitter;
  readonly #startedAt: number;

  constructor(limits: Limits, emitter: Emitter, clock: Clock) {
    this.limits = limits;
    this.wallMs = limits.wallMs;
    this.#emitter = emitter;
    this.#startedAt = clock.now();
  }

  report(endedAt: number): RunReport {
    return {
      usage: nativeUsage(this.#emitter.submittedAt ?? this.#startedAt, this.#startedAt, endedAt),
      limits: this.limits,
      events: { accepted: 0, refused: 0 },
      evidence: null,
    };
  }
}
