import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { HostError, messageOf } from "../errors/errors.ts";
import {
  OPENING_ID,
  type StoreAnswer,
  type StoreArguments,
  type StoreCalls,
  type StoreMethod,
  type StoreNouns,
  type StoreReply,
  type StoreRequest,
} from "./protocol.ts";
import type { ResolvedStoreOptions } from "./store-options.ts";

/** Calls of one store that may be under way at once: far more than hosts make, and few enough to be kept. */
const MOST_CALLS = 10_000;
/** For the code, pages of keys and rows; bodies and SQLite's own memory are beside it. */
const HEAP_MEGABYTES = 64;
const YOUNG_MEGABYTES = 8;

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: HostError) => void;
}

/**
 * A thread that has a store to itself, and the calls to it. It keeps the process alive while a call is under way, and not otherwise. Once it
 * has ended without having been closed, every call rejects with AIRLOCK_STORE_UNAVAILABLE.
 */
export class ThreadCalls implements StoreCalls {
  /** The store's directory. Rejects with what the opening was refused with; then the thread ends. */
  readonly opened: Promise<string>;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = OPENING_ID;
  #closing = false;
  /** Why the thread is gone; null while it is not. */
  #gone: string | null = null;

  constructor(options: ResolvedStoreOptions) {
    this.#worker = startThread(options);
    let problem: unknown = null;
    this.#worker.on("message", (reply: StoreReply) => this.#settle(reply));
    this.#worker.on("error", (error) => {
      problem = error;
    });
    this.#worker.on("messageerror", (error) => {
      problem = error;
      void this.#worker.terminate();
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#end(problem === null ? "it was stopped" : messageOf(problem));
        resolve();
      });
    });
    this.opened = this.#answerTo(OPENING_ID);
  }

  async ask<Noun extends keyof StoreNouns, Method extends StoreMethod<Noun>>(
    noun: Noun,
    method: Method,
    ...args: StoreArguments<Noun, Method>
  ): Promise<StoreAnswer<Noun, Method>> {
    if (this.#closing) throw new HostError("AIRLOCK_STORE_CLOSED", "Cannot use the store: it is closed");
    if (this.#gone !== null) throw gone(this.#gone);
    if (this.#waiting.size === MOST_CALLS) {
      throw new HostError(
        "AIRLOCK_STORE_BUSY",
        `Cannot use the store: ${MOST_CALLS} calls wait for their answers: at most as many are wanted; the same call can work later`,
      );
    }
    const id = ++this.#lastId;
    const buffers = args.flatMap((arg: unknown) => (arg instanceof Uint8Array ? (arg.buffer as ArrayBuffer) : []));
    this.#post({ kind: "call", id, noun, method, args }, buffers);
    return this.#answerTo(id);
  }

  /** Resolves when what was asked before has been answered and the thread has ended, however it did. Idempotent. */
  close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.#worker.ref();
      this.#post({ kind: "close" });
    }
    return this.#ended;
  }

  #post(request: StoreRequest, buffers: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, buffers);
  }

  #answerTo<Answer>(id: number): Promise<Answer> {
    if (this.#waiting.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #settle(reply: StoreReply): void {
    const waiting = this.#waiting.get(reply.id)!;
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0 && !this.#closing) this.#worker.unref();
    if (reply.kind === "answered") waiting.resolve(reply.answer as never);
    else waiting.reject(HostError.fromRecord(reply.error));
  }

  /** Replies that were sent before have come before. */
  #end(why: string): void {
    this.#gone = why;
    for (const { reject } of this.#waiting.values()) reject(gone(why));
    this.#waiting.clear();
  }
}

function gone(why: string): HostError {
  return new HostError(
    "AIRLOCK_STORE_UNAVAILABLE",
    `Cannot use the store: its thread has ended (${why}), and a write that it has not answered was done as a whole or not at all: the store can be opened again`,
  );
}

function startThread(options: ResolvedStoreOptions): Worker {
  const { program, isText } = entryPoint();
  try {
    return new Worker(program, {
      eval: isText,
      workerData: options,
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES, maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
    });
  } catch (thrown) {
    const message = `Cannot open the store: no thread can be started (${messageOf(thrown)}): one for each store is wanted`;
    throw new HostError("AIRLOCK_STORE_UNAVAILABLE", message, { cause: thrown });
  }
}

/** As the pool finds its own: beside this file as source or built, or in the installed package where the program is one file. */
function entryPoint(): { readonly program: string; readonly isText: boolean } {
  const from = import.meta.url;
  const beside = dirname(fileURLToPath(from));
  if (from.endsWith(".ts")) {
    // A thread does not take the hooks of `--import tsx` for the file that it begins with.
    const tsx = JSON.stringify(createRequire(from).resolve("tsx/cjs/api"));
    const file = JSON.stringify(join(beside, "store-thread.ts"));
    return { program: `require(${tsx}).register(); require(${file});`, isText: true };
  }
  const built = join(beside, "store-thread.js");
  if (existsSync(built)) return { program: built, isText: false };
  for (const root of [from, pathToFileURL(join(process.cwd(), "package.json")).href]) {
    try {
      const installed = dirname(createRequire(root).resolve("airlock/package.json"));
      return { program: join(installed, "dist", "store", "store-thread.js"), isText: false };
    } catch {
      // Not installed as seen from there.
    }
  }
  throw new HostError(
    "AIRLOCK_STORE_UNAVAILABLE",
    `Cannot open the store: there is no ${built}: keep the package airlock installed beside a bundled application`,
  );
}
