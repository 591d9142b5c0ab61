import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host, type PackageInMemory, type RunEvent, speedscopeOf } from "../../index.ts";
import { corePackage } from "./guest.ts";

const FD_READ = '(import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))';
const FD_WRITE = '(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))';
const PROC_EXIT = '(import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))';
const TIERS = ["reset", "recycled", "fresh"] as const;

/**
 * Counts its runs in memory and in a global, reads one byte of its input and leaves the rest, writes half a line to the log, and leaves
 * what it read in its memory. What it then does is the byte: 1 it exits, 2 it traps, 3 it grows, 4 it exits with a status.
 */
const FORGETFUL = `(module ${FD_READ} ${FD_WRITE} ${PROC_EXIT}
  ;; results
  (global $runs (mut i32) (i32.const 0))
  (data (i32.const 64) "\\80\\00\\00\\00\\01\\00\\00\\00\\80\\00\\00\\00\\01\\00\\00\\00")
  (func (export "_start") (local $byte i32)
    (global.set $runs (i32.add (global.get $runs) (i32.const 1)))
    (i32.store (i32.const 256) (i32.add (i32.load (i32.const 256)) (i32.const 1)))
    (call $result (global.get $runs))
    (call $result (i32.load (i32.const 256)))
    (call $result (i32.load8_u (i32.const 128)))
    (call $result (call $fd_read (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 96)))
    (local.set $byte (i32.load8_u (i32.const 128)))
    (call $result (local.get $byte))
    (drop (call $fd_write (i32.const 2) (i32.const 72) (i32.const 1) (i32.const 96)))
    (if (i32.eq (local.get $byte) (i32.const 0x33)) (then (drop (memory.grow (i32.const 1)))))
    (call $print)
    (if (i32.eq (local.get $byte) (i32.const 0x31)) (then (call $proc_exit (i32.const 0))))
    (if (i32.eq (local.get $byte) (i32.const 0x32)) (then unreachable))
    (if (i32.eq (local.get $byte) (i32.const 0x34)) (then (call $proc_exit (i32.const 4))))))`;

/** What the guest does with a number as its input. */
function ending(input: number): object {
  const first = String(input).charCodeAt(0);
  if (first === 0x32) return { kind: "trapped" };
  if (first === 0x34) return { kind: "failed", failure: { code: "exit-status", retryable: false } };
  return { kind: "succeeded", output: [1, 1, 0, 0, first] };
}

const ASKING = ["capability_id", "capability_version", "trace_context", "runtime_config", "execution_id"];

/** Writes what the five queries answer, as an array of strings; the fourth is JSON as it is. */
const QUESTIONS = `(module ${FD_WRITE}
  ${ASKING.map((name) => `(import "traverse_host" "${name}" (func $${name} (param i32 i32) (result i32)))`).join("\n")}
  ;; results
  (data (i32.const 8) "[\\"") (data (i32.const 16) "\\",\\"") (data (i32.const 24) "\\",") (data (i32.const 32) ",\\"")
  (data (i32.const 40) "\\"]")
  (func (export "_start")
    (call $write (i32.const 8) (i32.const 2))
    (call $write (i32.const 1024) (call $capability_id (i32.const 1024) (i32.const 9000)))
    (call $write (i32.const 16) (i32.const 3))
    (call $write (i32.const 1024) (call $capability_version (i32.const 1024) (i32.const 9000)))
    (call $write (i32.const 16) (i32.const 3))
    (call $write (i32.const 1024) (call $trace_context (i32.const 1024) (i32.const 9000)))
    (call $write (i32.const 24) (i32.const 2))
    (call $write (i32.const 1024) (call $runtime_config (i32.const 1024) (i32.const 9000)))
    (call $write (i32.const 32) (i32.const 2))
    (call $write (i32.const 1024) (call $execution_id (i32.const 1024) (i32.const 9000)))
    (call $write (i32.const 40) (i32.const 2))))`;

