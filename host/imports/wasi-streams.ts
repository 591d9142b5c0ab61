import { guardClass } from "./guard.ts";
import { handleClass } from "./handle.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";
import type { WasiPoll } from "./wasi-poll.ts";

/** What an input stream reads from. */
export interface ByteSource {
  /** The next bytes, at most `length`. Throws a `stream-error` of WASI, as `CLOSED` or as `WasiStreams.failure` makes it. */
  read(length: number): Uint8Array;
}

/** What an output stream writes to. */
export interface ByteSink {
  write(bytes: Uint8Array): void;
}

/** `wasi:io/error` and `wasi:io/streams`, and the ways to make their resources. */
export interface WasiStreams {
  readonly interfaces: Record<string, ImportedInterface>;
  inputStream(source: ByteSource): object;
  outputStream(sink: ByteSink): object;
  /** The `stream-error` for an operation that failed with an error code of another interface. */
  failure(code: string): object;
  /** That code, of an error that a guest hands back. */
  codeOf(error: object): string;
}

/** The `stream-error` of a stream that has no more bytes. */
export const CLOSED = Object.freeze({ tag: "closed" });

/** The most that one call reads, writes or skips, whatever length it names. */
export const MOST_STREAM_BYTES = 64 * 1024;

export function wasiStreams(scope: ImportScope, poll: WasiPoll): WasiStreams {
  const Handle = handleClass(scope);
  class IoError extends Handle {
    readonly #code: string;

    constructor(code: string) {
      super();
      this.#code = code;
    }

    static codeOf(error: IoError): string {
      return error.#code;
    }

    toDebugString(): string {
      return this.#code;
    }
  }

  class InputStream extends Handle {
    readonly #source: ByteSource;

    constructor(source: ByteSource) {
      super();
      this.#source = source;
    }

    static take(stream: InputStream, length: bigint): Uint8Array {
      const bytes = stream.#source.read(length > MOST_STREAM_BYTES ? MOST_STREAM_BYTES : Number(length));
      scope.charge(bytes.byteLength * PRICES.byte);
      return bytes;
    }

    read(length: bigint): Uint8Array {
      return InputStream.take(this, length);
    }

    blockingRead(length: bigint): Uint8Array {
      return InputStream.take(this, length);
    }

    skip(length: bigint): bigint {
      return BigInt(InputStream.take(this, length).byteLength);
    }

    blockingSkip(length: bigint): bigint {
      return BigInt(InputStream.take(this, length).byteLength);
    }

    subscribe(): object {
      return poll.pollable(0n);
    }
  }

  class OutputStream extends Handle {
    readonly #sink: ByteSink;

    constructor(sink: ByteSink) {
      super();
      this.#sink = sink;
    }

    checkWrite(): bigint {
      return BigInt(MOST_STREAM_BYTES);
    }

    write(contents: Uint8Array): void {
      this.#sink.write(contents);
    }

    blockingWriteAndFlush(contents: Uint8Array): void {
      this.#sink.write(contents);
    }

    flush(): void {}

    blockingFlush(): void {}

    writeZeroes(length: bigint): void {
      this.#sink.write(zeroes(length));
    }

    blockingWriteZeroesAndFlush(length: bigint): void {
      this.#sink.write(zeroes(length));
    }

    splice(source: InputStream, length: bigint): bigint {
      return splice(this.#sink, source, length);
    }

    blockingSplice(source: InputStream, length: bigint): bigint {
      return splice(this.#sink, source, length);
    }

    subscribe(): object {
      return poll.pollable(0n);
    }
  }

  const splice = (sink: ByteSink, source: InputStream, length: bigint): bigint => {
    const bytes = InputStream.take(source, length);
    sink.write(bytes);
    return BigInt(bytes.byteLength);
  };
  const zeroes = (length: bigint): Uint8Array => {
    if (length > MOST_STREAM_BYTES)
      scope.stop({ kind: "trapped", what: "more zeroes were written than check-write allows" });
    scope.charge(Number(length) * PRICES.byte);
    return new Uint8Array(Number(length));
  };
  guardClass(scope, "wasi:io/error", PRICES.local, IoError);
  guardClass(scope, "wasi:io/streams", PRICES.local, InputStream);
  guardClass(scope, "wasi:io/streams", PRICES.local, OutputStream);
  return {
    interfaces: { "wasi:io/error": { Error: IoError }, "wasi:io/streams": { InputStream, OutputStream } },
    inputStream: (source) => new InputStream(source),
    outputStream: (sink) => new OutputStream(sink),
    failure: (code) => ({ tag: "last-operation-failed", val: new IoError(code) }),
    codeOf: (error) => IoError.codeOf(error as IoError),
  };
}
