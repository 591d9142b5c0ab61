import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type ConnectorRequest,
  type ConnectorResponse,
} from "./connector.ts";
import { expectOptions, invalidOption, wholeOption } from "./connector-options.ts";
import { oneAtATime, openConnection, type Resolver, systemResolver } from "./http-connection.ts";
import { exchange, type HttpResponse } from "./http-exchange.ts";
import { type HostRule, type HttpHost, hostRules } from "./http-hosts.ts";
import { isRedirect, redirected } from "./http-redirect.ts";
import { type HttpRequest, httpRequest } from "./http-request.ts";

/** What guests may reach over HTTP. */
export interface HttpConnectorOptions {
  /** The hosts, each by its name alone or with what holds for it. */
  readonly hosts: readonly (string | HttpHost)[];
  /** For the name to be resolved and the connection to be made, in milliseconds. From 1 to 600,000; default 10,000. */
  readonly connectMs?: number;
  /** For the whole call with its redirects, in milliseconds. From 1 to 600,000; default 30,000. The end of the run ends it too. */
  readonly totalMs?: number;
  /** Bytes of the body of a request. From 0 to 16 MiB; default 1 MiB. What the binding allows holds as well. */
  readonly requestBytes?: number;
  /** Bytes of the body of an answer. From 0 to 16 MiB; default 1 MiB. What the binding allows, in base64, holds as well. */
  readonly responseBytes?: number;
  /** Redirects that are followed. From 0 to 10; default 3. With 0 a redirect is an answer like any other. */
  readonly maxRedirects?: number;
  /**
   * Names of the headers that the guest gets to see. Default: content-type, content-length, etag, last-modified, cache-control and retry-after.
   * One whose value contains a URL or begins with a slash, as `location` has it, gets the whole response refused.
   */
  readonly responseHeaders?: readonly string[];
}

/** What the connector would otherwise take from the system. For tests. */
export interface HttpConnectorGround {
  readonly resolve: Resolver;
  readonly now: () => number;
}

interface Bounds {
  readonly connectMs: number;
  readonly totalMs: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly maxRedirects: number;
  readonly responseHeaders: readonly string[];
}

const KEYS = ["hosts", "connectMs", "totalMs", "requestBytes", "responseBytes", "maxRedirects", "responseHeaders"];
const RESPONSE_HEADERS = ["content-type", "content-length", "etag", "last-modified", "cache-control", "retry-after"];
const LONGEST_MS = 600_000;
const MOST_BYTES = 16 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Of the response besides its payload: the envelope of the host ABI. */
const ENVELOPE_BYTES = 64;

/**
 * The connector `http` 1.0.0: `get`, `head`, `post`, `put`, `patch` and `delete` take `{ host, segments?, query?, headers?, body? }`, with the
 * body in base64, and answer `{ status, headers, body }` as `success`, whatever the status. Each request has a connection of its own, to
 * an address that was checked; a name with one address that is not allowed is refused, whatever its others are. Proxies are not used, and
 * what is compressed is not taken.
 *
 * Codes: `invalid-request`, `host-not-allowed`, `method-not-allowed`, `address-not-allowed`, `host-not-trusted`, `redirect-not-allowed`,
 * `insecure-not-allowed`, `response-too-large`, `invalid-response`; and `connection-failed` and `timed-out`, which are retryable: whether
 * the host got the request is not known then. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID.
 */
export function httpConnector(options: HttpConnectorOptions): Connector {
  return httpConnectorOn({ resolve: systemResolver, now: Date.now }, options);
}

/** The same with another resolver and clock. */
export function httpConnectorOn(ground: HttpConnectorGround, options: HttpConnectorOptions): Connector {
  expectOptions(options, "options", KEYS);
  const hosts = hostRules(options.hosts);
  const bounds = boundsOf(options);
  const shared = { ...ground, resolve: oneAtATime(ground.resolve) };
  return Object.freeze({
    id: "http",
    version: "1.0.0",
    description: "Requests to the hosts of a list",
    invoke: (request: ConnectorRequest, context: ConnectorContext) => carryOut(request, context, hosts, bounds, shared),
  });
}