const EVENT = '{"event_id":"said","version":"1.0.0","payload":{"n":7}}';
const EMITS = `(module ${FD_WRITE}
  (import "traverse_host" "emit_event" (func $emit_event (param i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "${EVENT.replaceAll('"', '\\"')}") (data (i32.const 2048) "one\\ntwo")
  (data (i32.const 64) "\\00\\08\\00\\00\\07\\00\\00\\00")
  (func (export "_start")
    (drop (call $fd_write (i32.const 2) (i32.const 64) (i32.const 1) (i32.const 96)))
    (call $result (call $emit_event (i32.const 1024) (i32.const ${EVENT.length})))
    (call $print)))`;

const SPIN = '(module (func (export "_start") (loop $again (br $again))))';

describe("runs of core modules", () => {
  const hosts = {} as Record<(typeof TIERS)[number], Host>;

  beforeAll(async () => {
    const packages: readonly PackageInMemory[] = await Promise.all([
      corePackage("core.forgetful", FORGETFUL),
      corePackage("core.questions", QUESTIONS, { version: "2.1.0" }),
      corePackage("core.emits", EMITS, { serviceType: "subscribable", emits: [{ type: "said", version: "1.0.0" }] }),
      corePackage("core.spin", SPIN, { limits: { fuel: 50_000_000_000 } }),
    ]);
    // One thread each, so that every run meets what the one before has left.
    for (const tier of TIERS) hosts[tier] = await createHost({ threads: 1, tier });
    for (const source of packages) for (const tier of TIERS) await hosts[tier].install(source);
  });
  afterAll(() => Promise.all(TIERS.map((tier) => hosts[tier].close())));

  const forgetful = (tier: (typeof TIERS)[number], input: number) => hosts[tier].run("core.forgetful", input).outcome;

  it("are served by one instance, put back, where that is proven", async () => {
    const tiers: (string | undefined)[] = [];
    for (let left = 4; left > 0; left--) tiers.push((await forgetful("reset", 9)).evidence?.tier);
    expect(tiers.slice(1)).toEqual(["reset", "reset", "reset"]);
    expect((await forgetful("fresh", 9)).evidence?.tier).toBe("fresh");
    expect((await forgetful("recycled", 9)).evidence?.tier).toBe("recycled");
  });

  it("never find an instance that was left by an exit, a trap or a growth", async () => {
    for (const input of [1, 2, 3, 4]) {
      await forgetful("reset", 9);
      await forgetful("reset", input);
      expect((await forgetful("reset", 9)).evidence?.tier, String(input)).toBe("recycled");
    }
  });

  it("see nothing of the runs before, end the same and burn the same on every tier", async () => {
    const fuels = new Map<number, Set<number>>();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }), async (inputs) => {
        for (const input of inputs) {
          for (const tier of TIERS) {
            const outcome = await forgetful(tier, input);
            expect(outcome).toMatchObject(ending(input));
            fuels.set(input, (fuels.get(input) ?? new Set()).add(outcome.usage.fuel));
          }
        }
      }),
      { numRuns: 15 },
    );
    for (const [input, seen] of fuels) expect([...seen], String(input)).toHaveLength(1);
  });

  it("write their own half lines to the log, at the latest at their end", async () => {
    for (const input of [5, 6, 1, 7]) {
      const events: RunEvent[] = [];
      for await (const event of hosts.reset.run("core.forgetful", input)) events.push(event);
      const lines = events.flatMap((event) => (event.kind === "log" ? [[event.level, event.message]] : []));
      expect(lines).toEqual([["error", String(input)]]);
    }
  });

  it("learn from the queries who and what they are, as far as that goes", async () => {
    const limits = { fuel: 3_000_000 };
    const { outcome } = hosts.reset.run("core.questions", null, { runId: "run-17", limits });
    const { limits: effective } = await outcome;
    expect(await outcome).toMatchObject({
      kind: "succeeded",
      output: ["core.questions", "2.1.0", "", { limits: effective }, "run-17"],
    });
    expect(effective).toMatchObject({ fuel: 3_000_000, memoryBytes: 8_388_608, outputBytes: 65_536 });
  });

  it("emit events that are committed when they have succeeded, and log lines", async () => {
    const committed: unknown[] = [];
    const subscription = hosts.reset.subscribe({ capability: "core.emits" }, ({ type, version, payload }) => {
      committed.push({ type, version, payload });
    });
    const events: RunEvent[] = [];
    const run = hosts.reset.run("core.emits", null);
    for await (const event of run) events.push(event);
    subscription.close();
    expect(await run.outcome).toMatchObject({ kind: "succeeded", output: [0], events: { accepted: 1, refused: 0 } });
    expect(committed).toEqual([{ type: "said", version: "1.0.0", payload: { n: 7 } }]);
    expect(events.flatMap((event) => (event.kind === "log" ? [event.message] : []))).toEqual(["one", "two"]);
  });

  it("are cancelled in the middle of a loop", async () => {
    const run = hosts.reset.run("core.spin", null);
    for await (const event of run) if (event.kind === "started") break;
    run.cancel("enough");
    expect(await run.outcome).toMatchObject({ kind: "cancelled", reason: "enough" });
  });

  it("are held to the lower limits that a request asks for", async () => {
    const run = (limits: object) => hosts.reset.run("core.emits", null, { limits }).outcome;
    expect(await run({ outputBytes: 2 })).toMatchObject({ kind: "over-budget", limit: "outputBytes" });
    expect(await run({ fuel: 100 })).toMatchObject({ kind: "out-of-fuel", limit: "fuel" });
    expect(await run({ eventCount: 0 })).toMatchObject({ kind: "succeeded", output: [-1] });
  });
});

