import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parseCommand } from "./command-request.ts";
import { COMMAND_SCHEMAS } from "./command-schemas.ts";
import { COMMANDS, type CommandName, OLLAMA_PATHS } from "./commands.ts";
import { functionProvider } from "./function-provider.ts";
import type { Commands } from "./provider.ts";
import { ProviderRuns } from "./provider-runs.ts";
import { TestClock } from "./test-clock.ts";
import { HeldProvider, requestFor } from "./test-requests.ts";

const P = "p@1.0.0";

async function runsWith(commands?: Commands) {
  const clock = new TestClock();
  const runs = new ProviderRuns({ clock });
  const provider = Object.assign(new HeldProvider(P), commands === undefined ? {} : { commands });
  await runs.add(provider, { capacity: 3 });
  return { clock, runs };
}

const refusal = (code: string, failure: string) => expect.objectContaining({ code, failure });
const notAllowed = refusal("AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED", "command_not_allowed");
const invalid = refusal("AIRLOCK_PROVIDERS_COMMAND_INVALID", "invalid_request");

describe("parseCommand()", () => {
  it("takes the commands of the list and no other", () => {
    expect(COMMANDS).toEqual(["capabilities", "transport_status", "ollama_api"]);
    expect(parseCommand("capabilities")).toEqual({ command: "capabilities" });
    expect(parseCommand("transport_status", {})).toEqual({ command: "transport_status" });
    for (const command of ["exec", "Capabilities", "capabilities ", "", "__proto__", null, 7, ["capabilities"]]) {
      expect(() => parseCommand(command)).toThrow(notAllowed);
    }
    expect(() => parseCommand("transport_statu")).toThrow('did you mean "transport_status"?');
  });

  it("reads Ollama's listing calls and no other path", () => {
    for (const path of OLLAMA_PATHS) {
      const args = path === "/api/show" ? { path, model: "llama3" } : { path };
      expect(parseCommand("ollama_api", args)).toEqual({ command: "ollama_api", ...args });
    }
    for (const path of [
      "/api/pull",
      "/api/delete",
      "/api/tags/",
      "/api/tags?x",
      "/api/../api/pull",
      "",
      undefined,
      7,
    ]) {
      expect(() => parseCommand("ollama_api", { path })).toThrow(notAllowed);
    }
    expect(() => parseCommand("ollama_api")).toThrow("the path is missing; allowed are /api/tags");
  });

  it("refuses arguments that a command does not take", () => {
    for (const args of [null, [], "x", { a: 1 }]) expect(() => parseCommand("capabilities", args)).toThrow(invalid);
    for (const args of [
      { path: "/api/show" },
      { path: "/api/show", model: "" },
      { path: "/api/show", model: 7 },
      { path: "/api/tags", model: "m" },
      { path: "/api/tags", method: "POST" },
    ]) {
      expect(() => parseCommand("ollama_api", args)).toThrow(invalid);
    }
  });
});

