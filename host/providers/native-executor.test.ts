import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolvePolicy } from "../manifest/manifest.ts";
import { DeclinedError, functionProvider } from "./function-provider.ts";
import type { FunctionContext } from "./function-run.ts";
import { NativeExecutor, type NativeFunction, type NativeManifestInput } from "./native-executor.ts";
import type { RunEvent, RunRequest } from "./provider.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { HeldProvider, requestFor, settled } from "./test-requests.ts";

const ID = "app.fn@1.0.0";
const OPERATION = { name: "call", input: true, output: true };
const MANIFEST: NativeManifestInput = {
  id: "app.fn",
  version: "1.0.0",
  artifactType: "native",
  operations: [OPERATION],
};
const ROW = { type: "row", version: "1.0.0", payload: 1 };
const EMITS = {
  serviceType: "subscribable",
  emits: [{ type: "row", version: "1.0.0", schema: { type: "integer" } }],
} as const;

function bench(capacity = 1) {
  const clock = new TestClock();
  const runs = new ProviderRuns({ clock });
  const executor = new NativeExecutor(runs, { capacity }, { clock, policy: resolvePolicy() });
  let count = 0;
  const start = (input: unknown, more: Partial<RunRequest> & { readonly signal?: AbortSignal } = {}) => {
    const { signal, ...request } = more;
    return runs.start(
      requestFor(ID, { runId: `r${count++}`, input, ...request }),
      signal === undefined ? {} : { signal },
    );
  };
  return { clock, runs, executor, start };
}

async function heardOf(manifest: Partial<NativeManifestInput>, call: NativeFunction, input: unknown = null) {
  const { runs, executor, start } = bench();
  await executor.install({ ...MANIFEST, ...manifest }, call);
  const run = start(input);
  const heard: RunEvent[] = [];
  for await (const event of run) heard.push(event);
  // Whatever happened, the slot is free and the next run is served.
  expect(executor.stats()).toMatchObject({ inUse: 0, releasedAgain: 0 });
  expect(runs.stats().inFlight).toBe(0);
  return { outcome: await run.outcome, events: heard.filter(({ kind }) => kind === "event"), last: heard.at(-1) };
}

describe("new NativeExecutor()", () => {
  it("refuses a capacity that is no whole number from 1 to 256 as invalid_capacity", () => {
    const runs = new ProviderRuns();
    for (const capacity of [0, -1, 257, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "8", null, undefined, {}, 8n]) {
      expect(() => new NativeExecutor(runs, { capacity: capacity as number }), String(capacity)).toThrow(
        expect.objectContaining({
          code: "AIRLOCK_PROVIDERS_CAPACITY_INVALID",
          failure: "invalid_capacity",
          message: expect.stringMatching(/capacity is .+, a whole number from 1 to 256 is wanted$/),
        }),
      );
    }
    expect(() => new NativeExecutor(runs, undefined as never)).toThrow(/capacity is NaN|capacity is undefined/);
    for (const capacity of [1, 8, 256])
      expect(new NativeExecutor(runs, { capacity }).stats()).toMatchObject({ capacity });
  });

  it("refuses an option that it does not know, and a queue of the wrong size", () => {
    const runs = new ProviderRuns();
    expect(() => new NativeExecutor(runs, { capacity: 1, quue: 3 } as never)).toThrow(/did you mean "queue"\?/);
    expect(() => new NativeExecutor(runs, { capacity: 1, queue: -1 })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_CATALOG_INVALID" }),
    );
  });
});

