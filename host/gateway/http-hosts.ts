import { validateHeaderValue } from "node:http";
import { quote } from "../errors/errors.ts";
import { expectOptions, invalidOption, switchOption, wholeOption } from "./connector-options.ts";
import { type AllowedAddresses, addressRange } from "./http-address.ts";
import { hostName } from "./http-host-name.ts";

/** What guests may do over HTTP, in upper case. */
export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
/** A method of HTTP that a host of the list may be asked with. */
export type HttpMethod = (typeof METHODS)[number];

/** A host that guests may reach. */
export interface HttpHost {
  /** A name such as `api.example.com`, or an IP address. No wildcard, no port. */
  readonly host: string;
  /** Default 443, and 80 for a host that is `insecure`. */
  readonly port?: number;
  /** Plain HTTP. Default false: HTTPS. */
  readonly insecure?: boolean;
  /** Default: GET, HEAD, POST, PUT, PATCH and DELETE. */
  readonly methods?: readonly HttpMethod[];
  /**
   * Sent with every request to this host, and to no other: `authorization`, for instance. Guests neither see nor set them. A host
   * that repeats what it was sent would show them.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Addresses to which the name may lead besides global unicast ones. True: loopback, private, shared and unique local ones. A list: these
   * addresses and ranges, of whatever class, such as `["10.1.0.0/16"]`. Default false.
   */
  readonly allowPrivate?: boolean | readonly string[];
  /** Certificates, as PEM, of the authorities that may vouch for this host, in place of those that Node knows. */
  readonly ca?: string | readonly string[];
}

/** A host, resolved. */
export interface HostRule {
  readonly name: string;
  readonly port: number;
  readonly secure: boolean;
  readonly methods: readonly HttpMethod[];
  readonly headers: ReadonlyMap<string, string>;
  readonly addresses: AllowedAddresses;
  readonly ca: readonly string[] | null;
}

const KEYS = ["host", "port", "insecure", "methods", "headers", "allowPrivate", "ca"];
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What the connector itself decides. */
const OWN =
  /^(?:host|connection|transfer-encoding|content-length|upgrade|te|trailer|expect|keep-alive|accept-encoding)$/;

/** The hosts by name. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID. */
export function hostRules(hosts: unknown): ReadonlyMap<string, HostRule> {
  if (!Array.isArray(hosts) || hosts.length === 0) throw invalidOption("hosts", hosts, "a list with at least one host");
  const rules = new Map<string, HostRule>();
  for (const [index, each] of hosts.entries()) {
    const rule = hostRule(typeof each === "string" ? { host: each } : each, `hosts[${index}]`);
    if (rules.has(rule.name))
      throw invalidOption(`hosts[${index}].host`, rule.name, "a host that is not listed before");
    rules.set(rule.name, rule);
  }
  return rules;
}

function hostRule(given: unknown, field: string): HostRule {
  expectOptions(given, field, KEYS);
  const { host, methods = METHODS, allowPrivate = false, ca } = given;
  const name = typeof host === "string" ? hostName(host) : null;
  if (name === null)
    throw invalidOption(`${field}.host`, host, "a name or an IP address, without scheme, port and a dot at the end,");
  const secure = !switchOption(given["insecure"], `${field}.insecure`, false);
  const isMethod = (each: unknown): each is HttpMethod => METHODS.some((method) => method === each);
  if (!Array.isArray(methods) || methods.length === 0 || !methods.every(isMethod))
    throw invalidOption(`${field}.methods`, String(methods), `a list of ${METHODS.join(", ")}`);
  const authorities = typeof ca === "string" ? [ca] : ca;
  if (
    authorities !== undefined &&
    !(
      secure &&
      Array.isArray(authorities) &&
      authorities.length > 0 &&
      authorities.every((each) => typeof each === "string")
    )
  )
    throw invalidOption(
      `${field}.ca`,
      secure ? typeof ca : "set",
      "a certificate as PEM, or a list of them, of an HTTPS host",
    );
  return Object.freeze({
    name,
    port: wholeOption(given["port"], `${field}.port`, 1, 65_535, secure ? 443 : 80),
    secure,
    methods: Object.freeze([...methods]),
    headers: addedHeaders(given["headers"], `${field}.headers`),
    addresses: allowedAddresses(allowPrivate, `${field}.allowPrivate`),
    ca: authorities === undefined ? null : Object.freeze([...authorities]),
  });
}

/** No error shows a value: it is a secret. */
function addedHeaders(given: unknown, field: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  if (given === undefined) return headers;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalidOption(field, typeof given, "an object");
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name) || OWN.test(lower) || headers.has(lower))
      throw invalidOption(field, name, "the name of a header, once, that the connector does not set itself,");
    try {
      if (typeof value !== "string") throw new TypeError();
      validateHeaderValue(name, value);
    } catch {
      throw invalidOption(`${field}[${quote(name)}]`, "hidden", "a text without control characters");
    }
    headers.set(lower, value);
  }
  return headers;
}

function allowedAddresses(given: unknown, field: string): AllowedAddresses {
  if (typeof given === "boolean") return { private: given, ranges: [] };
  if (!Array.isArray(given)) throw invalidOption(field, given, "true, false or a list of addresses and ranges");
  const ranges = given.map((each: unknown) => {
    const range = typeof each === "string" ? addressRange(each) : null;
    if (range === null) throw invalidOption(field, each, 'a list of addresses and ranges, such as "10.1.0.0/16",');
    return range;
  });
  return { private: false, ranges: Object.freeze(ranges) };
}
