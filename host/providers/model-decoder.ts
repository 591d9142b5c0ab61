import { parseJsonText, type ValueCheck } from "../manifest/manifest.ts";
import type { ModelOutputBuilder } from "./model-output.ts";
import { RunEnd } from "./run-end.ts";
import type { Secrets } from "./secrets.ts";

/** Reads the body of one streamed answer. Each function throws a RunEnd for what the protocol does not allow. */
export interface ModelDecoder {
  /** How the protocol says that an answer is whole. */
  readonly ending: string;
  /** The next bytes. True when the answer is whole: what follows is not read. */
  push(bytes: Uint8Array): boolean;
  /** The body is over. True when its last, unfinished line made the answer whole. */
  end(): boolean;
}

/** What a decoder needs besides the bytes. */
export interface DecoderGround {
  readonly output: ModelOutputBuilder;
  readonly secrets: Secrets;
  readonly maxLineBytes: number;
}

const MOST_CHARACTERS = 200;

/** One chunk of a stream as JSON of the wanted form. Throws a RunEnd that says which chunk is wrong, and how. */
export function parseChunk(text: string, number: number, check: ValueCheck, secrets: Secrets): unknown {
  const parsed = parseJsonText(text);
  if (parsed.kind === "value") {
    const problem = check(parsed.value);
    if (problem === null) return parsed.value;
    throw malformed(number, `is not of the protocol's form: ${problem}`);
  }
  // The parser quotes parts of the text, so it is asked again about one that may be shown.
  const clean = secrets.redact(text);
  const again = clean === text ? parsed : parseJsonText(clean);
  const why = again.kind === "value" ? "is not JSON" : again.text;
  throw malformed(number, `${why}; it begins ${secrets.excerpt(text, false, MOST_CHARACTERS)}`);
}

/** A chunk breaks the protocol. */
export function malformed(number: number, problem: string): RunEnd {
  return RunEnd.failed(`Chunk ${number} of the server's answer ${problem}`);
}

/** The server told of an error in the middle of its stream. */
export function streamedError(message: string, secrets: Secrets): RunEnd {
  return RunEnd.failed(
    `The server ended its answer with an error: ${secrets.excerpt(message, false, MOST_CHARACTERS)}`,
  );
}
