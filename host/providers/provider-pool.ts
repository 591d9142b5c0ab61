import { HostError, quote } from "../errors/errors.ts";
import { AdmissionLease, type LeaseGiver } from "./admission-lease.ts";
import type { ResolvedCatalog } from "./pool-catalog.ts";
import { type Place, WaitingLine } from "./waiting-line.ts";

/** Who waits for a slot. */
export interface Waiter {
  /** The slot is there, and the lease is the waiter's to release. Called at most once, not after `leave`. Must not throw. */
  granted(lease: AdmissionLease): void;
}

/** A place in the pool's queue. */
export interface QueuePlace {
  readonly place: Place<Waiter>;
  readonly line: WaitingLine<Waiter>;
}

/** Numbers of a pool. */
export interface ProviderPoolStats {
  readonly capacity: number;
  /** Slots that runs hold; of a provider that is gone too. */
  readonly inUse: number;
  readonly waiting: number;
  /** Leases given out so far. */
  readonly granted: number;
  /** Leases that were released when they had been before. */
  readonly releasedAgain: number;
}

/**
 * The slots of the candidates of a catalog. A run gets one of the candidate that it names, or of any: of those that are
 * connected and have a free slot the one with the highest priority, then with the most free slots, then the first in the catalog.
 * No candidate is avoided because of what happened before, none is probed. Who finds no free slot waits; a full queue refuses at once.
 */
export class ProviderPool implements LeaseGiver {
  readonly #queueBound: number;
  readonly #ahead: number;
  readonly #candidates = new Map<string, Candidate>();
  readonly #capacity: number;
  /** Who takes any candidate. */
  readonly #anyone = new WaitingLine<Waiter>();
  #inUse = 0;
  #waiting = 0;
  #arrivals = 0;
  #granted = 0;
  #releasedAgain = 0;
  #granting = false;