describe("install()", () => {
  it("takes a manifest from code, and one that lies in a folder", async () => {
    const { executor, runs, start } = bench();
    const { id, operations, manifest } = await executor.install(MANIFEST, (input) => [input]);
    expect({ id, operations }).toEqual({ id: ID, operations: ["call"] });
    expect(Object.isFrozen(manifest)).toBe(true);
    expect(await start(7).outcome).toMatchObject({ kind: "succeeded", output: [7], providerId: ID, evidence: null });
    const folder = mkdtempSync(join(tmpdir(), "airlock-native-"));
    try {
      writeFileSync(join(folder, "capability.json"), JSON.stringify({ ...MANIFEST, version: "2.0.0" }));
      await executor.install(folder, () => "two");
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(runs.describe().map((info) => [info.id, info.capacity])).toEqual([
      [ID, 1],
      ["app.fn@2.0.0", 1],
    ]);
  });

  it("refuses a Wasm capability before anything of it can reach the function", async () => {
    const { executor, runs } = bench();
    const refused = { code: "AIRLOCK_MANIFEST_ARTIFACT_TYPE", failure: "admission_rejected" };
    const never = (): never => {
      throw new Error("a function got a request of a Wasm capability");
    };
    const wasm = { id: "app.fn", version: "1.0.0", component: "component.wasm", sha256: "ab".repeat(32) };
    for (const manifest of [wasm, { ...wasm, artifactType: "wasm" }, { ...MANIFEST, artifactType: "wasm" }, {}]) {
      await expect(executor.install(manifest as never, never)).rejects.toMatchObject(refused);
    }
    await expect(executor.install({ manifest: MANIFEST, component: {} } as never, never)).rejects.toMatchObject(
      refused,
    );
    // Nor does the request of a capability that something else answers, be it of that very name.
    const component = new HeldProvider(ID);
    await runs.add(component, { capacity: 1 });
    await expect(executor.install(MANIFEST, never)).rejects.toMatchObject({ code: "AIRLOCK_PROVIDERS_DUPLICATE" });
    const run = runs.start(requestFor(ID, { runId: "wasm" }));
    component.calls[0]!.finish();
    expect(await run.outcome).toMatchObject({ kind: "succeeded" });
  });

  it.each<[string, unknown, unknown, string]>([
    ["no function", MANIFEST, undefined, "AIRLOCK_PROVIDERS_DEFINITION_INVALID"],
    ["a limit of Wasm", { ...MANIFEST, limits: { fuel: 5 } }, () => 1, "AIRLOCK_PROVIDERS_DEFINITION_INVALID"],
    ["a limit of the wrong size", { ...MANIFEST, limits: { wallMs: -1 } }, () => 1, "AIRLOCK_MANIFEST_INVALID"],
    ["grants", { ...MANIFEST, grants: {} }, () => 1, "AIRLOCK_MANIFEST_INVALID"],
    ["no manifest", undefined, () => 1, "AIRLOCK_MANIFEST_INVALID"],
    ["a manifest that JSON cannot carry", { ...MANIFEST, title: 1n }, () => 1, "AIRLOCK_MANIFEST_INVALID"],
    ["a path without a package", "/nowhere/at/all", () => 1, "AIRLOCK_MANIFEST_UNREADABLE"],
    [
      "a schema that is none",
      { ...MANIFEST, operations: [{ ...OPERATION, input: { type: "strig" } }] },
      () => 1,
      "AIRLOCK_ADMISSION_INVALID_SCHEMA",
    ],
  ])("refuses %s, and then nothing is installed", async (_, manifest, call, code) => {
    const { executor, runs } = bench();
    await expect(executor.install(manifest as never, call as never)).rejects.toMatchObject({ code });
    expect(runs.list()).toEqual([]);
  });

  it("uninstall() takes out its own capabilities, and no others", async () => {
    const { executor, runs } = bench();
    const add = (id: string) => runs.add(functionProvider({ id, call: () => 1 }), { capacity: 1 });
    await executor.install(MANIFEST, () => 1);
    await add("else@1.0.0");
    const missing = { code: "AIRLOCK_PROVIDERS_MISSING" };
    await executor.uninstall("app.fn");
    await expect(executor.uninstall("else")).rejects.toMatchObject(missing);
    await expect(executor.uninstall(ID)).rejects.toMatchObject(missing);
    expect(runs.list().map(({ id }) => id)).toEqual(["else@1.0.0"]);
    await executor.install(MANIFEST, () => 2);
  });
});

describe("a run of a native capability", () => {
  const throws: readonly (readonly [string, NativeFunction, string])[] = [
    [
      "at once",
      () => {
        throw new TypeError("x is no function");
      },
      "x is no function",
    ],
    ["later", async () => Promise.reject(new Error("later")), "later"],
    [
      "in a thenable",
      // biome-ignore lint/suspicious/noThenProperty: what a careless function may return
      () => ({ then: () => [].at(0)!["then"] }),
      "Cannot read properties of undefined (reading 'then')",
    ],
    ...[undefined, null, 7, "text", Symbol("s"), Object.create(null), { toString: () => [].at(0)!["x"] }].map(
      (thrown, index) =>
        [
          `something that is no Error (${index})`,
          () => {
            throw thrown;
          },
          ["undefined", "null", "7", "text", "Symbol(s)"][index] ?? "something that has no text (object)",
        ] as const,
    ),
  ];

  it.each(throws)("that throws %s ends as provider_failed", async (_, call, message) => {
    const { outcome, last } = await heardOf({}, call);
    expect(outcome).toMatchObject({ kind: "provider-failed", message });
    expect(last).toMatchObject({ kind: "error", failure: "provider_failed" });
  });

  it("that declines ends as failed, with its words", async () => {
    const { outcome } = await heardOf({}, () => {
      throw new DeclinedError("sold-out", "nothing left");
    });
    expect(outcome).toMatchObject({ kind: "failed", failure: { code: "sold-out" } });
  });

  it("that never settles ends past its deadline, and its slot serves the next", async () => {
    const { clock, executor, start } = bench(1);
    let calls = 0;
    await executor.install({ ...MANIFEST, limits: { wallMs: 50 } }, (_, { signal }) => {
      if (calls++ > 0) return signal.aborted;
      return new Promise(() => {});
    });
    const [stuck, next] = [start(1), start(2)];
    clock.pass(49);
    expect(stuck.terminal).toBe(null);
    clock.pass(1);
    expect(await stuck.outcome).toMatchObject({ kind: "past-deadline", limit: "wallMs" });
    expect(stuck.terminal).toMatchObject({ kind: "error", failure: "deadline_exceeded" });
    expect(await next.outcome).toMatchObject({ kind: "succeeded", output: false });
  });

  it("takes and gives what the schemas of its operation say, each of its own", async () => {
    const { executor, start } = bench();
    const operations = [
      { name: "double", input: { type: "integer" }, output: { type: "integer" } },
      { name: "name", input: { type: "string" }, output: { type: "string" } },
    ];
    await executor.install({ ...MANIFEST, operations }, (input, { operation }) => {
      return operation === "double" ? (input as number) * 2 : 3;
    });
    expect(await start(4, { operation: "double" }).outcome).toMatchObject({ output: 8, operation: "double" });
    expect(await start("4", { operation: "double" }).outcome).toMatchObject({ kind: "invalid-input" });
    expect(await start("4", { operation: "name" }).outcome).toMatchObject({ kind: "invalid-output" });
    expect(() => start(4, { operation: "halve" })).toThrow(/no operation "halve"; "double" or "name" is wanted/);
    expect(() => start(4, { operation: "double", limits: { fuel: 1 } })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_INVOCATION_REQUEST_INVALID" }),
    );
  });

  it("is heard with its events when all are right, once the function has returned", async () => {
    const order: string[] = [];
    const { runs, executor } = bench();
    await executor.install({ ...MANIFEST, ...EMITS }, async (_, { event }) => {
      const payload = [1];
      event({ ...ROW, payload: payload[0] });
      await null;
      event({ ...ROW, payload: 2 });
      order.push("returns");
      setImmediate(() => event({ type: "too-late", version: "1.0.0", payload: 0 }));
    });
    const sink = (event: RunEvent): void =>
      void order.push(event.kind === "event" ? `row ${event.event.payload}` : event.kind);
    const run = runs.start(requestFor(ID, { runId: "r" }), { sink });
    expect(await run.outcome).toMatchObject({ kind: "succeeded", events: { accepted: 2, refused: 0 } });
    await settled();
    await settled();
    expect(order).toEqual(["started", "returns", "row 1", "row 2", "complete"]);
  });

  const wrong: readonly (readonly [string, (event: FunctionContext["event"]) => void, string])[] = [
    [
      "is not declared",
      (event) => event({ ...ROW, type: "col" }),
      'the event "col@1.0.0" is refused: it is not declared',
    ],
    ["is of another version", (event) => event({ ...ROW, version: "1.0.1" }), 'declared are "row@1.0.0"'],
    ["breaks its schema", (event) => event({ ...ROW, payload: "x" }), "a whole number is wanted"],
    ["is no JSON value", (event) => event({ ...ROW, payload: 1n }), "its payload is no JSON value"],
  ];

  it.each(wrong)("fails when one of its events %s, and then none of them is heard", async (_, emit, message) => {
    const { outcome, events, last } = await heardOf(EMITS, (_input, { event }) => {
      event(ROW);
      emit(event);
      event(ROW);
      return "fine";
    });
    expect(outcome).toMatchObject({ kind: "invalid-output", message: expect.stringContaining(message) });
    expect(outcome.events).toEqual({ accepted: 0, refused: 1 });
    expect(last).toMatchObject({ failure: "output_invalid" });
    expect(events).toEqual([]);
  });

  it.each([
    ["eventCount", { eventCount: 2 }],
    ["eventBytes", { eventBytes: 5 }],
    ["eventTotalBytes", { eventTotalBytes: 8 }],
  ])("ends as over-budget past %s, whatever the function does then", async (limit, limits) => {
    const emits = { ...EMITS, emits: [{ type: "row", version: "1.0.0" }], limits };
    const { outcome, events } = await heardOf(emits, (_, { event }) => {
      for (const payload of ["a", "bb", "cccc"]) event({ ...ROW, payload });
      throw new Error("and throws");
    });
    expect(outcome).toMatchObject({ kind: "over-budget", limit });
    expect(events).toEqual([]);
  });

  it("that throws, or gives the wrong output, has no events", async () => {
    const manifest = { ...EMITS, operations: [{ ...OPERATION, output: { type: "string" } }] };
    for (const ends of [() => 1, () => Promise.reject(new Error("no"))]) {
      const { events } = await heardOf(manifest, (_, { event }) => {
        event(ROW);
        return ends();
      });
      expect(events).toEqual([]);
    }
  });

  it("is described by its manifest: operations, events, and the limits that hold for native code", async () => {
    const { runs, executor } = bench(3);
    await executor.install({ ...MANIFEST, ...EMITS, limits: { wallMs: 7 } }, () => 1);
    expect(await runs.command(ID, "capabilities")).toMatchObject({
      operations: [OPERATION],
      events: EMITS.emits,
      limits: { wallMs: 7 },
    });
    expect(await runs.command(ID, "transport_status")).toMatchObject({ kind: "function", capacity: 3 });
  });
});

describe("a native capability that runs another of the same executor, with capacity 1,", () => {
  async function nested(passSignal: boolean) {
    const { clock, executor, start, runs } = bench(1);
    const inner = { ...MANIFEST, id: "app.inner" };
    await executor.install(inner, () => "inner");
    await executor.install(MANIFEST, async (_, { signal }) => {
      const run = start(null, { providerId: "app.inner@1.0.0", ...(passSignal ? { signal } : {}) });
      return (await run.outcome).kind;
    });
    const run = start(null);
    await settled();
    expect(executor.stats()).toMatchObject({ inUse: 1, waiting: 1 });
    clock.pass(10_000);
    await settled();
    expect(await run.outcome).toMatchObject({ kind: "past-deadline", limit: "wallMs" });
    expect(executor.stats()).toMatchObject({ inUse: 0, waiting: 0 });
    return runs.stats().endings;
  }

  it("does not hang: its wallMs ends it, and then the other one is served", async () => {
    expect(await nested(false)).toMatchObject({ "past-deadline": 1, succeeded: 1 });
  });

  it("takes the other one along when it hands its signal on", async () => {
    expect(await nested(true)).toMatchObject({ "past-deadline": 1, cancelled: 1, succeeded: 0 });
  });
});
