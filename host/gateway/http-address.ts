import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { shortIPv6 } from "./http-host-name.ts";

/** A range of addresses, such as `10.1.0.0/16`. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The addresses to which a host may lead besides global unicast ones. */
export interface AllowedAddresses {
  /** Loopback, private, shared (100.64/10) and unique local ones. */
  readonly private: boolean;
  /** Of any class, also those that carry an IPv4 address inside. */
  readonly ranges: readonly AddressRange[];
}

const PRIVATE = ["loopback", "private", "carrierGradeNat", "uniqueLocal"];
/** All that IANA gives out as global unicast. https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR("2002::/16");

/**
 * Whether a connection to the address may be made. An address that carries an IPv4 address inside (v4-mapped, NAT64, 6to4) is allowed
 * only where it lies in one of the ranges, and the inner one is judged as well; an IPv4-mapped one that holds a private address is
 * private. Any spelling but the usual one is refused: 0x7f.1, 127.1, 2130706433, a zone id.
 */
export function isAllowedAddress(text: string, allowed: AllowedAddresses): boolean {
  const address = addressOf(text);
  if (address === null) return false;
  if (address.kind() === "ipv4") return isAllowedAlone(address, allowed);
  const inner = innerAddress(address as ipaddr.IPv6);
  if (inner === null) return isAllowedAlone(address, allowed);
  return isListed(address, allowed) && isAllowedAlone(inner, allowed);
}

/** The one text of an address: in lower case and short, and of one that is v4-mapped the one inside. Null for what is none. */
export function canonicalAddress(text: string): string | null {
  const address = addressOf(text);
  if (address === null) return null;
  if (address.kind() === "ipv4") return address.toString();
  const long = address as ipaddr.IPv6;
  return isMapped(long) ? long.toIPv4Address().toString() : long.toString();
}

/** A range in the notation of CIDR, or a single address; null for anything else. */
export function addressRange(text: string): AddressRange | null {
  const [address = "", bits, ...more] = text.split("/");
  const parsed = addressOf(address);
  if (parsed === null || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return null;
  const most = parsed.kind() === "ipv4" ? 32 : 128;
  const length = bits === undefined ? most : Number(bits);
  return length > most ? null : [parsed, length];
}

function addressOf(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // A zone id says which interface is meant. isIP takes it, and it is no part of an address that could be judged.
  if (text.includes("%") || isIP(text) === 0) return null;
  // Not as it stands: of `::127.0.0.1` the library makes `::ffff:127.0.0.1`, another address.
  return ipaddr.parse(text.includes(":") ? shortIPv6(text) : text);
}

function isAllowedAlone(address: ipaddr.IPv4 | ipaddr.IPv6, allowed: AllowedAddresses): boolean {
  const range = address.range();
  if (range === "unicast" && (address.kind() === "ipv4" || isIn(address, GLOBAL_UNICAST))) return true;
  return (allowed.private && PRIVATE.includes(range)) || isListed(address, allowed);
}

function isListed(address: ipaddr.IPv4 | ipaddr.IPv6, { ranges }: AllowedAddresses): boolean {
  return ranges.some((range) => isIn(address, range));
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, range: AddressRange): boolean {
  return address.kind() === range[0].kind() && address.match(range as [ipaddr.IPv4, number] & [ipaddr.IPv6, number]);
}

/** `::1` and `::127.0.0.1` hold no IPv4 address in this sense: they are of no class that is allowed. */
function innerAddress(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray();
  if (isMapped(address)) return address.toIPv4Address();
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12, 16));
  if (address.match(SIX_TO_FOUR)) return new ipaddr.IPv4(bytes.slice(2, 6));
  return null;
}

/** In ::ffff:0:0/96. */
function isMapped({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0xffff && parts.slice(0, 5).every((part) => part === 0);
}
