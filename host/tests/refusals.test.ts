import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findEntryPoint } from "../compile/compile.ts";
import { loadGuest } from "../doctor/guest.ts";
import { createHost, type Host } from "../host.ts";
import { parseManifest } from "../manifest/manifest.ts";

let host: Host;

beforeAll(async () => {
  host = await createHost({ threads: 1, queue: 1, compile: { spares: 0 } });
  for (const name of ["answers", "loop-past-deadline", "exports-of-object-names"]) {
    const { component, manifestText } = await loadGuest(name);
    await host.install({ manifest: parseManifest(manifestText, name), component });
  }
});

afterAll(() => host.close({ drainMs: 0 }));

const ANSWERS = "doctor.answers";

describe("run() refuses before anything starts", () => {
  it.each<[what: string, code: string, wanted: string, id: string, input: unknown, options?: object]>([
    ["an unknown capability", "AIRLOCK_PROVIDERS_MISSING", "doctor.nobody", "doctor.nobody", {}],
    ["an unknown operation", "AIRLOCK_INVOCATION_OPERATION_UNKNOWN", '"rum"', ANSWERS, {}, { operation: "rum" }],
    [
      "no operation where there are several",
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      "operation",
      "doctor.exports-of-object-names",
      {},
    ],
    ["an input of another type", "AIRLOCK_INVOCATION_REQUEST_INVALID", "input", ANSWERS, { input: 7 }],
    ["an input that is not JSON", "AIRLOCK_INVOCATION_REQUEST_INVALID", "input", ANSWERS, () => 7],
    [
      "an unknown limit",
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      "limits",
      ANSWERS,
      { input: "" },
      { limits: { fule: 1 } },
    ],
    [
      "negative fuel",
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      "limits.fuel is -1",
      ANSWERS,
      { input: "" },
      { limits: { fuel: -1 } },
    ],
    [
      "a deadline in the past",
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      "deadlineMs is 0",
      ANSWERS,
      { input: "" },
      { deadlineMs: 0 },
    ],
    ["a run without a name", "AIRLOCK_INVOCATION_REQUEST_INVALID", "runId", ANSWERS, { input: "" }, { runId: "" }],
    [
      "a tier that it cannot ask for",
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      "tier",
      ANSWERS,
      { input: "" },
      { tier: "reset" },
    ],
    [
      "an input past inputBytes",
      "AIRLOCK_INVOCATION_INPUT_TOO_LARGE",
      "inputBytes",
      ANSWERS,
      { input: "longer" },
      { limits: { inputBytes: 4 } },
    ],
  ])("%s", (_what, code, wanted, id, input, options) => {
    const attempt = (): unknown => host.run(id, input, options);
    expect(attempt).toThrow(
      expect.objectContaining({ name: "HostError", code, message: expect.stringContaining(wanted) }),
    );
  });

  it("an input of more values than a thread's heap is sure to hold", () => {
    const input = { input: "", more: Array.from({ length: 1_000_001 }, () => 0) };
    expect(() => host.run(ANSWERS, input)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^AIRLOCK_INVOCATION_/) }),
    );
  });

  it("a run id that is in flight, and a run that the queue has no room for", async () => {
    const running = host.run("doctor.loop-past-deadline", null, { runId: "one" });
    const waiting = host.run(ANSWERS, { input: "in time" });
    expect(() => host.run(ANSWERS, { input: "" }, { runId: "one" })).toThrow(
      expect.objectContaining({ code: "AIRLOCK_INVOCATION_RUN_ID_TAKEN", message: expect.stringContaining('"one"') }),
    );
    expect(() => host.run(ANSWERS, { input: "" })).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_POOL_QUEUE_FULL",
        message: expect.stringContaining("the queue holds 1"),
      }),
    );
    host.cancel("one", "enough");
    expect(await running.outcome).toMatchObject({ kind: "cancelled", reason: "enough" });
    expect(await waiting.outcome).toMatchObject({ kind: "succeeded", output: "in time" });
  });
});

describe("what there is not", () => {
  it("cancel() says that no such run is in flight", () => {
    expect(() => host.cancel("gone")).toThrow(expect.objectContaining({ code: "AIRLOCK_INVOCATION_RUN_UNKNOWN" }));
  });

  it("uninstall() says that no such capability is installed", () => {
    expect(() => host.uninstall("doctor.nobody")).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_MISSING" }),
    );
  });

  it("install() says that the version is installed already", async () => {
    const { component, manifestText, name } = await loadGuest("answers");
    await expect(host.install({ manifest: parseManifest(manifestText, name), component })).rejects.toMatchObject({
      code: "AIRLOCK_PROVIDERS_DUPLICATE",
    });
  });

  it("addPool() comes before its candidates, and says whose slots bear the name threads", () => {
    const { id } = host.list()[0]!;
    const add = (name: string, providerId: string) => () =>
      host.providers.addPool(name, { candidates: [{ providerId, capacity: 1 }] });
    const saying = (text: string) =>
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_DUPLICATE", message: expect.stringContaining(text) });
    expect(add("models", id)).toThrow(saying("would have slots twice; set up the pool before it"));
    expect(add("threads", "acme.model@1.0.0")).toThrow(saying("the slots of components"));
  });

  it("findEntryPoint() names the file that it looked for", () => {
    expect(() => findEntryPoint("file:///nowhere/host/pool/pool.js", "pool", "no-such-file")).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_POOL_WORKER_MISSING",
        message: expect.stringContaining("pool/no-such-file.js"),
      }),
    );
  });
});
