import { lookup } from "node:dns";
import { connect as connectPlain, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure, TLSSocket } from "node:tls";
import { ConnectorError } from "./connector.ts";
import { canonicalAddress, isAllowedAddress } from "./http-address.ts";
import { isAddress } from "./http-host-name.ts";
import type { HostRule } from "./http-hosts.ts";

/** Answers with every address of a name. Rejects when it has none. */
export type Resolver = (name: string) => Promise<readonly string[]>;

/** Addresses of one name; a name with more is refused. */
const MOST_ADDRESSES = 64;

/** Asks what the system asks: its files, then its servers of names. */
export function systemResolver(name: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    lookup(name, { all: true, order: "verbatim" }, (error, found) => {
      if (error === null) resolve(found.map(({ address }) => address));
      else reject(error);
    });
  });
}

/**
 * Asks for a name once at a time. A question to the system cannot be taken back and holds one of few threads: calls that give up and come again
 * would soon hold all of them.
 */
export function oneAtATime(resolve: Resolver): Resolver {
  const asked = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const before = asked.get(name);
    if (before !== undefined) return before;
    const answer = resolve(name).finally(() => asked.delete(name));
    asked.set(name, answer);
    return answer;
  };
}

/**
 * A socket of its own to the host, whose address was checked: the name is resolved once, and what the socket connects to is chosen among
 * the answers. One answer that is not allowed refuses them all: a name that leads inside and outside is no name to trust.
 * Rejects with `address-not-allowed`, `connection-failed`, or the reason of `signal`.
 */
export async function openConnection(
  host: HostRule,
  resolve: Resolver,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const addresses = await unlessAborted(checkedAddresses(host, resolve), signal);
  signal.throwIfAborted();
  return await new Promise<Socket>((fulfil, reject) => {
    const socket = connectTo(host, addresses, timeoutMs);
    const fail = (error: unknown): void => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      reject(error);
    };
    const abort = (): void => fail(signal.reason);
    signal.addEventListener("abort", abort);
    // Also after it was closed: a socket whose error nobody hears ends the process.
    socket.on("error", (cause) =>
      fail(
        isUntrusted(socket) ? notTrusted(cause) : connectionFailed("No connection to the host could be made", cause),
      ),
    );
    socket.once("close", () => fail(connectionFailed("The host closed the connection before it was made")));
    socket.once("connect", () => {
      if (!addresses.includes(canonicalAddress(socket.remoteAddress ?? "") ?? "")) fail(addressRefused());
    });
    socket.once(host.secure ? "secureConnect" : "connect", () => {
      signal.removeEventListener("abort", abort);
      if (!socket.destroyed) fulfil(socket);
    });
  });
}

export function connectionFailed(message: string, cause?: unknown): ConnectorError {
  return new ConnectorError("connection-failed", message, { retryable: true, cause });
}

function addressRefused(): ConnectorError {
  return new ConnectorError("address-not-allowed", "The host's name leads to an address that is not allowed");
}

/** Not for a handshake that broke off: that one may go well the next time. */
function isUntrusted(socket: Socket): boolean {
  return socket instanceof TLSSocket && Boolean(socket.authorizationError);
}

function notTrusted(cause: unknown): ConnectorError {
  return new ConnectorError("host-not-trusted", "The host has no certificate that is trusted for its name", { cause });
}

/** Every address of the host in its one spelling. */
async function checkedAddresses({ name, addresses }: HostRule, resolve: Resolver): Promise<readonly string[]> {
  let found: readonly string[];
  try {
    found = isAddress(name) ? [name] : await resolve(name);
  } catch (cause) {
    throw connectionFailed("The host's name could not be resolved", cause);
  }
  if (found.length === 0) throw connectionFailed("The host's name has no address");
  if (found.length > MOST_ADDRESSES || !found.every((each) => isAllowedAddress(each, addresses)))
    throw addressRefused();
  return [...new Set(found.map((each) => canonicalAddress(each)!))];
}

/**
 * Not through an agent, which would keep sockets, read the variables of proxies on newer versions of Node, and be one that others have a hand
 * in. What the variable NODE_TLS_REJECT_UNAUTHORIZED says has no part either.
 */
function connectTo({ name, port, secure, ca }: HostRule, addresses: readonly string[], timeoutMs: number): Socket {
  const options = {
    host: isAddress(name) ? addresses[0]! : name,
    port,
    lookup: lookupIn(addresses),
    autoSelectFamily: true,
    // How long Node waits for one address before it tries the next.
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.floor(timeoutMs / addresses.length)),
    noDelay: true,
  };
  if (!secure) return connectPlain(options);
  return connectSecure({
    ...options,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
    // An address is no name that a server could choose its certificate by.
    servername: isAddress(name) ? "" : name,
    ...(ca === null ? {} : { ca: [...ca] }),
  });
}

/** Answers out of the list. Node asks for all addresses when it chooses the family, and for one otherwise. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_, options, callback) => {
    const first = all[0]!;
    process.nextTick(() => {
      if (options.all === true) callback(null, all);
      else callback(null, first.address, first.family);
    });
  };
}

/** A promise that nobody can end, such as that of a resolver, is left behind. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
