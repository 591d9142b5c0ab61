import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createHost } from "../index.ts";
import { answeringDesk, workbench } from "./isolation/workbench.ts";

const host = dirname(dirname(fileURLToPath(import.meta.url)));

function channelsOfSources(): string[] {
  const files = readdirSync(host, { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !/\.test\.ts$|^(tests|bench)\//.test(file));
  const names = sources.flatMap((file) =>
    [...readFileSync(join(host, file), "utf8").matchAll(/channel\("([^"]+)"\)/g)].map(([, name]) => name!),
  );
  return [...new Set(names)].sort();
}

describe("diagnostics channels", () => {
  it("are all in README, and no others", () => {
    const readme = readFileSync(join(dirname(host), "README.md"), "utf8");
    const table = readme.slice(readme.indexOf("### What the host tells"), readme.indexOf("## Streaming a run"));
    const named = [...table.matchAll(/`(airlock:[a-z:-]+)`/g)].map(([, name]) => name!).sort();
    expect(named).toEqual(channelsOfSources());
  });

  it("tell of runs, slots, threads and artifacts as they come and go", async () => {
    const told: [string, unknown][] = [];
    const names = channelsOfSources();
    const listen = (message: unknown, name: string | symbol): void => void told.push([String(name), message]);
    for (const name of names) subscribe(name, listen);
    const open = await createHost({ threads: 1, imports: answeringDesk });
    await open.install(await workbench());
    const runs = Array.from({ length: 6 }, (_, x) =>
      open.run("test.workbench", { x, y: 1 }, { operation: "add", runId: `run-${x}` }),
    );
    await Promise.all(runs.map(({ outcome }) => outcome));
    const spinning = open.run("test.workbench", {}, { operation: "spin", limits: { fuel: 50e9 } });
    setTimeout(() => spinning.cancel("enough"), 50);
    await spinning.outcome;
    await open.close();
    for (const name of names) unsubscribe(name, listen);
    const of = (name: string): unknown[] => told.filter(([each]) => each === name).map(([, message]) => message);
    const slot = "threads";
    expect(of("airlock:providers:run-started")).toHaveLength(7);
    expect(of("airlock:providers:run-ended")).toHaveLength(7);
    expect(of("airlock:providers:run-queued")).toEqual(
      [4, 5].map((x) => ({ runId: `run-${x}`, providerId: "test.workbench@1.0.0" })),
    );
    expect(of("airlock:providers:lease-granted")).toContainEqual({ runId: "run-5", slot });
    expect(of("airlock:providers:lease-granted")).toHaveLength(7);
    expect(of("airlock:providers:lease-released")).toHaveLength(7);
    expect(of("airlock:pool:thread-started")).toContainEqual({ threadId: expect.any(Number) });
    expect(of("airlock:pool:thread-ended")).toContainEqual({
      threadId: expect.any(Number),
      reason: "its run was ended",
    });
    expect(of("airlock:compile:artifact")[0]).toMatchObject({ from: "process" });
  });
});
