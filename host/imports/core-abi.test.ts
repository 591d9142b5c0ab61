import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CONNECTOR_FAILURES, type ConnectorFailureClass } from "../errors/errors.ts";
import { type FakeScope, fakeScope, Stopped } from "../tests/wasi/fake-scope.ts";
import { type ConnectorReply, type CoreAbi, coreAbi, PRICES } from "./imports.ts";

const PAGE = 65_536;
/** Answers of the check that finds nothing wrong, and of those that do. */
const ERRNO = { success: 0, badf: 8, fault: 21 };

type Call = (...args: number[]) => number;

interface Bench {
  readonly scope: FakeScope;
  readonly memory: Uint8Array;
  readonly abi: CoreAbi;
  readonly wasi: Record<"fd_read" | "fd_write" | "proc_exit", Call>;
  readonly host: Record<"capability_id" | "execution_id" | "trace_context" | "emit_event" | "connector_invoke", Call>;
}

function bench(options: Parameters<typeof fakeScope>[0] = {}, pages = 1): Bench {
  const memory = new Uint8Array(pages * PAGE);
  const scope = fakeScope(options);
  const abi = coreAbi(scope, () => (pages === 0 ? null : memory));
  const { wasi_snapshot_preview1: wasi, traverse_host: host } = abi.imports as Record<string, unknown>;
  return { scope, memory, abi, wasi: wasi as Bench["wasi"], host: host as Bench["host"] };
}

/** Any i32, more often one at an edge of what counts. */
const number = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) },
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: PAGE - 40, max: PAGE + 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 31 - 1, -(2 ** 31)) },
);

const inside = (at: number, length: number, size = PAGE): boolean => at + length <= size;

describe("the queries", () => {
  it("answer as the model of their order says, and write nothing else", () => {
    fc.assert(
      fc.property(number, number, fc.constantFrom(0, 1), (ptr, capacity, pages) => {
        const { host, memory } = bench({}, pages);
        const text = "test.wasi";
        const wanted =
          ptr < 0 || capacity < 0 || pages === 0 || !inside(ptr, capacity)
            ? -1
            : capacity < text.length
              ? -2
              : text.length;
        expect(host.capability_id(ptr, capacity)).toBe(wanted);
        const written = wanted < 0 ? "" : text;
        expect(memory.reduce((sum, byte) => sum + (byte === 0 ? 0 : 1), 0)).toBe(written.length);
        if (wanted >= 0) expect(Buffer.from(memory.subarray(ptr, ptr + wanted)).toString()).toBe(text);
      }),
    );
  });

  it("are told apart, and pay for what they write", () => {
    const { host, scope, memory } = bench();
    const before = scope.fuelLeft();
    expect(host.execution_id(10, 5)).toBe(5);
    expect(Buffer.from(memory.subarray(10, 15)).toString()).toBe("run-1");
    expect(before - scope.fuelLeft()).toBe(BigInt(PRICES.local + 5));
    expect(host.trace_context(0, 0)).toBe(0);
    expect(scope.entered).toEqual(["traverse_host#execution_id", "traverse_host#trace_context"]);
  });
});

const EVENTS = {
  subscribable: true,
  declared: [{ type: "said", version: "1.0.0" }],
  validatorOf: () => () => null,
};

