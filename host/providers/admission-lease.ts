/** Where a lease came from. */
export interface LeaseGiver {
  /** The slot is free again. */
  returned(lease: AdmissionLease): void;
  /** The lease had been released before. */
  returnedAgain(): void;
}

/** A capacity slot, held by one run from its start to its end. */
export class AdmissionLease {
  /** Whose slot it is. */
  readonly providerId: string;
  readonly #giver: LeaseGiver;
  #held = true;

  constructor(providerId: string, giver: LeaseGiver) {
    this.providerId = providerId;
    this.#giver = giver;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Gives the slot back. A second release does nothing and is counted; it never throws. */
  release(): void {
    if (!this.#held) {
      this.#giver.returnedAgain();
      return;
    }
    this.#held = false;
    this.#giver.returned(this);
  }
}
