import { HostError, quote } from "../errors/errors.ts";
import { parseJsonText } from "../manifest/manifest.ts";
import { exchange, type HttpAnswer } from "./http-exchange.ts";
import type { RunSignal } from "./provider.ts";
import { RunEnd } from "./run-end.ts";
import { Secrets } from "./secrets.ts";

/** A value, or a function that is asked for it before each request. */
export type Given<Value> = Value | (() => Value | Promise<Value>);

/** The HTTP server of a native provider, as the embedding application names it. */
export interface EndpointDefinition {
  /** What stands before the paths of the API, `http:` or `https:`. Credentials do not belong into it. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`. It stands in no message, outcome, event or log. */
  readonly apiKey?: Given<string>;
  /** Sent with each request. Their values are treated as secrets too. */
  readonly headers?: Given<Readonly<Record<string, string>>>;
}

/** An answer, and what may not be passed on of it. */
export interface EndpointAnswer extends HttpAnswer {
  readonly secrets: Secrets;
}

/** Headers that belong to the connection, or that this host sets itself. */
const OWN_HEADERS = [
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
  "content-type",
  "accept-encoding",
];
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;
/** Bytes of an error's body that are read, and characters of it that are shown. */
const MOST_ERROR_BYTES = 8 * 1024;
const MOST_ERROR_CHARACTERS = 300;

/** What can be done about a status. */
const HINTS: Readonly<Record<number, string>> = {
  401: "; check apiKey, or headers",
  403: "; check apiKey, or headers",
  404: "; check baseUrl, and the name of the model",
  429: "; the server takes no more requests now",
};

/** A server that is asked over HTTP. Holds the credentials and shows them to nobody. */
export class HttpEndpoint {
  readonly #base: string;
  readonly #apiKey: Given<string> | undefined;
  readonly #headers: Given<Readonly<Record<string, string>>>;

  /** Throws AIRLOCK_PROVIDERS_DEFINITION_INVALID. */
  constructor({ baseUrl, apiKey, headers = {} }: EndpointDefinition) {
    this.#base = checkBaseUrl(baseUrl);
    this.#apiKey = apiKey;
    this.#headers = headers;
    const refuse = (text: string): never => {
      throw new HostError("AIRLOCK_PROVIDERS_DEFINITION_INVALID", `Cannot make a provider: ${text}`);
    };
    if (apiKey !== undefined && typeof apiKey !== "function") refuseOr(keyProblem(apiKey), refuse);
    if (typeof headers !== "function") refuseOr(headersProblem(headers, apiKey !== undefined), refuse);
  }