describe("emit_event", () => {
  const good = Buffer.from('{"event_id":"said","version":"1.0.0"}');

  it("answers as the model of its order says for any pointer and length", () => {
    fc.assert(
      fc.property(number, number, fc.boolean(), fc.constantFrom(0, 1), (ptr, length, subscribable, pages) => {
        const { host, memory, scope } = bench({ rules: { ...EVENTS, subscribable } }, pages);
        memory.set(good.subarray(0, memory.length), 0);
        const before = scope.fuelLeft();
        const wanted = !subscribable ? -3 : ptr === 0 && length === good.length && pages === 1 ? 0 : -1;
        expect(host.emit_event(ptr, length)).toBe(wanted);
        expect([scope.events.accepted, scope.events.refused]).toEqual(wanted === 0 ? [1, 0] : [0, 1]);
        const isRead = subscribable && ptr >= 0 && length >= 0 && length <= PAGE && pages === 1 && inside(ptr, length);
        expect(before - scope.fuelLeft()).toBe(BigInt(PRICES.event + (isRead ? length : 0)));
      }),
    );
  });

  it("never takes what is not declared, whatever JSON it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { host, memory, scope } = bench({ rules: EVENTS });
        const text = Buffer.from(JSON.stringify(value));
        fc.pre(text.length <= PAGE);
        memory.set(text);
        const event = value as { event_id?: unknown; version?: unknown } | null;
        const isEvent =
          typeof event === "object" &&
          event !== null &&
          typeof event.event_id === "string" &&
          typeof event.version === "string";
        expect(host.emit_event(0, text.length)).toBe(isEvent ? -2 : -1);
        expect(scope.events.accepted).toBe(0);
      }),
    );
  });

  it("takes 64 KiB and not a byte more, wherever the memory ends", () => {
    const { host, memory, scope } = bench({ rules: EVENTS }, 2);
    memory.fill(0x20);
    memory.set(good, 0);
    expect(host.emit_event(0, PAGE + 1)).toBe(-1);
    expect(host.emit_event(0, PAGE)).toBe(0);
    expect([scope.events.accepted, scope.events.refused]).toEqual([1, 1]);
  });

  it("reads own members only", () => {
    const { host, memory } = bench({ rules: EVENTS });
    const text = Buffer.from('{"__proto__":{"event_id":"said","version":"1.0.0"}}');
    memory.set(text);
    expect(host.emit_event(0, text.length)).toBe(-1);
  });

  it("hands the payload on as it was read", () => {
    const { host, memory, scope } = bench({ rules: EVENTS });
    const published: string[] = [];
    (scope as { publish: (json: string) => void }).publish = (json) => published.push(json);
    const text = Buffer.from('{"event_id":"said","version":"1.0.0", "payload": [1, {"a": "\\u00e9"}] }');
    memory.set(text);
    expect(host.emit_event(0, text.length)).toBe(0);
    expect(published).toEqual(['"said","1.0.0",[1,{"a":"é"}]']);
  });
});

