import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { RunSignal } from "./provider.ts";
import { RunEnd } from "./run-end.ts";

/** One HTTP request. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The head of an answer, and its body as it comes. */
export interface HttpAnswer {
  readonly status: number;
  /** A header by its lower-case name; undefined when there is none. */
  header(name: string): string | undefined;
  /** For one reader. Leaving it early closes the socket. Throws a RunEnd when the body breaks off. */
  readonly body: AsyncIterable<Buffer>;
  /** Closes the socket; may be called twice. */
  close(): void;
}

/** Bytes of all headers of an answer together. */
const MOST_HEADER_BYTES = 16 * 1024;
/**
 * Of a host with several addresses Node gives one up that has not answered for 250 ms, which would be a timeout: the next is for one that
 * failed. https://nodejs.org/api/net.html#socketconnectoptions-connectlistener (autoSelectFamilyAttemptTimeout)
 */
const LONGEST_ATTEMPT_MS = 2 ** 31 - 1;

/**
 * Sends one request over a connection of its own and answers when the head has come. Aborting closes the socket at any moment. Redirects are
 * an answer like any other, compressed bodies are refused, proxies are not used and nothing is tried twice. There is no timeout. Rejects
 * with a RunEnd: `disconnected` for a connection that cannot be made or breaks off, `provider-failed` for what is no HTTP.
 *
 * Not `fetch`: it gives up on a server that is silent for five minutes, follows Node's proxy settings and the embedder's global
 * dispatcher. https://undici.nodejs.org/#/docs/api/Client (headersTimeout, bodyTimeout)
 */
export function exchange(request: HttpRequest, signal: RunSignal): Promise<HttpAnswer> {
  const { method, url, headers, body } = request;
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  // A connection that idled may be closed by the server while the next request is on its way, and that one could not be repeated.
  const connection = { agent: false, autoSelectFamilyAttemptTimeout: LONGEST_ATTEMPT_MS };
  const options: RequestOptions = { method, headers: { ...headers }, maxHeaderSize: MOST_HEADER_BYTES, ...connection };
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw RunEnd.disconnected("The run had ended before the request was sent");
    const outgoing = send(url, options);
    const link = new Link(outgoing, url.host, signal);
    outgoing.once("response", (incoming) => {
      const encoding = incoming.headers["content-encoding"];
      if (encoding === undefined || encoding === "identity") return resolve(new Answer(incoming, link));
      link.close();
      reject(RunEnd.failed("The server compressed its answer, though the request asked for none of it"));
    });
    // The close comes last and always: also after an upgrade that nobody asked for.
    outgoing.once("close", () => reject(link.end("before it answered")));
    outgoing.end(body);
  });
}

/** The life of one connection: what broke it first, and who may end it. */
class Link {
  readonly #outgoing: ClientRequest;
  readonly #host: string;
  #error: NodeJS.ErrnoException | null = null;

  constructor(outgoing: ClientRequest, host: string, signal: RunSignal) {
    this.#outgoing = outgoing;
    this.#host = host;
    const abort = (): void => this.close();
    signal.addEventListener("abort", abort, { once: true });
    outgoing.on("error", (error) => {
      this.#error ??= error;
    });
    outgoing.once("close", () => signal.removeEventListener("abort", abort));
  }

  close(): void {
    this.#outgoing.destroy();
  }

  /** Why there is nothing more to read. */
  end(when: string): RunEnd {
    const code = this.#error?.code ?? "";
    if (code.startsWith("HPE_")) return RunEnd.failed(`The server's answer is no HTTP that can be read: ${code}`);
    const reason = REASONS[code] ?? `it broke off ${when}${code === "" ? "" : ` (${code})`}`;
    return RunEnd.disconnected(`Cannot reach ${this.#host}: ${reason}`);
  }
}

/** What a caller can do something about. The engine's own messages name addresses and say less. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there (ECONNREFUSED); is the server started, and is baseUrl right?",
  ENOTFOUND: "no such host name is known (ENOTFOUND); is baseUrl right?",
  EAI_AGAIN: "the host name could not be looked up (EAI_AGAIN)",
  EHOSTUNREACH: "no way leads to that host (EHOSTUNREACH)",
  ENETUNREACH: "no way leads to that network (ENETUNREACH)",
  EPROTO: "the server does not speak TLS there (EPROTO); is baseUrl to begin with http:?",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed; NODE_EXTRA_CA_CERTS can name it",
};

class Answer implements HttpAnswer {
  readonly status: number;
  readonly #incoming: IncomingMessage;
  readonly #link: Link;

  constructor(incoming: IncomingMessage, link: Link) {
    this.status = incoming.statusCode ?? 0;
    this.#incoming = incoming;
    this.#link = link;
    // The reader hears of it; before there is one, nobody must.
    incoming.on("error", () => {});
  }

  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  get body(): AsyncIterable<Buffer> {
    return this.#read();
  }

  close(): void {
    this.#link.close();
  }

  async *#read(): AsyncGenerator<Buffer, void, void> {
    try {
      for await (const bytes of this.#incoming) yield bytes as Buffer;
    } catch {
      throw this.#link.end("in the middle of its answer");
    } finally {
      this.#link.close();
    }
  }
}
