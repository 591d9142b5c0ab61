/** The labels of one function in their order, and which of them a `br_table` aims at. */
export class BranchTargets {
  /** True when targets of one `br_table` owed different values, so that the function must be scanned again. */
  hasConflict = false;
  private isForcing = false;
  private count = 0;
  private aimedAt = new Uint8Array(256);

  /** Starts a function. In a second scan the labels found in the first one are forced to owe nothing. */
  start(isSecondScan: boolean): void {
    if (!isSecondScan) this.aimedAt.fill(0, 0, this.count);
    this.isForcing = isSecondScan;
    this.hasConflict = false;
    this.count = 0;
  }

  /** The ordinal of the label that opens next; the function's own is 0. */
  next(): number {
    const ordinal = this.count++;
    if (ordinal === this.aimedAt.length) {
      const longer = new Uint8Array(ordinal * 2);
      longer.set(this.aimedAt);
      this.aimedAt = longer;
    }
    return ordinal;
  }

  aimAt(ordinal: number): void {
    this.aimedAt[ordinal] = 1;
  }

  isForced(ordinal: number): boolean {
    return this.isForcing && this.aimedAt[ordinal] === 1;
  }
}
