import type { ErrorRecord } from "../errors/errors.ts";
import type { SqliteEntries } from "./sqlite-entries.ts";
import type { SqliteSchedule } from "./sqlite-schedule.ts";

/** What a store is asked about, and by whom that is answered in its thread. */
export interface StoreNouns {
  readonly entries: SqliteEntries;
  readonly schedule: SqliteSchedule;
}

export type StoreMethod<Noun extends keyof StoreNouns> = keyof StoreNouns[Noun] & string;

export type StoreArguments<
  Noun extends keyof StoreNouns,
  Method extends StoreMethod<Noun>,
> = StoreNouns[Noun][Method] extends (...args: infer Arguments) => unknown ? Arguments : never;

export type StoreAnswer<
  Noun extends keyof StoreNouns,
  Method extends StoreMethod<Noun>,
> = StoreNouns[Noun][Method] extends (...args: never[]) => infer Answer ? Answer : never;

/** What answers calls with checked arguments, in the order in which they were made. A body among the arguments is given away. */
export interface StoreCalls {
  ask<Noun extends keyof StoreNouns, Method extends StoreMethod<Noun>>(
    noun: Noun,
    method: Method,
    ...args: StoreArguments<Noun, Method>
  ): Promise<StoreAnswer<Noun, Method>>;
}

/** The id of the opening, which the thread begins by itself and answers with the directory. */
export const OPENING_ID = 0;

/** What a thread is asked once it has opened its store, for which it has the resolved options as `workerData`. */
export type StoreRequest =
  | {
      readonly kind: "call";
      /** Grows from call to call. */
      readonly id: number;
      readonly noun: keyof StoreNouns;
      readonly method: string;
      readonly args: readonly unknown[];
    }
  /** Ends the thread. It has no answer but that. */
  | { readonly kind: "close" };

/** Replies come in the order of the calls. After a refused opening the thread ends. */
export type StoreReply =
  | { readonly kind: "answered"; readonly id: number; readonly answer: unknown }
  | { readonly kind: "refused"; readonly id: number; readonly error: ErrorRecord };
