import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AddressRange, addressRange, canonicalAddress, isAllowedAddress } from "./http-address.ts";

const NONE = { private: false, ranges: [] };
const PRIVATE = { private: true, ranges: [] };

function ranges(...texts: string[]): { private: boolean; ranges: AddressRange[] } {
  return { private: false, ranges: texts.map((text) => addressRange(text)!) };
}

describe("isAllowedAddress()", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "172.32.0.1",
    "223.255.255.254",
    "2606:4700:4700::1111",
    "2a00:1450::1",
  ])("takes %s, which is global unicast", (address) => {
    expect(isAllowedAddress(address, NONE)).toBe(true);
  });

  const refused = [
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "0/8"],
    ["10.0.0.1", "private"],
    ["100.64.0.1", "shared"],
    ["100.127.255.255", "shared"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["169.254.169.254", "metadata"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.1", "protocol assignments"],
    ["192.0.0.170", "NAT64 discovery"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "6to4 relay"],
    ["192.168.0.1", "private"],
    ["198.18.0.1", "benchmarks"],
    ["198.19.255.255", "benchmarks"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.255", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::127.0.0.1", "IPv4-compatible"],
    ["::8.8.8.8", "IPv4-compatible"],
    ["100::1", "discard"],
    ["fe80::1", "link-local"],
    ["febf::1", "link-local"],
    ["fec0::1", "site-local"],
    ["fc00::1", "unique local"],
    ["fdff::1", "unique local"],
    ["ff02::1", "multicast"],
    ["::ffff:127.0.0.1", "v4-mapped loopback"],
    ["::ffff:a9fe:a9fe", "v4-mapped metadata"],
    ["::ffff:8.8.8.8", "v4-mapped, even of a global one"],
    ["64:ff9b::7f00:1", "NAT64 of loopback"],
    ["64:ff9b::808:808", "NAT64 of a global one"],
    ["64:ff9b:1::a00:1", "local NAT64"],
    ["2001::1", "Teredo"],
    ["2001:db8::1", "documentation"],
    ["2001:10::1", "ORCHID"],
    ["2002:7f00:1::1", "6to4 of loopback"],
    ["2002:808:808::1", "6to4 of a global one"],
    ["3fff::1", "documentation"],
    ["4000::1", "given out to nobody"],
    ["5f00::1", "segment routing"],
  ] as const;

  it.each(refused)("refuses %s (%s)", (address) => {
    expect(isAllowedAddress(address, NONE)).toBe(false);
  });

  it.each([
    "0x7f.1",
    "0x7f000001",
    "017700000001",
    "0177.0.0.1",
    "2130706433",
    "127.1",
    "1.1",
    "08.8.8.8",
    "8.8.8.8 ",
    " 8.8.8.8",
    "8.8.8.8\0",
    "fe80::1%eth0",
    "2606:4700::1%1",
    "[2606:4700::1]",
    "example.com",
    "",
  ])("refuses %j, which is not the usual spelling of an address, whatever is allowed", (address) => {
    expect(
      isAllowedAddress(address, { private: true, ranges: [addressRange("0.0.0.0/0")!, addressRange("::/0")!] }),
    ).toBe(false);
  });

  it("takes private, shared, loopback and unique local addresses where they are allowed, and no others with them", () => {
    const taken = refused.map(([address]) => address).filter((address) => isAllowedAddress(address, PRIVATE));
    expect(taken).toEqual([
      "10.0.0.1",
      "100.64.0.1",
      "100.127.255.255",
      "127.0.0.1",
      "127.255.255.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.0.1",
      "::1",
      "fc00::1",
      "fdff::1",
    ]);
  });

  it("takes what is in a range, and of what carries an IPv4 address inside only that whose inner one may be reached", () => {
    expect(isAllowedAddress("169.254.169.254", ranges("169.254.169.254"))).toBe(true);
    expect(isAllowedAddress("169.254.169.253", ranges("169.254.169.254"))).toBe(false);
    expect(isAllowedAddress("64:ff9b::808:808", ranges("64:ff9b::/96"))).toBe(true);
    expect(isAllowedAddress("64:ff9b::7f00:1", ranges("64:ff9b::/96"))).toBe(false);
    expect(isAllowedAddress("64:ff9b::7f00:1", ranges("64:ff9b::/96", "127.0.0.1"))).toBe(true);
    expect(isAllowedAddress("::ffff:10.0.0.1", ranges("10.0.0.0/8"))).toBe(false);
    expect(isAllowedAddress("::ffff:10.0.0.1", ranges("::ffff:0:0/96"))).toBe(false);
    expect(isAllowedAddress("::ffff:10.0.0.1", ranges("::ffff:0:0/96", "10.0.0.0/8"))).toBe(true);
    expect(isAllowedAddress("2002:a00:1::", ranges("2002::/16"))).toBe(false);
  });

  it("refuses every IPv4 address of a private block, alone and in each wrapping", () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const blocks = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), octet, octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    );
    fc.assert(
      fc.property(blocks, (bytes) => {
        const [a, b, c, d] = bytes;
        const hex = [a * 256 + b, c * 256 + d].map((part) => part.toString(16)).join(":");
        const wrapped = [
          bytes.join("."),
          `::ffff:${hex}`,
          `::${hex}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::1`,
          `2001::${hex}`,
        ];
        expect(wrapped.filter((address) => isAllowedAddress(address, NONE))).toEqual([]);
      }),
    );
  });
});

describe("canonicalAddress()", () => {
  it("spells an address in one way, and a v4-mapped one as what is inside", () => {
    expect(canonicalAddress("2606:4700:0:0::1111")).toBe("2606:4700::1111");
    expect(canonicalAddress("::FFFF:127.0.0.1")).toBe("127.0.0.1");
    expect(canonicalAddress("::127.0.0.1")).not.toBe("127.0.0.1");
    expect(canonicalAddress("localhost")).toBe(null);
  });
});

describe("addressRange()", () => {
  it.each([
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10/8",
    "::/129",
    "fe80::%1/10",
    "example.com",
    "",
  ])("takes %j for no range", (text) => {
    expect(addressRange(text)).toBe(null);
  });
});