describe("connector_invoke", () => {
  const request = { abi_version: "1.0.0", connector_id: "acme.store", operation: "get", payload: { key: 1 } };
  const good = Buffer.from(JSON.stringify(request));

  function asked(reply: ConnectorReply, pages = 1) {
    const made = bench({}, pages);
    const questions: unknown[] = [];
    (made.scope as { askHost: FakeScope["askHost"] }).askHost = (name, method, args) => {
      questions.push([name, method, ...args]);
      return { kind: "value", value: reply };
    };
    made.memory.set(good.subarray(0, made.memory.length));
    return { ...made, questions };
  }

  const response = { kind: "response", resultClass: "success", payload: '{"value":"é"}' } as const;
  const envelope = '{"abi_version":"1.0.0","result_class":"success","payload":{"value":"é"}}';
  const bytes = Buffer.byteLength(envelope);

  it("writes the response and gives its length", () => {
    const { host, memory, questions, scope } = asked(response);
    expect(host.connector_invoke(0, good.length, 1_000, 500)).toBe(bytes);
    expect(Buffer.from(memory.subarray(1_000, 1_000 + bytes)).toString()).toBe(envelope);
    expect(memory[1_000 + bytes]).toBe(0);
    const name = "airlock:capability/connectors@1.0.0";
    expect(questions).toEqual([[name, "invoke", "acme.store", "get", '{"key":1}', 500]]);
    expect(scope.counters).toMatchObject({
      hostCalls: 1,
      hostBytesOut: "acme.storeget".length + 9,
      hostBytesIn: "success".length + Buffer.byteLength(response.payload),
    });
    expect(scope.fuelAtStart() - scope.fuelLeft()).toBeGreaterThan(BigInt(PRICES.main));
  });

  it("takes 64 KiB each way and not a byte more, wherever the memory ends", () => {
    const { host, memory, questions } = asked(response, 2);
    memory.fill(0x20, good.length);
    expect(host.connector_invoke(0, PAGE + 1, 0, 0)).toBe(-5);
    expect(host.connector_invoke(0, PAGE, 0, PAGE + 1)).toBe(-1);
    expect(questions).toEqual([]);
    expect(host.connector_invoke(0, PAGE, PAGE, PAGE)).toBe(bytes);
    expect(questions).toHaveLength(1);
  });

  it("asks with no room where the response has no place in the memory", () => {
    const { host, questions } = asked({
      kind: "failure",
      failureClass: "invalid_response_memory",
      code: "",
      message: "",
      retryable: false,
    });
    expect(host.connector_invoke(0, good.length, PAGE - 10, 11)).toBe(-1);
    expect((questions[0] as unknown[]).at(-1)).toBeNull();
    expect(host.connector_invoke(0, good.length, PAGE - 10, 10)).toBe(-1);
    expect((questions[1] as unknown[]).at(-1)).toBe(10);
  });

  it("holds a response to its place even where the main thread does not", () => {
    const { host, memory } = asked(response);
    expect(host.connector_invoke(0, good.length, 1_000, bytes - 1)).toBe(-5);
    expect(host.connector_invoke(0, good.length, PAGE - 10, 11)).toBe(-1);
    expect(memory.subarray(good.length).every((byte) => byte === 0)).toBe(true);
  });

  it.each(Object.entries(CONNECTOR_FAILURES).map(([name, { status }]) => [name, status] as const))(
    "answers %s with %d",
    (failureClass, status) => {
      const { host } = asked({
        kind: "failure",
        failureClass: failureClass as ConnectorFailureClass,
        code: "c",
        message: "m",
        retryable: true,
      });
      expect(host.connector_invoke(0, good.length, 1_000, 500)).toBe(status);
    },
  );

  it("answers a request that the main thread cannot parse with -1", () => {
    const { host } = asked({ kind: "invalid-request", message: "no" });
    expect(host.connector_invoke(0, good.length, 1_000, 500)).toBe(-1);
  });

  it("answers as the model of its order says for any pointers, and asks nobody before all are right", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constant(0), number),
        fc.oneof(fc.constant(good.length), number),
        number,
        number,
        fc.constantFrom(0, 1),
        (at, length, to, capacity, pages) => {
          const { host, questions, memory } = asked(response, pages);
          const before = memory.slice();
          const model = (): number | "asked" => {
            if (at < 0 || length < 0 || to < 0 || capacity < 0) return -1;
            if (length > PAGE) return -5;
            if (capacity > PAGE || pages === 0 || !inside(at, length)) return -1;
            return at === 0 && length === good.length ? "asked" : -1;
          };
          const wanted = model();
          const got = host.connector_invoke(at, length, to, capacity);
          expect(questions).toHaveLength(wanted === "asked" ? 1 : 0);
          const room = inside(to, capacity) ? capacity : null;
          const answer = room === null ? -1 : room < bytes ? -5 : bytes;
          expect(got).toBe(wanted === "asked" ? answer : wanted);
          if (got < 0) expect(Buffer.compare(memory, before)).toBe(0);
          else expect(Buffer.from(memory.subarray(to, to + bytes)).toString()).toBe(envelope);
        },
      ),
    );
  });
});

interface Vector {
  readonly at: number;
  readonly length: number;
}

