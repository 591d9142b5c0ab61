import { messageOf } from "../errors/errors.ts";
import type { Encoded, Endpoint } from "./endpoint.ts";
import type { RunEvent } from "./provider.ts";
import type { RecordFormat } from "./record-format.ts";
import { encodeRecord } from "./writable-endpoint.ts";

/** What the room needs of the writer of a `WritableStream`. */
interface WebWriter {
  readonly ready: Promise<unknown>;
  readonly closed: Promise<unknown>;
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** What the room needs of a `WritableStream` of the web platform. */
export interface WebTarget {
  getWriter(): WebWriter;
}

/** Writes records, as UTF-8, to a stream of the web platform, which it closes. */
export class WebEndpoint implements Endpoint<string> {
  readonly #writer: WebWriter;
  readonly #format: RecordFormat;
  #ended = false;
  readonly #utf8 = new TextEncoder();

  /** Locks the stream; throws the platform's TypeError for one that is locked. */
  constructor(target: WebTarget, format: RecordFormat) {
    this.#writer = target.getWriter();
    this.#format = format;
  }

  encode(event: RunEvent, sequence: number): Encoded<string> {
    return encodeRecord(this.#format, event, sequence);
  }

  async send(record: string): Promise<void> {
    await this.#writer.ready;
    await this.#writer.write(this.#utf8.encode(record));
  }

  end(): Promise<void> {
    this.#ended = true;
    return this.#writer.close();
  }

  watch(gone: (message: string) => void): () => void {
    let watching = true;
    const left = (why: string): void => {
      if (watching) gone(why);
    };
    this.#writer.closed.then(
      () => void (this.#ended || left("the stream was closed by someone else")),
      (error: unknown) => left(`the reader left: ${messageOf(error)}`),
    );
    return () => {
      watching = false;
    };
  }
}
