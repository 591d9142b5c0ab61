import { createParser, type EventSourceMessage } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunEvent } from "./provider.ts";
import { NDJSON, SERVER_SENT_EVENTS, serverSentEvent } from "./record-format.ts";

/** What a parser that is not ours reads. */
function parsed(text: string): EventSourceMessage[] {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void messages.push(message) });
  parser.feed(text);
  return messages;
}

/** Texts with what ends a line somewhere, or looks like a field. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom(
        "\n",
        "\r",
        "\r\n",
        "\0",
        "\u2028",
        "\u0085",
        "data: x",
        "\n\nevent: evil\ndata: y",
        "\ufeff",
        ":",
      ),
    ),
  )
  .map((parts) => parts.join(""));

describe("SERVER_SENT_EVENTS", () => {
  it("writes the kind as the name, a number as the id and the event as data on one line", () => {
    const event: RunEvent = { kind: "delta", text: "two\nlines\r\u2028" };
    expect(SERVER_SENT_EVENTS.record(event, 7)).toBe(
      'id: 7\nevent: delta\ndata: {"kind":"delta","text":"two\\nlines\\r\u2028"}\n\n',
    );
    expect(SERVER_SENT_EVENTS.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  });

  it("is read back by another parser as it was, whatever the texts hold", () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 5 }), (texts) => {
        const events = texts.map((text): RunEvent => ({ kind: "delta", text }));
        const read = parsed(events.map((event, i) => SERVER_SENT_EVENTS.record(event, i + 1)).join(""));
        expect(read.map(({ data }) => JSON.parse(data))).toEqual(events);
        expect(read.map(({ id, event }) => [id, event])).toEqual(events.map((_, i) => [`${i + 1}`, "delta"]));
      }),
    );
  });
});

describe("serverSentEvent()", () => {
  it("lets no id and no name become another field, and no data another event", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, (id, name, data) => {
        const after = serverSentEvent("2", "after", "{}");
        const [first, second, ...more] = parsed(serverSentEvent(id, name, data) + after);
        expect(first?.data).toBe(data.replace(/\r\n|\r/g, "\n"));
        expect([second?.id, second?.event, second?.data, more]).toEqual(["2", "after", "{}", []]);
      }),
    );
    expect(serverSentEvent("1", "x\ndata: evil\n\n", "a\r\nb")).toBe(
      "id: 1\nevent: x\ufffddata: evil\ufffd\ufffd\ndata: a\ndata: b\n\n",
    );
  });
});

describe("NDJSON", () => {
  it("writes one line for each event, whatever the texts hold", () => {
    fc.assert(
      fc.property(fc.array(hostile), (texts) => {
        const events = texts.map((text): RunEvent => ({ kind: "delta", text }));
        const lines = events
          .map((event, i) => NDJSON.record(event, i + 1))
          .join("")
          .split("\n");
        expect(lines.pop()).toBe("");
        expect(lines.map((line) => JSON.parse(line))).toEqual(events);
      }),
    );
    expect(NDJSON.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
  });
});
