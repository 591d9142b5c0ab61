import type { FuncType } from "../component/component.ts";
import type { Codec } from "./codec.ts";
import type { Codecs } from "./codecs.ts";
import type { CoreFunction, CoreValue, Guest } from "./guest.ts";
import { tupleCodec } from "./record-codecs.ts";

/** How one function is called across the boundary; compiled once, used by every instance. */
export class Signature {
  readonly type: FuncType;
  readonly #params: Codec;
  readonly #result: Codec | null;
  /** How many core parameters there are before the one that points to where the result goes. */
  readonly #flatParams: number;
  readonly #resultInMemory: boolean;
  readonly #isResult: boolean;

  constructor(type: FuncType, codecs: Codecs) {
    this.type = type;
    this.#params = tupleCodec(type.params.map((param) => codecs.of(param.type)));
    this.#result = type.result === null ? null : codecs.of(type.result);
    this.#flatParams = this.#params.flat?.length ?? 1;
    this.#resultInMemory = this.#result !== null && this.#result.flat?.length !== 1;
    this.#isResult = type.result?.kind === "result";
  }

  /**
   * Calls a core function with the host's values and reads its result. `err` of a result is thrown as it is, as jco's glue does
   * it: no error of JavaScript is a WIT value.
   */
  callGuest(guest: Guest, core: CoreFunction, postReturn: CoreFunction | null, args: readonly unknown[]): unknown {
    const value = this.enter(guest, core, postReturn, args);
    if (!this.#isResult) return value;
    const { tag, val } = value as { readonly tag: string; readonly val?: unknown };
    if (tag === "err") throw val;
    return val;
  }

  /** Carries out a call of the guest with a function of the host. */
  callHost(guest: Guest, host: (...args: unknown[]) => unknown, values: readonly CoreValue[]): CoreValue | undefined {
    return this.serve(guest, values, (args) => (this.#isResult ? answerOf(host, args) : host(...args)));
  }

  /** Calls a core function with values and gives its value, whatever that is. */
  enter(guest: Guest, core: CoreFunction, postReturn: CoreFunction | null, args: readonly unknown[]): unknown {
    guest.refresh();
    const returned = core(...this.#lowerParams(guest, args));
    guest.refresh();
    const value = this.#liftResult(guest, returned as CoreValue | undefined);
    if (postReturn !== null) {
      if (this.#result === null) postReturn();
      else postReturn(returned as CoreValue);
    }
    return value;
  }

  /** Carries out a call of the guest with what answers for its values. */
  serve(guest: Guest, values: readonly CoreValue[], answerFor: (args: unknown[]) => unknown): CoreValue | undefined {
    guest.refresh();
    const answer = answerFor(this.#liftParams(guest, values));
    if (this.#result === null) return undefined;
    guest.refresh();
    if (!this.#resultInMemory) {
      const into: CoreValue[] = [];
      this.#result.lower(guest, answer, into, 0);
      return into[0];
    }
    const at = (values[this.#flatParams] as number) >>> 0;
    guest.check(at, this.#result.size, this.#result.align);
    this.#result.store(guest, answer, at);
    return undefined;
  }

  #lowerParams(guest: Guest, args: readonly unknown[]): readonly CoreValue[] {
    const values: CoreValue[] = [];
    if (this.#params.flat !== null) {
      this.#params.lower(guest, args, values, 0);
    } else {
      const at = guest.allocate(this.#params.align, this.#params.size);
      this.#params.store(guest, args, at);
      values.push(at);
    }
    return values;
  }

  #liftParams(guest: Guest, values: readonly CoreValue[]): unknown[] {
    if (this.#params.flat !== null) return this.#params.lift(guest, values, 0) as unknown[];
    const at = (values[0] as number) >>> 0;
    guest.check(at, this.#params.size, this.#params.align);
    return this.#params.load(guest, at) as unknown[];
  }

  #liftResult(guest: Guest, returned: CoreValue | undefined): unknown {
    if (this.#result === null) return undefined;
    if (!this.#resultInMemory) return this.#result.lift(guest, [returned!], 0);
    const at = (returned as number) >>> 0;
    guest.check(at, this.#result.size, this.#result.align);
    return this.#result.load(guest, at);
  }
}

/** What a host's function for a WIT `result` answers: a tagged value as it is, else the value of `ok`, or what it throws. */
function answerOf(host: (...args: unknown[]) => unknown, args: readonly unknown[]): unknown {
  let answer: unknown;
  try {
    answer = host(...args);
  } catch (thrown) {
    if (typeof thrown === "object" && thrown !== null && Object.hasOwn(thrown, "payload"))
      return { tag: "err", val: (thrown as { payload: unknown }).payload };
    if (thrown instanceof Error) throw thrown;
    return { tag: "err", val: thrown };
  }
  const tag = typeof answer === "object" && answer !== null ? (answer as { tag?: unknown }).tag : undefined;
  return tag === "ok" || tag === "err" ? answer : { tag: "ok", val: answer };
}
