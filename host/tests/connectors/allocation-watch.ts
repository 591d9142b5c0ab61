/** A value of JavaScript's own, of which functions are replaced for a while. */
type Owner = Record<string, (...args: unknown[]) => unknown>;

const MAKERS = ["alloc", "allocUnsafe", "allocUnsafeSlow", "concat", "from"];

/**
 * How long the longest buffer and the longest text of JSON are that this thread makes or reads, from here to the end of the scope. What is made
 * natively, such as the parts of 64 KiB in which a socket is read, is not seen.
 */
export class AllocationWatch implements Disposable {
  /** Bytes of a buffer, or characters of a text. */
  longest = 0;
  readonly #restorers: (() => void)[] = [];

  constructor() {
    for (const name of MAKERS) this.#watch(Buffer as unknown as Owner, name, (made) => (made as Buffer).length);
    this.#watch(JSON as unknown as Owner, "parse", (_, text) => String(text).length);
    this.#watch(JSON as unknown as Owner, "stringify", (made) => (typeof made === "string" ? made.length : 0));
  }

  [Symbol.dispose](): void {
    for (const restore of this.#restorers) restore();
  }

  #watch(owner: Owner, name: string, lengthOf: (made: unknown, given: unknown) => number): void {
    const original = owner[name]!;
    owner[name] = (...args) => {
      const made = Reflect.apply(original, owner, args);
      this.longest = Math.max(this.longest, lengthOf(made, args[0]));
      return made;
    };
    this.#restorers.push(() => {
      owner[name] = original;
    });
  }
}
