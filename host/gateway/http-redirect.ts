import { ConnectorError } from "./connector.ts";
import { bracketed, hostName } from "./http-host-name.ts";
import type { HostRule, HttpMethod } from "./http-hosts.ts";
import { type HttpRequest, LONGEST_TARGET } from "./http-request.ts";

const REDIRECTS = [301, 302, 303, 307, 308];
/** What goes along to another host. The rest may be meant for the first one alone, such as a token of the guest's. */
const FOR_ANY_HOST = ["accept", "accept-language", "user-agent"];
const OF_A_BODY = ["content-type", "content-encoding", "content-language", "content-location"];

/** Whether the answer asks to look elsewhere. */
export function isRedirect(status: number, location: string | undefined): location is string {
  return location !== undefined && REDIRECTS.includes(status);
}

/**
 * The request that a redirect asks for: to a host of the list, by its scheme, its port and its methods. A body never goes to another host.
 * Throws `redirect-not-allowed` and `insecure-not-allowed`.
 */
export function redirected(
  request: HttpRequest,
  status: number,
  location: string,
  hosts: ReadonlyMap<string, HostRule>,
): HttpRequest {
  const url = parsed(location, request);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refused("to another scheme than that of the web");
  if (url.username !== "" || url.password !== "") throw refused("with a user in it");
  const host = hosts.get(hostName(url.hostname) ?? "");
  if (host === undefined) throw refused("to a host that is not on the list");
  const secure = url.protocol === "https:";
  // Whatever the list says of the other host: who came over HTTPS is not led to where others read along.
  if (!secure && (host.secure || request.host.secure))
    throw new ConnectorError("insecure-not-allowed", "The host answered with a redirect to plain HTTP");
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  if (secure !== host.secure || port !== host.port)
    throw refused("to another scheme or port than the list has for the host");
  const target = `${url.pathname}${url.search}`;
  if (target.length > LONGEST_TARGET) throw refused(`of more than ${LONGEST_TARGET} characters`);

  const method = nextMethod(request.method, status);
  if (!host.methods.includes(method)) throw refused("to a host that does not take the method");
  const body = method === "GET" || method === "HEAD" ? null : request.body;
  if (host === request.host) return { method, host, target, headers: without(request.headers, body), body };
  if (body !== null) throw refused("to another host, to which the body would have to go");
  return { method, host, target, headers: kept(request.headers, host), body };
}

function parsed(location: string, { host, target }: HttpRequest): URL {
  try {
    const base = `${host.secure ? "https" : "http"}://${bracketed(host.name)}:${host.port}`;
    return new URL(location, `${base}${target}`);
  } catch {
    throw refused("that cannot be read");
  }
}

/** As browsers do. https://fetch.spec.whatwg.org/#http-redirect-fetch */
function nextMethod(method: HttpMethod, status: number): HttpMethod {
  if (method === "HEAD") return method;
  if (status === 303 || (method === "POST" && (status === 301 || status === 302))) return "GET";
  return method;
}

function without(headers: ReadonlyMap<string, string>, body: Buffer | null): ReadonlyMap<string, string> {
  return body === null ? new Map([...headers].filter(([name]) => !OF_A_BODY.includes(name))) : headers;
}

/** What the application adds for the next host goes before what the guest has set for the first. */
function kept(headers: ReadonlyMap<string, string>, host: HostRule): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => FOR_ANY_HOST.includes(name) && !host.headers.has(name)));
}

function refused(how: string): ConnectorError {
  return new ConnectorError("redirect-not-allowed", `The host answered with a redirect ${how}`);
}