describe("fd_read and fd_write", () => {
  const vector = fc.record({ at: number, length: fc.oneof(fc.integer({ min: 0, max: 30 }), number) });

  function lay(memory: Uint8Array, at: number, vectors: readonly Vector[]): void {
    const view = new DataView(memory.buffer);
    for (const [index, each] of vectors.entries()) {
      view.setUint32(at + index * 8, each.at >>> 0, true);
      view.setUint32(at + index * 8 + 4, each.length >>> 0, true);
    }
  }

  const faults = (at: number, vectors: readonly Vector[], resultAt: number): boolean =>
    !inside(at, vectors.length * 8) ||
    !inside(resultAt >>> 0, 4) ||
    vectors.some((each) => !inside(each.at >>> 0, each.length >>> 0));

  it("fd_write answers as the model says, and gathers exactly what the vectors name", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3 }),
        fc.array(vector, { maxLength: 5 }),
        fc.oneof(fc.constant(3_000), number),
        (descriptor, vectors, resultAt) => {
          const { wasi, memory, abi } = bench();
          for (let at = 100; at < PAGE; at++) memory[at] = 33 + (at % 90);
          lay(memory, 1_024, vectors);
          const before = memory.slice();
          const total = vectors.reduce((sum, { length }) => sum + (length >>> 0), 0);
          const isOutput = descriptor === 1 || descriptor === 2;
          if (!isOutput || faults(1_024, vectors, resultAt)) {
            expect(wasi.fd_write(descriptor, 1_024, vectors.length, resultAt)).toBe(
              isOutput ? ERRNO.fault : ERRNO.badf,
            );
            expect(Buffer.compare(memory, before)).toBe(0);
            expect(abi.ending()).toEqual({ kind: "succeeded", output: "" });
          } else if (descriptor === 1 && total > 65_536 * 64) {
            expect(() => wasi.fd_write(1, 1_024, vectors.length, resultAt)).toThrow(Stopped);
          } else {
            expect(wasi.fd_write(descriptor, 1_024, vectors.length, resultAt)).toBe(ERRNO.success);
            expect(new DataView(memory.buffer).getUint32(resultAt >>> 0, true)).toBe(total);
            const named = vectors.map((each) => before.subarray(each.at >>> 0, (each.at >>> 0) + each.length));
            const output = descriptor === 1 ? Buffer.concat(named).toString("latin1") : "";
            expect(abi.ending()).toEqual({ kind: "succeeded", output });
          }
        },
      ),
    );
  });

  it("fd_read fills the vectors as they were at the call, however they lie", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ at: fc.integer({ min: 1_000, max: 1_100 }), length: fc.integer({ min: 0, max: 30 }) }), {
          maxLength: 6,
        }),
        fc.integer({ min: 980, max: 1_120 }),
        (vectors, resultAt) => {
          const input = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
          const { wasi, memory } = bench({ input });
          lay(memory, 1_024, vectors);
          const model = memory.slice();
          let read = 0;
          for (const { at, length } of vectors) {
            const part = Buffer.from(input.slice(read, read + length));
            model.set(part, at);
            read += part.length;
          }
          new DataView(model.buffer).setUint32(resultAt, read, true);
          expect(wasi.fd_read(0, 1_024, vectors.length, resultAt)).toBe(ERRNO.success);
          expect(Buffer.compare(memory, model)).toBe(0);
        },
      ),
    );
  });

  it("answer for any four numbers, and never more than an errno or an ending of the run", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("fd_read" as const, "fd_write" as const),
        fc.tuple(fc.oneof(fc.integer({ min: 0, max: 2 }), number), number, number, number),
        (name, args) => {
          const { wasi } = bench({ input: "12345", limits: { fuel: 1_000_000 } });
          try {
            expect([0, 8, 21, 28]).toContain(wasi[name](...args));
          } catch (thrown) {
            if (!(thrown instanceof Stopped)) throw thrown;
            expect(["over-budget", "out-of-fuel"]).toContain(thrown.ending.kind);
          }
        },
      ),
    );
  });

  it("pay for vectors before they walk them", () => {
    const { wasi, scope } = bench({ limits: { fuel: 100_000 } });
    expect(() => wasi.fd_write(2, 0, 8_000, 0)).toThrow(new Stopped({ kind: "out-of-fuel" }).message);
    expect(scope.counters.logDropped).toBe(0);
  });

  it("begin anew when told to", () => {
    const { wasi, memory, abi, scope } = bench({ input: "12345" });
    lay(memory, 1_024, [{ at: 2_000, length: 3 }]);
    const view = new DataView(memory.buffer);
    for (const round of [1, 2]) {
      expect(wasi.fd_read(0, 1_024, 1, 1_100), `round ${round}`).toBe(0);
      expect(Buffer.from(memory.subarray(2_000, 2_003)).toString()).toBe("123");
      wasi.fd_write(1, 1_024, 1, 1_100);
      wasi.fd_write(2, 1_024, 1, 1_100);
      expect(abi.ending()).toEqual({ kind: "succeeded", output: "123" });
      scope.finish();
      abi.clear();
      expect(abi.ending()).toEqual({ kind: "succeeded", output: "" });
    }
    expect(view.getUint32(1_100, true)).toBe(3);
    expect(scope.lines).toEqual([
      ["error", "123"],
      ["error", "123"],
    ]);
  });
});

describe("proc_exit", () => {
  it.each([
    [0, { kind: "succeeded", output: "" }],
    [
      7,
      {
        kind: "failed",
        failure: { code: "exit-status", message: "the module exited with status 7", retryable: false },
      },
    ],
    [
      -1,
      {
        kind: "failed",
        failure: { code: "exit-status", message: "the module exited with status 4294967295", retryable: false },
      },
    ],
  ] as const)("%d ends the run", (status, ending) => {
    const { wasi } = bench();
    expect(() => wasi.proc_exit(status)).toThrow(JSON.stringify(ending));
  });
});
