import { quote } from "../errors/errors.ts";

const REDACTED = "[redacted]";
/** A header whose name says this carries a credential. */
const CREDENTIAL = /auth|key|token|secret|cookie|password/;
/** A shorter value is no secret worth the name, and to take it out would take words apart. */
const SHORTEST_CREDENTIAL = 4;
const SHORTEST_VALUE = 8;

/** What a text from a server must not carry further: a server may send back what it was sent. */
export class Secrets {
  readonly #texts: readonly string[];

  /** Of the headers of one request, by lower-case name. */
  constructor(headers: Readonly<Record<string, string>>) {
    const texts = new Set<string>();
    for (const [name, value] of Object.entries(headers)) {
      const credential = CREDENTIAL.test(name);
      // "Bearer x" is also a secret without its first word, and Basic without its encoding.
      const pieces = credential ? [value, ...value.split(/[\s;=,]+/), value.slice(value.indexOf(" ") + 1)] : [value];
      if (/^basic /i.test(value)) pieces.push(...Buffer.from(value.slice(6), "base64").toString().split(":"));
      for (const piece of pieces) {
        if (piece.length < (credential ? SHORTEST_CREDENTIAL : SHORTEST_VALUE) || SCHEMES.has(piece.toLowerCase()))
          continue;
        const inJson = JSON.stringify(piece).slice(1, -1);
        // Some write a slash in JSON with a backslash before it.
        texts.add(piece).add(encodeURIComponent(piece)).add(inJson).add(inJson.replaceAll("/", "\\/"));
      }
    }
    // Longest first: what stands inside of another is taken out with it.
    this.#texts = [...texts].sort((a, b) => b.length - a.length);
  }

  /** The text without them. */
  redact(text: string): string {
    let clean = text;
    for (const secret of this.#texts) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  }

  /** The beginning of the text without them, in quotes and in one line. `cut`: the text is itself only a beginning. */
  excerpt(text: string, cut: boolean, characters: number): string {
    const clean = this.redact(cut ? this.#withoutTail(text) : text);
    // Once more, for a secret with white space in it.
    return quote(this.redact(clean.replace(/\s+/g, " ").trim()), characters);
  }

  /** Without a secret at the end, or the beginning of one whose rest was cut off. */
  #withoutTail(text: string): string {
    let longest = 0;
    for (const secret of this.#texts) {
      let length = Math.min(secret.length, text.length);
      while (length > longest && !text.endsWith(secret.slice(0, length))) length--;
      longest = Math.max(longest, length);
    }
    return text.slice(0, text.length - longest);
  }
}

const SCHEMES = new Set(["bearer", "basic", "digest", "negotiate"]);
