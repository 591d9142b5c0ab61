import { count } from "./budget.ts";
import type { ImportScope } from "./scope.ts";

/**
 * The base class of one run's resources: an object counts against `handles` until the guest drops it. A resource keeps what
 * it knows in private fields, because for a handle that the guest invented the glue makes an object without running the
 * constructor: reading a private field of such an object throws, reading a plain property would not.
 */
export function handleClass(scope: ImportScope): new () => Disposable {
  return class Handle {
    #open = true;

    constructor() {
      count(scope, "handles", 1);
    }

    [Symbol.dispose](): void {
      if (!this.#open) return;
      this.#open = false;
      scope.counters.handles -= 1;
    }
  };
}
