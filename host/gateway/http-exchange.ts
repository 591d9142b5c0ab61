import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ConnectorError } from "./connector.ts";
import { connectionFailed } from "./http-connection.ts";
import { bracketed } from "./http-host-name.ts";
import type { HttpRequest } from "./http-request.ts";

/** What a host answered, whole. */
export interface HttpResponse {
  readonly status: number;
  /** By lower-case name; the text of each, and of set-cookie a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Bytes of all headers of an answer together. */
const MOST_HEADER_BYTES = 16 * 1024;
/** Answers with a status of 1xx before the real one. */
const MOST_INTERIM = 8;

/**
 * One request over a socket that is used for it alone and closed after it. `bodyBytes` says for the head of an answer how long its body may
 * be; the body is never held beyond that. A compressed answer is refused: it would be a small one that becomes large. Rejects with
 * `connection-failed`, `response-too-large`, `invalid-response`, or the reason of `signal`.
 */
export function exchange(
  request: HttpRequest,
  socket: Socket,
  bodyBytes: (response: Omit<HttpResponse, "body">) => number,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return new Promise<HttpResponse>((resolve, reject) => {
    const outgoing = httpRequest({
      createConnection: () => socket,
      method: request.method,
      path: request.target,
      headers: headersOf(request),
      setHost: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      // Whatever the command line of this process says.
      insecureHTTPParser: false,
    });
    const settle = (act: () => void): void => {
      signal.removeEventListener("abort", abort);
      outgoing.destroy();
      socket.destroy();
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const abort = (): void => fail(signal.reason);
    outgoing.on("error", (error) => fail(failureOf(error)));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort);

    let interim = 0;
    const countInterim = (): void => {
      interim += 1;
      if (interim > MOST_INTERIM) fail(invalidResponse("The host answered again and again without an end"));
    };
    outgoing.on("continue", countInterim);
    outgoing.on("information", countInterim);
    outgoing.once("upgrade", () => fail(invalidResponse("The host changed to another protocol")));
    const closed = (): void => fail(connectionFailed("The host closed the connection before it answered"));
    outgoing.once("close", closed);
    outgoing.once("response", (incoming) => {
      // The connection may close before all that came over it has been read.
      outgoing.off("close", closed);
      read(incoming, request, bodyBytes).then((response) => settle(() => resolve(response)), fail);
    });
    send(outgoing, request.body);
  });
}

function send(outgoing: ClientRequest, body: Buffer | null): void {
  if (body === null) outgoing.end();
  else outgoing.end(body);
}

function headersOf({ host, method, headers, body }: HttpRequest): Record<string, string> {
  const isDefaultPort = host.port === (host.secure ? 443 : 80);
  const length = body?.length ?? (method === "POST" || method === "PUT" || method === "PATCH" ? 0 : null);
  return {
    host: `${bracketed(host.name)}${isDefaultPort ? "" : `:${host.port}`}`,
    "accept-encoding": "identity",
    connection: "close",
    ...(length === null ? {} : { "content-length": `${length}` }),
    ...Object.fromEntries(headers),
    ...Object.fromEntries(host.headers),
  };
}

async function read(
  incoming: IncomingMessage,
  { method }: HttpRequest,
  bodyBytes: (response: Omit<HttpResponse, "body">) => number,
): Promise<HttpResponse> {
  const head = { status: incoming.statusCode ?? 0, headers: incoming.headers };
  const encoding = incoming.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== "identity" && encoding !== "")
    throw invalidResponse("The host compressed its answer, though the request asked for none of it");
  const most = bodyBytes(head);
  const hasBody = method !== "HEAD" && head.status !== 204 && head.status !== 304;
  if (hasBody && Number(incoming.headers["content-length"] ?? 0) > most) throw tooLarge(most);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // An answer that is cut off ends in an error, not as a short one.
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most) throw tooLarge(most);
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw failureOf(thrown);
  }
  return { ...head, body: Buffer.concat(chunks, bytes) };
}

/** The one place where errors of Node's client become the connector's. */
function failureOf(thrown: unknown): ConnectorError {
  if (thrown instanceof ConnectorError) return thrown;
  const { code = "" } = thrown as NodeJS.ErrnoException;
  if (code === "HPE_HEADER_OVERFLOW" || code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return new ConnectorError(
      "response-too-large",
      `The headers of the answer have more than ${MOST_HEADER_BYTES} bytes`,
      {
        cause: thrown,
      },
    );
  if (code.startsWith("HPE_")) return invalidResponse("The host answered with something that is no HTTP", thrown);
  return connectionFailed("The connection broke off", thrown);
}

function tooLarge(most: number): ConnectorError {
  return new ConnectorError(
    "response-too-large",
    `The body of the answer is too long: at most ${Math.max(0, most)} bytes may come`,
  );
}

function invalidResponse(message: string, cause?: unknown): ConnectorError {
  return new ConnectorError("invalid-response", message, { cause });
}
