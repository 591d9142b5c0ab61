import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host, type Outcome, type RunOptions } from "../../index.ts";
import { any, calling, chain, errorOf, guest, inUse, nothing, PATIENT } from "./guest.ts";

const PAGE = 65_536;
const ROUNDS = 100_000;
const TIERS = ["reset", "recycled", "fresh"] as const;

describe("a nested run", () => {
  let hosts: readonly Host[];
  let host: Host;

  beforeAll(async () => {
    hosts = await Promise.all(TIERS.map((tier) => createHost({ threads: 1, tier, limits: PATIENT })));
    host = hosts[0]!;
    for (const each of hosts) {
      await each.install(await guest("test.leaf"));
      await each.install(await guest("test.a", { invoke: any("test.a", "test.leaf") }));
    }
  }, 120_000);
  afterAll(() => Promise.all(hosts.map((each) => each.close())));

  const run = (input: object, options: RunOptions = {}, on = host): Promise<Outcome> =>
    on.run("test.a", input, { operation: "call", ...options }).outcome;
  const burn = (rounds: number) => calling("test.leaf", "burn", { rounds });

  it("is charged to its caller, setup and run, once", async () => {
    const alone = await host.run("test.leaf", { rounds: ROUNDS }, { operation: "burn" }).outcome;
    const { fuel, setupFuel } = alone.usage;
    expect(setupFuel).toBeGreaterThan(10_000);
    const [little, much] = [await run(burn(1)), await run(burn(ROUNDS))];
    expect(much.nested).toEqual([
      {
        runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        providerId: "test.leaf@1.0.0",
        operation: "burn",
        kind: "succeeded",
        fuel: fuel + setupFuel,
        evidence: { ...alone.evidence, tier: expect.any(String) },
      },
    ]);
    // The rest of the caller's fuel pays for the call alone, whose texts are this much longer.
    const longer = 2 * (String(ROUNDS).length - 1) + (outputOf(much).length - outputOf(little).length);
    const rest = (outcome: Outcome) => outcome.usage.fuel - outcome.nested![0]!.fuel;
    expect(rest(much) - rest(little)).toBeGreaterThanOrEqual(longer / 2);
    expect(rest(much) - rest(little)).toBeLessThan(longer * 20);
    expect(much.usage).toMatchObject({ fuelExact: true, hostCalls: 1, hostBytesIn: outputOf(much).length });
  });

  it("costs the same on every tier and thread, at any depth", async () => {
    const deep = chain(["test.a", "test.a", "test.leaf"], "burn", { rounds: 1_000 });
    const seen = [];
    for (const each of hosts) {
      for (let round = 0; round < 2; round++) seen.push(await run(deep, { runId: "the-same" }, each));
    }
    const essence = ({ usage, nested, kind }: Outcome) =>
      JSON.stringify([kind, usage.fuel, usage.setupFuel, nested], (key, value: unknown) =>
        key === "tier" ? "" : value,
      );
    expect(new Set(seen.map(essence)).size).toBe(1);
    expect(seen[0]).toMatchObject({ kind: "succeeded", nested: [{ nested: [{ nested: [{ operation: "burn" }] }] }] });
  }, 180_000);

  it("gets no more fuel than its caller has left, whatever that is", async () => {
    const { usage } = await run(burn(ROUNDS));
    let enough = 0;
    for (let fuel = 1_000; fuel <= usage.fuel + 40_000; fuel += 20_011) {
      const outcome = await run(burn(ROUNDS), { limits: { fuel } });
      expect(outcome.usage.fuel).toBeLessThanOrEqual(fuel);
      const [nested] = outcome.nested ?? [];
      if (nested !== undefined) expect(nested.fuel).toBeLessThanOrEqual(fuel - 200_000);
      if (fuel < usage.fuel) {
        // Nothing is left to hand the error on with.
        expect(outcome.kind).toBe("out-of-fuel");
        if (nested?.kind === "out-of-fuel") expect(outcome.usage.fuel).toBe(fuel);
      } else {
        expect(outcome.kind).toBe("succeeded");
        enough++;
      }
    }
    expect(enough).toBeGreaterThan(0);
    // To the unit: with what it used it ends as it did, with one less it does not.
    expect(await run(burn(ROUNDS), { limits: { fuel: usage.fuel } })).toMatchObject({ kind: "succeeded" });
    expect(await run(burn(ROUNDS), { limits: { fuel: usage.fuel - 1 } })).toMatchObject({ kind: "out-of-fuel" });
  });

  it("is paid for by all above it, so that a tree of calls uses no more than its root has", async () => {
    const fuel = 4_000_000;
    const tree = { times: 50, ...calling("test.a", "again", { times: 50, ...burn(1_000) }) };
    const outcome = await host.run("test.a", tree, { operation: "again", limits: { fuel } }).outcome;
    expect(outcome.kind).toBe("out-of-fuel");
    expect(outcome.usage.fuel).toBe(fuel);
    const sum = outcome.nested!.reduce((total, nested) => total + nested.fuel, 0);
    expect(sum).toBeLessThanOrEqual(fuel - 200_000 * outcome.nested!.length);
    for (const nested of outcome.nested!) {
      const below = (nested.nested ?? []).reduce((total, each) => total + each.fuel, 0);
      expect(below).toBeLessThan(nested.fuel);
    }
  });

  it("gets no more memory than its caller has left, which has its own again afterwards", async () => {
    const grow = (pages: number, memoryBytes: number) =>
      run(calling("test.leaf", "grow", { pages }), { limits: { memoryBytes } });
    // One page is the caller's, one the callee's.
    expect(await grow(3, 5 * PAGE)).toMatchObject({ kind: "succeeded", output: "1" });
    expect(await grow(4, 5 * PAGE)).toMatchObject({ kind: "succeeded", output: "-1" });
    expect(errorOf(await grow(0, PAGE))).toEqual({ tag: "out-of-budget", value: "memory" });
    const twice = { times: 9, ...calling("test.leaf", "grow", { pages: 3 }) };
    const options = { operation: "again", limits: { memoryBytes: 5 * PAGE } };
    expect(await host.run("test.a", twice, options).outcome).toMatchObject({ output: 9 });
  });

  it("that is cut off is charged with what it is known to have used", async () => {
    const outer = host.run("test.a", chain(["test.a", "test.leaf"], "spin", {}), {
      operation: "call",
      limits: { wallMs: 3_000, fuel: 2_000_000_000 },
    });
    const outcome = await outer.outcome;
    expect(outcome.usage.fuelExact).toBe(false);
    expect(outcome.nested![0]!.fuel).toBeGreaterThanOrEqual(200_000);
    expect(outcome.usage.fuel).toBeGreaterThanOrEqual(outcome.nested![0]!.fuel + 200_000);
  });

  it("that traps is paid for, and its caller goes on with what is left", async () => {
    const outcome = await host.run("test.a", { times: 3, ...calling("test.leaf", "trap", {}) }, { operation: "again" })
      .outcome;
    expect(outcome).toMatchObject({
      kind: "succeeded",
      output: 0,
      usage: { fuelExact: false, hostCalls: 3 },
      nested: [{ kind: "trapped" }, { kind: "trapped" }, { kind: "trapped" }],
    });
    expect(outcome.usage.fuel).toBeGreaterThan(600_000);
  });

  it("counts as a host call of its caller, and its texts as bytes", async () => {
    const text = "x".repeat(100_000);
    const echo = calling("test.leaf", "echo", { text });
    const sent = "test.leafecho".length + JSON.stringify({ text }).length;
    const fine = await run(echo, { limits: { hostBytesOut: sent, hostBytesIn: text.length + 2 } });
    expect(fine).toMatchObject({ usage: { hostBytesOut: sent, hostBytesIn: text.length + 2, hostCalls: 1 } });
    for (const [limit, least] of [
      ["hostBytesOut", sent],
      ["hostBytesIn", text.length + 2],
    ] as const) {
      const outcome = await run(echo, { limits: { [limit]: least - 1 } });
      expect(outcome).toMatchObject({ kind: "over-budget", limit });
      expect(outcome.nested?.length ?? 0).toBe(limit === "hostBytesIn" ? 1 : 0);
    }
    const calls = { times: 5, ...burn(1) };
    const outcome = await host.run("test.a", calls, { operation: "again", limits: { hostCalls: 4 } }).outcome;
    expect(outcome).toMatchObject({ kind: "over-budget", limit: "hostCalls" });
    expect(outcome.nested).toHaveLength(4);
  });

  it("leaves nothing in use", () => {
    for (const each of hosts) expect(inUse(each)).toEqual(nothing(each.stats().lanes.length));
  });
});

function outputOf(outcome: Outcome): string {
  return outcome.kind === "succeeded" ? String(outcome.output) : outcome.kind;
}
