import type { LinkHooks } from "./guest.ts";

/** A resource type of a running component instance. */
export interface RunningResource {
  readonly name: string;
  readonly component: number;
  destroy(rep: number): void;
}

/** A resource on its way from one component to another. */
export interface Passed {
  readonly type: RunningResource;
  readonly rep: number;
}

interface Handle extends Passed {
  readonly own: boolean;
  /** Calls that have borrowed it and go on. */
  lends: number;
}

/**
 * The handles of one component instance: https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md#resource-state
 * What a resource is it says itself; a mention of its type is compared by name.
 */
export class Handles {
  readonly component: number;
  readonly #hooks: LinkHooks;
  /** Index 0 is never a handle. */
  #handles: (Handle | null)[] = [null];
  #free: number[] = [];
  /** Handles that the call which goes on has lent, and borrowed handles that it has not dropped yet. */
  #lent: Handle[] = [];
  #borrowed = 0;

  constructor(component: number, hooks: LinkHooks) {
    this.component = component;
    this.#hooks = hooks;
  }

  addOwn({ type, rep }: Passed): number {
    return this.#add({ type, rep, own: true, lends: 0 });
  }

  /** A borrowed resource as a callee sees it: where it is defined, its representation, else a handle for this call. */
  addBorrow({ type, rep }: Passed): number {
    if (type.component === this.component) return rep;
    this.#borrowed++;
    return this.#add({ type, rep, own: false, lends: 0 });
  }

  /** The representation of a resource of a type that this component defines. */
  rep(index: number, type: RunningResource): number {
    const handle = this.#at(index, type.name);
    // Names are not enough: those of types that are not exported are all empty.
    if (handle.type !== type) this.#hooks.trap(`the guest has no handle ${index} of the resource asked for`);
    return handle.rep;
  }

  takeOwn(index: number, name: string): Passed {
    const handle = this.#at(index, name);
    if (!handle.own) this.#hooks.trap("the guest gave away a resource that it has borrowed");
    this.#remove(index, handle);
    return handle;
  }

  lend(index: number, name: string): Passed {
    const handle = this.#at(index, name);
    handle.lends++;
    this.#lent.push(handle);
    return handle;
  }

  drop(index: number, name: string): void {
    const handle = this.#at(index, name);
    this.#remove(index, handle);
    if (handle.own) handle.type.destroy(handle.rep);
    else this.#borrowed--;
  }

  /** How many there are. */
  get open(): number {
    return this.#handles.length - 1 - this.#free.length;
  }

  /** Notes all handles, between calls; the answer puts them back. */
  remember(): () => void {
    const handles = this.#handles.slice();
    const free = this.#free.slice();
    return () => {
      this.#handles = handles.slice();
      this.#free = free.slice();
      this.#lent = [];
      this.#borrowed = 0;
    };
  }

  /** Runs a call that this component makes: what it lends comes back with the end of the call. */
  lending<T>(call: () => T): T {
    const outer = this.#lent;
    this.#lent = [];
    try {
      return call();
    } finally {
      for (const handle of this.#lent) handle.lends--;
      this.#lent = outer;
    }
  }

  /** Runs a call of this component: what it borrows it must have dropped at the end. */
  borrowing<T>(call: () => T): T {
    const outer = this.#borrowed;
    this.#borrowed = 0;
    const result = call();
    if (this.#borrowed !== 0) this.#hooks.trap("the guest kept a resource that it has borrowed");
    this.#borrowed = outer;
    return result;
  }

  #add(handle: Handle): number {
    this.#hooks.countHandles(1);
    const index = this.#free.pop() ?? this.#handles.length;
    this.#handles[index] = handle;
    return index;
  }

  #at(index: number, name: string): Handle {
    const handle = this.#handles[index];
    if (handle === undefined || handle === null || handle.type.name !== name)
      return this.#hooks.trap(`the guest has no handle ${index} of the resource asked for`);
    return handle;
  }

  #remove(index: number, handle: Handle): void {
    if (handle.lends > 0) this.#hooks.trap("the guest dropped a resource that it has lent");
    this.#hooks.countHandles(-1);
    this.#handles[index] = null;
    this.#free.push(index);
  }
}
