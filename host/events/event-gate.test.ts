import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSchemaValidator, type JsonSchema, type ValueCheck } from "../manifest/manifest.ts";
import { EventGate, parseEvents } from "./events.ts";

const limits = { eventCount: 2, eventBytes: 20, eventTotalBytes: 25 };
const declared = [
  {
    type: "found",
    version: "1.0.0",
    schema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } },
  },
  { type: "free", version: "1.0.0" },
];

function gate(subscribable = true, more: Partial<typeof limits> = {}): EventGate {
  const validatorOf = (schema: JsonSchema): ValueCheck => createSchemaValidator().compile(schema);
  return new EventGate({ subscribable, declared, validatorOf }, { ...limits, ...more });
}

describe("EventGate", () => {
  it("check() accepts a declared pair whose payload fits its schema", () => {
    expect(gate().check("found", "1.0.0", '{"n":1}')).toEqual({
      kind: "accepted",
      json: '"found","1.0.0",{"n":1}',
    });
    expect(parseEvents('"found","1.0.0",{"n":1}')).toEqual([{ type: "found", version: "1.0.0", payload: { n: 1 } }]);
  });

  it("check() accepts a payload as the value that it is, also among others", () => {
    const room = { eventBytes: 1_000_000, eventTotalBytes: 1_000_000 };
    const odd = [
      '{"__proto__":{"n":1},"a":1,"a":2}',
      ' "\\ud800\\u0000" ',
      '"\ud800"',
      "[-0,1e400]\n",
      '"}],["',
      "null",
    ];
    const payloads = fc.oneof(
      fc.constantFrom(...odd),
      fc.json({ noUnicodeString: false }),
      fc.json({ maxDepth: 8 }).map((text) => JSON.stringify(JSON.parse(text), null, 2)),
    );
    fc.assert(
      fc.property(payloads, payloads, (one, other) => {
        const checked = [one, other].map((payload) => gate(true, room).check("free", "1.0.0", payload));
        const events = [one, other].map((payload) => ({
          type: "free",
          version: "1.0.0",
          payload: JSON.parse(payload) as unknown,
        }));
        const jsons = checked.map((verdict) => (verdict.kind === "accepted" ? verdict.json : "refused"));
        expect(parseEvents(jsons.join(","))).toStrictEqual(events);
      }),
    );
  });

  it("check() refuses everything when the capability is not subscribable", () => {
    expect(gate(false).check("found", "1.0.0", "not json")).toEqual({
      kind: "refused",
      refusal: { tag: "not-subscribable" },
    });
  });

  it("check() refuses a pair that is not declared, by type or by version", () => {
    for (const [type, version] of [
      ["other", "1.0.0"],
      ["found", "1.0.1"],
    ] as const) {
      expect(gate().check(type, version, '{"n":1}')).toEqual({ kind: "refused", refusal: { tag: "undeclared-event" } });
    }
  });

  it("check() counts bytes, not characters", () => {
    expect(gate().check("free", "1.0.0", JSON.stringify("é".repeat(9)))).toMatchObject({ kind: "accepted" });
    expect(gate().check("free", "1.0.0", JSON.stringify("é".repeat(10)))).toEqual({
      kind: "refused",
      refusal: { tag: "too-large" },
    });
  });

  it("check() counts any string as its UTF-8, where half a surrogate pair becomes a replacement character", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0x20, max: 0xffff }), { maxLength: 40 }), (units) => {
        const payload = JSON.stringify(String.fromCharCode(...units)).replace(/\\u(d[89a-f]..)/g, (_, unit) =>
          String.fromCharCode(Number.parseInt(unit, 16)),
        );
        const eventBytes = new TextEncoder().encode(payload).length;
        const room = { eventBytes, eventTotalBytes: 1_000 };
        expect(gate(true, room).check("free", "1.0.0", payload).kind).toBe("accepted");
        expect(gate(true, { ...room, eventBytes: eventBytes - 1 }).check("free", "1.0.0", payload)).toEqual({
          kind: "refused",
          refusal: { tag: "too-large" },
        });
      }),
    );
  });

  it("check() says where a payload is wrong, and why it is not JSON", () => {
    expect(gate().check("found", "1.0.0", '{"n":"x"}')).toMatchObject({
      refusal: { tag: "invalid-payload", val: expect.stringContaining("n") },
    });
    expect(gate().check("found", "1.0.0", "{")).toMatchObject({
      refusal: { tag: "invalid-payload", val: expect.stringContaining("JSON") },
    });
  });

  it("check() refuses a payload that nests too deep before it parses it", () => {
    const deep = "[".repeat(200) + "]".repeat(200);
    expect(gate(true, { eventBytes: 1_000, eventTotalBytes: 1_000 }).check("free", "1.0.0", deep)).toMatchObject({
      refusal: { tag: "invalid-payload", val: expect.stringContaining("deeper") },
    });
  });

  it("check() stops at the count and at the sum of bytes, and a refusal uses up neither", () => {
    const counted = gate();
    expect(counted.check("free", "1.0.0", "1").kind).toBe("accepted");
    expect(counted.check("found", "1.0.0", "1").kind).toBe("refused");
    expect(counted.check("free", "1.0.0", "2").kind).toBe("accepted");
    expect(counted.check("free", "1.0.0", "3")).toEqual({ kind: "refused", refusal: { tag: "budget-exhausted" } });
    expect(counted).toMatchObject({ accepted: 2, refused: 2 });
    const summed = gate();
    expect(summed.check("free", "1.0.0", JSON.stringify("x".repeat(18))).kind).toBe("accepted");
    expect(summed.check("free", "1.0.0", JSON.stringify("x".repeat(4)))).toEqual({
      kind: "refused",
      refusal: { tag: "budget-exhausted" },
    });
  });

  it("takeNested() leaves less room for events to come, and `left` says how much", () => {
    const room = { eventCount: 3, eventBytes: 20, eventTotalBytes: 20 };
    const counted = gate(true, room);
    counted.takeNested(2, 5);
    expect(counted.left).toEqual({ count: 1, bytes: 15 });
    expect(counted.check("free", "1.0.0", '"1"').kind).toBe("accepted");
    expect(counted.left).toEqual({ count: 0, bytes: 12 });
    expect(counted.check("free", "1.0.0", "1")).toEqual({ kind: "refused", refusal: { tag: "budget-exhausted" } });
    expect(counted).toMatchObject({ accepted: 1, refused: 1 });
    const summed = gate(true, room);
    summed.takeNested(0, 30);
    expect(summed.left).toEqual({ count: 3, bytes: 0 });
    expect(summed.check("free", "1.0.0", "1").kind).toBe("refused");
  });
});
