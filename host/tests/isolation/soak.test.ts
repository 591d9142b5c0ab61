import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const MiB = 1024 * 1024;

describe.skipIf(process.platform !== "linux")("10,000 runs of good and hostile guests on two threads", () => {
  it("each settles with its own ending and the same fuel; memory, threads and descriptors are back at the end", () => {
    const program = fileURLToPath(new URL("./soak-program.ts", import.meta.url));
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["--expose-gc", "--import", "tsx", program, "10000"],
      {
        encoding: "utf8",
        timeout: 200_000,
      },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const { before, after, problems, stats } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(stats).toMatchObject({ runsInFlight: 0, pool: { threads: 2, free: 2, waiting: 0 } });
    expect(after.rss).toBeLessThan(before.rss * 1.1 + 16 * MiB);
    expect(after.threads).toBe(before.threads);
    expect(after.descriptors).toBe(before.descriptors);
  }, 240_000);
});

describe.skipIf(process.platform !== "linux")("100,000 runs of components, functions and a pool", () => {
  it("end once each, whatever is cancelled, disconnected or crashes when, and leave no slot in use", () => {
    const program = fileURLToPath(new URL("./schedule-program.ts", import.meta.url));
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--import", "tsx", program, "100000"], {
      encoding: "utf8",
      timeout: 280_000,
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const { started, refused, seen, problems, stats } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(started + refused).toBe(100_000);
    expect(started).toBeGreaterThan(50_000);
    // Nothing of this is left to luck with so many: each way to end was taken.
    const kinds = ["succeeded", "trapped", "out-of-fuel", "provider-failed", "cancelled", "past-deadline", "lost"];
    expect(Object.keys(seen)).toEqual(expect.arrayContaining([...kinds, "disconnected"]));
    expect(stats).toMatchObject({ runsInFlight: 0, runsStarted: started, pool: { threads: 2, free: 2, waiting: 0 } });
    const slots: { inUse: number; waiting: number; granted: number; releasedAgain: number }[] = Object.values(
      stats.slots,
    );
    expect(slots).toHaveLength(3);
    for (const slot of slots) expect(slot).toMatchObject({ inUse: 0, waiting: 0, releasedAgain: 0 });
  }, 300_000);
});