describe("a core package", () => {
  it("has a profile of its fuel, with what the host charges for its imports", async () => {
    await using host = await createHost({ threads: 1 });
    const { id } = await host.install(await corePackage("core.profiled", FORGETFUL), { fuelProfile: true });
    const { usage, fuelProfile } = await host.run(id, 9).outcome;
    const shared = speedscopeOf(fuelProfile!, id);
    expect(shared.shared.frames.map(({ name }) => name)).toEqual(
      expect.arrayContaining([expect.stringContaining("fd_read"), expect.stringContaining("fd_write")]),
    );
    await host.install(await corePackage("core.plain", FORGETFUL));
    expect((await host.run("core.plain", 9).outcome).usage.fuel).toBe(usage.fuel);
  });

  it("is kept compiled in the cache directory, and its binary in memory, each counted apart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "airlock-core-"));
    const { component, manifest } = await corePackage("core.kept", FORGETFUL);
    writeFileSync(join(folder, "module.wasm"), component);
    writeFileSync(
      join(folder, "capability.json"),
      JSON.stringify({ ...manifest, component: "module.wasm", limits: {} }),
    );
    const options = { threads: 1, compile: { cacheDirectory: join(folder, "cache"), spares: 0 } };
    try {
      await using first = await createHost(options);
      for (let round = 0; round < 3; round++) {
        const { id } = await first.install(folder);
        expect(await first.run(id, 9).outcome).toMatchObject(ending(9));
        first.uninstall(id);
      }
      const { cache, binaries } = first.stats();
      expect(binaries).toEqual({ entries: 1, bytes: component.length, hits: 2, loads: 1, evictions: 0 });
      expect(cache).toMatchObject({ entries: 1, misses: 1, disk: { hits: 0, misses: 2, rejected: 0 } });
      // The digest of what is known is taken again each time.
      writeFileSync(
        join(folder, "module.wasm"),
        component.map((byte, at) => (at === component.length - 1 ? byte ^ 1 : byte)),
      );
      await expect(first.install(folder)).rejects.toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^AIRLOCK_ADMISSION_(CHECKSUM_MISMATCH|MALFORMED)/) }),
      );
      writeFileSync(join(folder, "module.wasm"), component);
      await first.close();
      await using second = await createHost(options);
      const { id } = await second.install(folder);
      expect(second.stats().cache.disk).toEqual({ hits: 2, misses: 0, rejected: 0 });
      expect(await second.run(id, 1).outcome).toMatchObject(ending(1));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