  /**
   * Sends a request and answers when the head has come, whatever its status. Rejects with a RunEnd, as `exchange` does, and where a
   * function does not give what is wanted of it.
   */
  async ask(path: string, body: unknown, signal: RunSignal): Promise<EndpointAnswer> {
    const given = await this.#given();
    const secrets = new Secrets(given);
    const headers: Record<string, string> = { accept: "*/*", ...given, "accept-encoding": "identity" };
    const url = new URL(this.#base + path);
    if (body === undefined) return withSecrets(await exchange({ method: "GET", url, headers }, signal), secrets);
    const bytes = Buffer.from(JSON.stringify(body));
    headers["content-type"] = "application/json";
    headers["content-length"] = String(bytes.length);
    return withSecrets(await exchange({ method: "POST", url, headers, body: bytes }, signal), secrets);
  }

  /** The headers of the application, by lower-case name. */
  async #given(): Promise<Record<string, string>> {
    const headers = await givenValue("headers", this.#headers);
    refuseOr(headersProblem(headers, this.#apiKey !== undefined), fail);
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (this.#apiKey === undefined) return given;
    const key = await givenValue("apiKey", this.#apiKey);
    refuseOr(keyProblem(key), fail);
    return { ...given, authorization: `Bearer ${key}` };
  }
}

/** Reads an answer whose status is an error, as far as it helps, and closes it. */
export async function errorOf(answer: EndpointAnswer, path: string): Promise<RunEnd> {
  const { status, secrets } = answer;
  const said = `The server answered ${path} with HTTP ${status}`;
  const location = answer.header("location");
  if (status >= 300 && status < 400) {
    answer.close();
    const to = location === undefined ? "" : ` to ${secrets.excerpt(location, false, MOST_ERROR_CHARACTERS)}`;
    return RunEnd.failed(`${said}, a redirect${to}: none is followed, baseUrl is to name the server itself`, status);
  }
  const { bytes, cut } = await beginningOf(answer, MOST_ERROR_BYTES);
  const text = new TextDecoder().decode(bytes);
  const parsed = cut ? null : parseJsonText(text);
  const message = parsed?.kind === "value" ? messageIn(parsed.value) : null;
  // Of a page in HTML the words are enough.
  const words = message ?? secrets.redact(text).replace(/<[^<>]*>/g, " ");
  const excerpt = /\S/.test(words) ? `: ${secrets.excerpt(words, cut, MOST_ERROR_CHARACTERS)}` : "";
  return RunEnd.failed(`${said}${excerpt}${HINTS[status] ?? ""}`, status);
}

/** At most so many bytes of a body. A body that breaks off is a body that ends. */
export async function beginningOf(
  { body }: HttpAnswer,
  mostBytes: number,
): Promise<{ readonly bytes: Buffer; readonly cut: boolean }> {
  const bytes: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of body) {
      const room = mostBytes - length;
      // A copy: a piece may be a small part of a large buffer.
      bytes.push(Buffer.from(piece.subarray(0, room)));
      length += Math.min(piece.length, room);
      if (piece.length > room) return { bytes: Buffer.concat(bytes), cut: true };
    }
  } catch {
    return { bytes: Buffer.concat(bytes), cut: true };
  }
  return { bytes: Buffer.concat(bytes), cut: false };
}

/** The words of an error in the forms that Ollama, OpenAI and their kin give it; null for another form. */
export function messageIn(body: unknown): string | null {
  if (typeof body === "string") return body;
  if (typeof body !== "object" || body === null) return null;
  const { error, message, detail } = body as Record<string, unknown>;
  for (const each of [error, message, detail]) {
    if (typeof each === "string") return each;
    if (typeof each === "object" && each !== null && "message" in each && typeof each.message === "string") {
      return each.message;
    }
  }
  return null;
}

function withSecrets(answer: HttpAnswer, secrets: Secrets): EndpointAnswer {
  return {
    status: answer.status,
    header: (name) => answer.header(name),
    body: answer.body,
    close: () => answer.close(),
    secrets,
  };
}

/** What such a function throws may hold the secret, so it is not repeated. */
async function givenValue<Value>(name: string, given: Given<Value>): Promise<Value> {
  if (typeof given !== "function") return given;
  try {
    return await (given as () => Value | Promise<Value>)();
  } catch (error) {
    const kind = error instanceof Error ? quote(error.name, 40) : `a ${typeof error}`;
    throw RunEnd.failed(`The function ${name} of the provider's definition threw ${kind}; no request was sent`);
  }
}

function fail(text: string): never {
  throw RunEnd.failed(`Cannot send the request: ${text}`);
}

function refuseOr(problem: string | null, refuse: (text: string) => never): void {
  if (problem !== null) refuse(problem);
}

/** The base without a slash at its end. The value is not shown: it may hold a password. */
function checkBaseUrl(baseUrl: unknown): string {
  const refuse = (text: string) =>
    new HostError("AIRLOCK_PROVIDERS_DEFINITION_INVALID", `Cannot make a provider: baseUrl ${text}`);
  if (typeof baseUrl !== "string" || !URL.canParse(baseUrl)) {
    throw refuse("is no URL; one like http://127.0.0.1:11434 is wanted");
  }
  const { protocol, username, password, search, hash, origin, pathname } = new URL(baseUrl);
  if (protocol !== "http:" && protocol !== "https:")
    throw refuse(`has the scheme ${quote(protocol, 40)}; http: or https: is wanted`);
  if (username !== "" || password !== "") throw refuse("has a user name or a password in it; give them as headers");
  if (search !== "" || hash !== "") throw refuse("has a query or a fragment; a path at most is wanted");
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

function keyProblem(key: unknown): string | null {
  if (typeof key === "string" && key !== "" && HEADER_VALUE.test(key)) return null;
  return "apiKey is no text that fits into a header; a non-empty string of printable characters is wanted";
}

function headersProblem(headers: unknown, hasKey: boolean): string | null {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    return "headers are no object; one of names and values is wanted";
  }
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(lower)) return `headers has ${quote(name, 60)}, which is no name of a header`;
    if (OWN_HEADERS.includes(lower)) return `headers has ${quote(name)}, which the host sets itself`;
    if (hasKey && lower === "authorization")
      return `headers has ${quote(name)} and there is an apiKey; one of them is wanted`;
    if (typeof value !== "string" || !HEADER_VALUE.test(value)) {
      return `headers.${name} is no text that fits into a header; a string of printable characters is wanted`;
    }
  }
  return null;
}
