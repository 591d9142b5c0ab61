import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findCards } from "./cards.ts";
import { findEmails } from "./emails.ts";
import { findIbans } from "./ibans.ts";
import { findPhones } from "./phones.ts";
import { type RedactInput, redact } from "./redact.ts";
import type { Span } from "./span.ts";

function found(find: (text: string) => readonly Span[], text: string): string[] {
  return find(text).map(({ start, end }) => text.slice(start, end));
}

function run(input: RedactInput) {
  const events: unknown[] = [];
  return { ...redact(input, (type, payload) => events.push({ type, payload })), events };
}

describe("findEmails()", () => {
  test("finds addresses and leaves the sentence around them", () => {
    const text =
      "(ada@example.org), <o'neil.x+tag@mail.example.co.uk>. m\u00fcller@b\u00fccher.example; a@xn--bcher-kva.xn--p1ai!";
    expect(found(findEmails, text)).toEqual([
      "ada@example.org",
      "o'neil.x+tag@mail.example.co.uk",
      "m\u00fcller@b\u00fccher.example",
      "a@xn--bcher-kva.xn--p1ai",
    ]);
  });

  test("leaves what is none", () => {
    expect(found(findEmails, "@home, a@b, a@-b.org, user@localhost, 3 @ 4, a@@b.org, x@1.2.3.4")).toEqual([]);
  });

  test("takes two that touch apart", () => {
    expect(found(findEmails, "a@b.example,c@d.example")).toEqual(["a@b.example", "c@d.example"]);
  });
});

describe("findCards()", () => {
  test("finds numbers in one piece and in groups, also one after the other", () => {
    const text = "4111111111111111 378282246310005 3782 822463 10005 6011-1111-1111-1117 4222222222222";
    expect(found(findCards, text)).toEqual([
      "4111111111111111",
      "378282246310005",
      "3782 822463 10005",
      "6011-1111-1111-1117",
      "4222222222222",
    ]);
  });

  test("leaves what fails Luhn's check, is part of something longer or begins otherwise", () => {
    const text =
      "4111111111111112 x4111111111111111 41111111111111110000 1234567812345670 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2";
    expect(found(findCards, text)).toEqual([]);
  });

  test("finds every number that is completed with its check digit", () => {
    const start = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 11, maxLength: 17 });
    fc.assert(
      fc.property(start, fc.integer({ min: 2, max: 6 }), (digits, first) => {
        const body = [first, ...digits, 0];
        const sum = body.reverse().reduce((total, digit, index) => {
          const doubled = index % 2 === 1 ? digit * 2 : digit;
          return total + (doubled > 9 ? doubled - 9 : doubled);
        }, 0);
        const number = `${body.reverse().slice(0, -1).join("")}${(10 - (sum % 10)) % 10}`;
        expect(found(findCards, `pay ${number} now`)).toEqual([number]);
      }),
    );
  });
});

describe("findIbans()", () => {
  test("finds those of several countries, grouped or not, in either case", () => {
    const ibans = [
      "GB82 WEST 1234 5698 7654 32",
      "DE89370400440532013000",
      "NO9386011117947",
      "ch93 0076 2011 6238 5295 7",
    ];
    expect(found(findIbans, `pay to ${ibans.join(" or ")} soon`)).toEqual(ibans);
  });

  test("leaves wrong check digits, wrong lengths and unknown countries", () => {
    const text = "DE89370400440532013001 DE8937040044053201300 DE893704004405320130001 ZZ89370400440532013000";
    expect(found(findIbans, text)).toEqual([]);
  });
});

describe("findPhones()", () => {
  test("finds international, national and North American ones", () => {
    const phones = [
      "+41 44 668 18 00",
      "+1-415-555-0132",
      "0041446681800",
      "044 668 18 00",
      "(030) 1234567",
      "415.555.0132",
    ];
    expect(found(findPhones, phones.join("; "))).toEqual(phones);
  });

  test("leaves dates, times, amounts and versions", () => {
    const text = "01.02.2024 12:30 2024-05-31 08:15:00 1234567890 1,000,000.00 192.168.100.200 v10.20.30 0.12345678";
    expect(found(findPhones, text)).toEqual([]);
  });
});

describe("redact()", () => {
  test("keeps what it found out of events", () => {
    const { events } = run({ text: "ada@example.org 4111111111111111 +41 44 668 18 00" });
    expect(events).toEqual([
      { type: "pii-found", payload: { kind: "email", count: 1 } },
      { type: "pii-found", payload: { kind: "card", count: 1 } },
      { type: "pii-found", payload: { kind: "phone", count: 1 } },
    ]);
  });

  test("gives positions of the original text and finds nothing in its own output", () => {
    const piece = fc.constantFrom(
      "ada@example.org",
      "4111 1111 1111 1111",
      "DE89370400440532013000",
      "+41 44 668 18 00",
    );
    const words = fc.string({ unit: fc.constantFrom("a", " ", "\n", ".", "\u00e9") });
    fc.assert(
      fc.property(fc.array(fc.tuple(words, piece)), (parts) => {
        const text = parts.map(([before, secret]) => `${before} ${secret} `).join("\n");
        const result = run({ text });
        const secrets = result.findings.flatMap(({ positions }) => positions).sort((a, b) => a.start - b.start);
        expect(secrets.map(({ start, end }) => text.slice(start, end))).toEqual(parts.map(([, secret]) => secret));
        expect(run({ text: result.text }).findings).toEqual([]);
      }),
    );
  });

  test("declines a text of more than a million characters", () => {
    expect(() => run({ text: "a".repeat(1_000_001) })).toThrow("at most 1000000");
  });

  test("lists a thousand positions at most and counts them all", () => {
    const { findings } = run({ text: "a@b.example ".repeat(1_200) });
    expect(findings[0]).toMatchObject({ count: 1_200 });
    expect(findings[0]!.positions).toHaveLength(1_000);
  });

  test("looks at no character more than a bounded number of times", () => {
    // Each of these is 200,000 characters of what comes closest to a finding. Quadratic time would take minutes.
    for (const unit of ["(", "+", "1 ", "22 ", "222 ", "2222 ", "ab12 ", "DE89 ", "a@", "a.", "0", "00 ", "4-", "(0"]) {
      expect(run({ text: unit.repeat(Math.floor(200_000 / unit.length)) }).text.length).toBeGreaterThan(0);
    }
  });
});