function boundsOf(options: HttpConnectorOptions): Bounds {
  const { responseHeaders = RESPONSE_HEADERS } = options;
  if (
    !Array.isArray(responseHeaders) ||
    !responseHeaders.every((each) => typeof each === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(each))
  )
    throw invalidOption("responseHeaders", String(responseHeaders), "a list of names of headers");
  return {
    connectMs: wholeOption(options.connectMs, "connectMs", 1, LONGEST_MS, 10_000),
    totalMs: wholeOption(options.totalMs, "totalMs", 1, LONGEST_MS, 30_000),
    requestBytes: wholeOption(options.requestBytes, "requestBytes", 0, MOST_BYTES, MIB),
    responseBytes: wholeOption(options.responseBytes, "responseBytes", 0, MOST_BYTES, MIB),
    maxRedirects: wholeOption(options.maxRedirects, "maxRedirects", 0, 10, 3),
    responseHeaders: responseHeaders.map((name) => name.toLowerCase()),
  };
}

async function carryOut(
  { operation, payload }: ConnectorRequest,
  context: ConnectorContext,
  hosts: ReadonlyMap<string, HostRule>,
  bounds: Bounds,
  ground: HttpConnectorGround,
): Promise<ConnectorResponse> {
  let request = httpRequest(operation, payload, hosts, bounds.requestBytes);
  const left = (context.deadline ?? Number.POSITIVE_INFINITY) - ground.now();
  if (left <= 0) throw timedOut("The run has no time left");
  const room = (head: Omit<HttpResponse, "body">): number =>
    Math.min(bounds.responseBytes, bodyRoom(head, context.responseBytes, bounds.responseHeaders));
  return await within(
    Math.min(bounds.totalMs, left),
    "The host did not answer in time",
    context.signal,
    async (signal) => {
      for (let redirects = 0; ; redirects += 1) {
        const response = await ask(request, bounds.connectMs, ground.resolve, room, signal);
        const { location } = response.headers;
        if (bounds.maxRedirects === 0 || typeof location !== "string" || !isRedirect(response.status, location))
          return { resultClass: "success", payload: payloadOf(response, bounds.responseHeaders) };
        if (redirects === bounds.maxRedirects)
          throw new ConnectorError(
            "redirect-not-allowed",
            `The host answered with more than ${bounds.maxRedirects} redirects`,
          );
        request = redirected(request, response.status, location, hosts);
      }
    },
  );
}

async function ask(
  request: HttpRequest,
  connectMs: number,
  resolve: Resolver,
  bodyBytes: (head: Omit<HttpResponse, "body">) => number,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const socket = await within(connectMs, "The connection was not made in time", signal, (connecting) =>
    openConnection(request.host, resolve, connectMs, connecting),
  );
  try {
    return await exchange(request, socket, bodyBytes, signal);
  } finally {
    socket.destroy();
  }
}

/** Work under a signal that also aborts when time is over, with the error that the work is to end with. */
async function within<T>(
  ms: number,
  late: string,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const inner = new AbortController();
  const onAbort = (): void =>
    inner.abort(
      outer.reason instanceof ConnectorError ? outer.reason : new ConnectorError("run-ended", "the run has ended"),
    );
  const timer = setTimeout(() => inner.abort(timedOut(late)), ms);
  try {
    if (outer.aborted) onAbort();
    outer.addEventListener("abort", onAbort);
    inner.signal.throwIfAborted();
    return await work(inner.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", onAbort);
  }
}

function timedOut(message: string): ConnectorError {
  return new ConnectorError("timed-out", message, { retryable: true });
}

/** Bytes of a body that have a place, in base64, beside the rest of the response. Below zero when the rest alone has none. */
function bodyRoom(head: Omit<HttpResponse, "body">, responseBytes: number, names: readonly string[]): number {
  const rest = Buffer.byteLength(JSON.stringify(payloadOf({ ...head, body: Buffer.alloc(0) }, names))) + ENVELOPE_BYTES;
  return Math.floor((responseBytes - rest) / 4) * 3;
}

function payloadOf({ status, headers, body }: HttpResponse, names: readonly string[]): unknown {
  const shown = names.flatMap((name) => (Object.hasOwn(headers, name) ? [[name, headers[name]] as const] : []));
  return { status, headers: Object.fromEntries(shown), body: body.toString("base64") };
}