  constructor({ candidates, queue, ahead = 0 }: ResolvedCatalog) {
    this.#queueBound = queue;
    this.#ahead = ahead;
    // The order of choice, so that choosing is a walk to the first that fits: the sort keeps the catalog's order.
    for (const { providerId, capacity, priority } of [...candidates].sort((a, b) => b.priority - a.priority)) {
      this.#candidates.set(providerId, {
        providerId,
        capacity,
        priority,
        inUse: 0,
        connected: false,
        line: new WaitingLine(),
      });
    }
    this.#capacity = candidates.reduce((sum, { capacity }) => sum + capacity, 0);
  }

  /**
   * A lease at once, or a place in the queue. `wanted` is a candidate's id, or null for any; of those who wait, the highest `priority`
   * is served first, then who came first. Throws AIRLOCK_PROVIDERS_UNAVAILABLE when nobody who is wanted is connected,
   * AIRLOCK_POOL_QUEUE_FULL when the run would have to wait and as many wait as may.
   */
  enter(waiter: Waiter, wanted: string | null, priority: number): AdmissionLease | QueuePlace {
    // While the queue is being served, a free slot may be somebody's who came before.
    const candidate = this.#granting && this.#waiting > 0 ? null : this.#choose(wanted);
    if (candidate !== null) return this.#lease(candidate);
    if (!this.reachable(wanted)) throw unreachable(wanted);
    if (this.#waiting >= this.#queueBound) throw full(this.#waiting + this.#ahead, this.#queueBound + this.#ahead);
    const line = wanted === null ? this.#anyone : this.#candidates.get(wanted)!.line;
    this.#waiting++;
    return { line, place: line.join(waiter, priority, this.#arrivals++) };
  }

  /** Waits no more. Does nothing for who got a slot or has left. */
  leave({ line, place }: QueuePlace): void {
    if (line.leave(place)) this.#waiting--;
  }

  /** Whether a run for the candidate, or for any, can get a slot at all. */
  reachable(wanted: string | null): boolean {
    if (wanted !== null) return this.#candidates.get(wanted)?.connected === true;
    for (const { connected } of this.#candidates.values()) if (connected) return true;
    return false;
  }

  /** Sets whether a candidate is connected. Answers whom nobody can serve any more: they have left the queue. */
  connect(providerId: string, connected: boolean): readonly Waiter[] {
    const candidate = this.#candidates.get(providerId);
    if (candidate === undefined || candidate.connected === connected) return [];
    candidate.connected = connected;
    if (connected) {
      this.#grant();
      return [];
    }
    const stranded = this.#clear(candidate.line);
    return this.reachable(null) ? stranded : stranded.concat(this.#clear(this.#anyone));
  }

  returned(lease: AdmissionLease): void {
    this.#candidates.get(lease.providerId)!.inUse--;
    this.#inUse--;
    this.#grant();
  }

  returnedAgain(): void {
    this.#releasedAgain++;
  }

  /** Slots that the candidate has, and those that runs hold. */
  slotsOf(providerId: string): { readonly capacity: number; readonly inUse: number } {
    const { capacity, inUse } = this.#candidates.get(providerId)!;
    return { capacity, inUse };
  }

  stats(): ProviderPoolStats {
    return {
      capacity: this.#capacity,
      inUse: this.#inUse,
      waiting: this.#waiting,
      granted: this.#granted,
      releasedAgain: this.#releasedAgain,
    };
  }

  #choose(wanted: string | null): Candidate | null {
    if (wanted !== null) {
      const candidate = this.#candidates.get(wanted);
      return candidate !== undefined && freeSlots(candidate) > 0 ? candidate : null;
    }
    let best: Candidate | null = null;
    for (const candidate of this.#candidates.values()) {
      if (best !== null && candidate.priority < best.priority) break;
      if (freeSlots(candidate) > (best === null ? 0 : freeSlots(best))) best = candidate;
    }
    return best;
  }

  #lease(candidate: Candidate): AdmissionLease {
    candidate.inUse++;
    this.#inUse++;
    this.#granted++;
    return new AdmissionLease(candidate.providerId, this);
  }

  /** Serves who waits. A run that ends right as it begins comes back here: a loop, or a long queue would become a deep stack. */
  #grant(): void {
    if (this.#granting || this.#waiting === 0) return;
    this.#granting = true;
    try {
      for (let next = this.#next(); next !== null; next = this.#next()) {
        const { candidate, line, place } = next;
        line.leave(place);
        this.#waiting--;
        place.value.granted(this.#lease(candidate));
      }
    } finally {
      this.#granting = false;
    }
  }

  /** Who is next of those for whom there is a slot. */
  #next(): { candidate: Candidate; line: WaitingLine<Waiter>; place: Place<Waiter> } | null {
    if (this.#waiting === 0) return null;
    let next: { candidate: Candidate; line: WaitingLine<Waiter>; place: Place<Waiter> } | null = null;
    const anyone = this.#anyone.first;
    const chosen = anyone === null ? null : this.#choose(null);
    if (anyone !== null && chosen !== null) next = { candidate: chosen, line: this.#anyone, place: anyone };
    for (const candidate of this.#candidates.values()) {
      const { first } = candidate.line;
      if (first === null || freeSlots(candidate) <= 0) continue;
      if (next === null || isBefore(first, next.place)) next = { candidate, line: candidate.line, place: first };
    }
    return next;
  }

  #clear(line: WaitingLine<Waiter>): Waiter[] {
    const waiters: Waiter[] = [];
    for (let place = line.first; place !== null; place = line.first) {
      line.leave(place);
      this.#waiting--;
      waiters.push(place.value);
    }
    return waiters;
  }
}

interface Candidate {
  readonly providerId: string;
  readonly capacity: number;
  readonly priority: number;
  inUse: number;
  connected: boolean;
  readonly line: WaitingLine<Waiter>;
}

function freeSlots({ connected, capacity, inUse }: Candidate): number {
  return connected ? capacity - inUse : 0;
}

function isBefore(a: Place<Waiter>, b: Place<Waiter>): boolean {
  return a.priority === b.priority ? a.order < b.order : a.priority > b.priority;
}

function full(waiting: number, bound: number): HostError {
  return new HostError(
    "AIRLOCK_POOL_QUEUE_FULL",
    `Cannot start the run: ${waiting} runs wait and the queue holds ${bound}; try again later or raise the option queue`,
  );
}

/** The refusal of a run for a provider that is not connected; null for a pool of which none is. */
export function unreachable(wanted: string | null): HostError {
  const who =
    wanted === null ? "no provider of the pool is connected" : `the provider ${quote(wanted)} is not connected`;
  return new HostError("AIRLOCK_PROVIDERS_UNAVAILABLE", `Cannot start the run: ${who}; try again when it is`);
}
