import { messageOf } from "../errors/errors.ts";
import type { Encoded, Endpoint } from "./endpoint.ts";
import type { RunEvent } from "./provider.ts";
import type { RecordFormat } from "./record-format.ts";

/** Tells when it is closed, as every stream of Node does. */
export interface ClosableTarget {
  on(event: string, listener: (error?: unknown) => void): unknown;
  removeListener(event: string, listener: (error?: unknown) => void): unknown;
  readonly destroyed?: boolean;
  /** A response of HTTP/2 does not say by itself that it is destroyed. */
  readonly stream?: { readonly destroyed: boolean };
}

/** What the room needs of a `Writable` of Node: a response of HTTP or HTTP/2, a socket, a file. */
export interface WritableTarget extends ClosableTarget {
  write(text: string): boolean;
  end(): unknown;
  readonly writableEnded?: boolean;
}

/** Characters that are written at once: of a long record the rest waits here, not in the socket. */
const MOST_AT_ONCE = 16 * 1024;

/** Writes records to a stream of Node, which it ends. */
export class WritableEndpoint implements Endpoint<string> {
  readonly #target: WritableTarget;
  readonly #format: RecordFormat;
  #finished = false;

  constructor(target: WritableTarget, format: RecordFormat) {
    this.#target = target;
    this.#format = format;
  }

  encode(event: RunEvent, sequence: number): Encoded<string> {
    return encodeRecord(this.#format, event, sequence);
  }

  send(record: string): Promise<void> | null {
    // Most records are short, and cost no promise.
    if (record.length > MOST_AT_ONCE) return this.#sendLong(record);
    return this.#target.write(record) ? null : once(this.#target, "drain");
  }

  async end(): Promise<void> {
    const finished = once(this.#target, "finish", () => {
      this.#finished = true;
    });
    this.#target.end();
    await finished;
  }

  watch(gone: (message: string) => void): () => void {
    if (this.#target.writableEnded) gone("the stream was ended by someone else");
    // A stream that has finished closes in the same turn, before anyone who waits for the finish hears of it.
    return watchClosing(this.#target, (message) => void (this.#finished || gone(message)));
  }

  async #sendLong(record: string): Promise<void> {
    for (let from = 0, to = 0; from < record.length; from = to) {
      to = pieceEnd(record, from);
      if (!this.#target.write(record.slice(from, to))) await once(this.#target, "drain");
    }
  }
}

export function encodeRecord(format: RecordFormat, event: RunEvent, sequence: number): Encoded<string> {
  const message = format.record(event, sequence);
  return { message, bytes: Buffer.byteLength(message) };
}

/** Calls `gone` when the target is closed or fails, at once if it was closed before. */
export function watchClosing(target: ClosableTarget, gone: (message: string) => void): () => void {
  const closed = (): void => gone("the client closed the connection before everything was sent");
  const failed = (error: unknown): void => gone(`the connection failed: ${messageOf(error)}`);
  if (target.destroyed || target.stream?.destroyed) closed();
  target.on("close", closed);
  target.on("error", failed);
  return () => {
    target.removeListener("close", closed);
    // An error that comes later must find a listener still, or it would end the process. `gone` takes none any more.
  };
}

/** Where a piece may end: not between the halves of a character. */
function pieceEnd(text: string, from: number): number {
  const end = from + MOST_AT_ONCE;
  if (end >= text.length) return text.length;
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}

/** Settles when the target says so. Never, when it does not: whoever waits learns by `watch` that it is closed. */
function once(target: ClosableTarget, event: string, then: () => void = () => {}): Promise<void> {
  return new Promise((resolve) => {
    const heard = (): void => {
      target.removeListener(event, heard);
      then();
      resolve();
    };
    target.on(event, heard);
  });
}