describe("ProviderRuns.command()", () => {
  it("refuses what is not on the list before it looks anyone up", async () => {
    const { runs } = await runsWith();
    await expect(runs.command("missing", "exec" as CommandName)).rejects.toThrow(notAllowed);
    await expect(runs.command("missing", "ollama_api", { path: "/api/pull" })).rejects.toThrow(notAllowed);
    await expect(runs.command("missing", "capabilities")).rejects.toThrow(
      refusal("AIRLOCK_PROVIDERS_MISSING", "provider_missing"),
    );
  });

  it("refuses a command that the provider does not have", async () => {
    const { runs } = await runsWith();
    for (const command of COMMANDS) {
      await expect(runs.command(P, command, command === "ollama_api" ? { path: "/api/ps" } : {})).rejects.toThrow(
        refusal("AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED", "command_unsupported"),
      );
    }
  });

  it("says how a provider is connected, what it carries out and what it can", async () => {
    const { clock, runs } = await runsWith({ transport_status: () => ({ kind: "http" }) });
    const since = clock.now();
    clock.pass(10);
    runs.start(requestFor(P, { runId: "r" }));
    const connected = await runs.command(P, "transport_status");
    expect(connected).toEqual({ kind: "http", connected: true, since, inFlight: 1, capacity: 3 });
    runs.setConnected(P, false);
    const gone = await runs.command(P, "transport_status");
    expect(gone).toEqual({ kind: "http", connected: false, since: since + 10, inFlight: 0, capacity: 3 });
    for (const answer of [connected, gone]) expect(problems("transport_status", answer)).toEqual([]);
  });

  it("hands Ollama's answer through as it is", async () => {
    const asked: unknown[] = [];
    const { runs } = await runsWith({
      ollama_api: (request, signal) => {
        asked.push(request, signal.aborted);
        return { status: 200, body: { models: [] } };
      },
    });
    const answer = await runs.command(P, "ollama_api", { path: "/api/tags" });
    expect(answer).toEqual({ status: 200, body: { models: [] } });
    expect(asked).toEqual([{ command: "ollama_api", path: "/api/tags" }, false]);
    expect(problems("ollama_api", answer)).toEqual([]);
  });

  it("tells a failure of the provider from a refusal", async () => {
    const { runs } = await runsWith({ ollama_api: () => Promise.reject(new Error("connect ECONNREFUSED")) });
    await expect(runs.command(P, "ollama_api", { path: "/api/ps" })).rejects.toThrow(
      refusal("AIRLOCK_PROVIDERS_COMMAND_FAILED", "provider_failed"),
    );
  });

  it("ends a command that nobody answers when its caller leaves, and when the host closes", async () => {
    const unanswered = (_: unknown, signal: AbortSignal) =>
      new Promise<never>((_answer, fail) => {
        signal.addEventListener("abort", () => fail(signal.reason));
      });
    const { runs } = await runsWith({ ollama_api: unanswered });
    const abort = new AbortController();
    const left = runs.command(P, "ollama_api", { path: "/api/tags" }, abort.signal);
    const waiting = runs.command(P, "ollama_api", { path: "/api/tags" });
    abort.abort(new Error("the caller left"));
    await expect(left).rejects.toMatchObject({ code: "AIRLOCK_PROVIDERS_COMMAND_FAILED" });
    await runs.close();
    await expect(waiting).rejects.toMatchObject({
      code: "AIRLOCK_PROVIDERS_COMMAND_FAILED",
      message: expect.stringContaining("the host is closing"),
    });
  });

  it("answers for a function what its definition says", async () => {
    const runs = new ProviderRuns({ clock: new TestClock() });
    const events = [{ type: "row", version: "1.0.0", schema: { type: "object" } }];
    const provider = functionProvider({ id: P, call: () => 1, operation: "count", input: { type: "string" }, events });
    await runs.add(provider, { capacity: 2 });
    const can = await runs.command(P, "capabilities");
    expect(can).toMatchObject({
      operations: [{ name: "count", input: { type: "string" }, output: true }],
      events,
      models: [],
    });
    expect(Object.keys(can.limits)).toContain("wallMs");
    expect(problems("capabilities", can)).toEqual([]);
    const status = await runs.command(P, "transport_status");
    expect(status).toMatchObject({ kind: "function", inFlight: 0, capacity: 2 });
    expect(problems("transport_status", status)).toEqual([]);
  });
});

describe("the published schemas", () => {
  it.each(COMMANDS)("say what %s answers, and refuse what it does not", (command) => {
    const published = JSON.parse(
      readFileSync(new URL(`command-${fileOf(command)}.schema.json`, import.meta.url), "utf8"),
    );
    expect(published).toEqual(COMMAND_SCHEMAS[command]);
    const packageJson = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const name = `command-${fileOf(command)}.schema.json`;
    expect(packageJson.exports[`./${name}`]).toBe(`./dist/providers/${name}`);
    for (const value of [null, {}, [], { more: 1 }]) expect(problems(command, value)).not.toEqual([]);
  });
});

function problems(command: CommandName, value: unknown): unknown[] {
  const validate = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }).compile(
    COMMAND_SCHEMAS[command],
  );
  return validate(value) ? [] : (validate.errors ?? []);
}

function fileOf(command: CommandName): string {
  return command.replace("_", "-");
}
