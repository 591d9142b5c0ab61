import { isIP, isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";

const LONGEST = 253;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * The one spelling of a host's name: lower case, IDNA in its ASCII form, IPv4 with four decimal numbers, IPv6 short and without
 * brackets. Null for anything that is no bare name: with a port, user, zone id, escape, dot at the end, empty label, or an
 * address in a spelling such as 0x7f.1, which a resolver would take for 127.0.0.1.
 */
export function hostName(text: string): string | null {
  if (text === "" || text.length > LONGEST) return null;
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (bare.includes(":")) return isIPv6(bare) && !bare.includes("%") ? shortIPv6(bare) : null;
  // What domainToASCII would decode, or would read as the end of a host.
  if (bare !== text || /[%/?#@\\\s\u0000-\u001f\u007f]/.test(text)) return null;
  const name = domainToASCII(text);
  if (name === "" || name.length > LONGEST) return null;
  if (isIPv4(name)) return name === text ? name : null;
  return name.split(".").every((label) => LABEL.test(label)) ? name : null;
}

/** The name as it stands in a URL and in the header `host`. */
export function bracketed(name: string): string {
  return isIPv6(name) ? `[${name}]` : name;
}

/** Whether the name is an address, which no resolver is asked about. */
export function isAddress(name: string): boolean {
  return isIP(name) !== 0;
}

/** The one spelling of an IPv6 address, all of it in hexadecimal. */
export function shortIPv6(text: string): string {
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}
