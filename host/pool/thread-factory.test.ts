import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Pool } from "./pool.ts";
import type { PoolAnswer, RunListener } from "./pool-run.ts";

const folder = mkdtempSync(join(tmpdir(), "airlock-thread-"));
const file = join(folder, "worker.mjs");
vi.mock("../compile/compile.ts", () => ({ findEntryPoint: () => ({ file, execArgv: [] }) }));
afterAll(() => rmSync(folder, { recursive: true }));

const call = { deployment: "d", runId: "r", operation: "o", input: "{}", seedText: null, limits: null, tier: "reset" };

describe("ThreadFactory", () => {
  it("a thread that cannot start loses the runs that wait for it, and is tried again", async () => {
    writeFileSync(file, 'throw new Error("broken on purpose");');
    const pool = new Pool({ threads: 2, heapMegabytes: 64, gcTimes: false, deployments: 1 });
    const ask = (): Promise<PoolAnswer> =>
      new Promise((answered) => {
        pool.run(call as never, 2, { answered } as Partial<RunListener> as RunListener);
      });
    const lost = { kind: "lost", what: expect.stringContaining("no thread can be started: broken on purpose") };
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([lost, lost, lost]);
    expect(await ask()).toEqual(lost);
    expect(pool.stats()).toMatchObject({ free: 2, waiting: 0 });
    // A thread that answers whatever it is told, in place of the real one, which needs a component.
    writeFileSync(
      file,
      `import { MessageChannel, parentPort, threadId } from "node:worker_threads";
      const { port1, port2 } = new MessageChannel();
      const bytes = (count) => new SharedArrayBuffer(count);
      parentPort.postMessage({ kind: "airlock-hello", threadId, port: port2, shared: bytes(8), clock: bytes(24), claims: bytes(32) }, [port2]);
      port1.on("message", ([epoch]) => port1.postMessage({ kind: "broken", epoch, what: "answered" }));
      export const task = () => {};`,
    );
    await vi.waitFor(async () => expect(await ask()).toEqual({ kind: "lost", what: "answered" }), { timeout: 20_000 });
    await pool.close();
  });
});
