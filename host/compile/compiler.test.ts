import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { decodeComponent } from "../component/component.ts";
import { type CompileOptions, Compiler } from "./compile.ts";

const BOUNDS: CompileOptions = { timeoutMs: 30_000, memoryBytes: 2 ** 31, cacheEntries: 4, spares: 0, disk: null };
const opened: Compiler[] = [];

/** An empty component: its preamble alone. */
const EMPTY = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00);

function open(bounds: Partial<CompileOptions>, bytes = EMPTY) {
  const compiler = new Compiler({ ...BOUNDS, ...bounds });
  opened.push(compiler);
  const component = { sha256: createHash("sha256").update(bytes).digest("hex"), info: decodeComponent(bytes) };
  return { compiler, component, session: compiler.open(bytes) };
}

afterEach(() => {
  return Promise.all(opened.splice(0).map((compiler) => compiler.close()));
});

describe("Compiler", () => {
  it("stops a compilation that takes longer than allowed", async () => {
    const { session, component } = open({ timeoutMs: 1 });
    await expect(session.compile(component, false)).rejects.toMatchObject({ code: "AIRLOCK_COMPILE_TIMED_OUT" });
  });

  it("stops a compilation that takes more memory than allowed", async () => {
    const { session, component } = open({ memoryBytes: 1, cacheEntries: 0 });
    const attempt = async (): Promise<void> => {
      // The memory is looked at now and then: one compilation can be too short to be seen.
      for (;;) await session.compile(component, false);
    };
    await expect(attempt()).rejects.toMatchObject({ code: "AIRLOCK_COMPILE_FAILED" });
  });

  it("checks the same bytes and schemas once", async () => {
    const { compiler, session, component } = open({});
    const first = await session.check(component.info, []);
    session.close();
    const again = compiler.open(EMPTY);
    expect(await again.check(component.info, [])).toBe(first);
    expect(await again.check(component.info, [{ field: "a", schema: { type: "no such type" } }])).not.toBe(first);
    again.close();
  });

  it("forgets what was found in bytes that were checked long ago", async () => {
    const { compiler, component, session } = open({ cacheEntries: 1 });
    const first = await session.check(component.info, []);
    await session.check(component.info, [{ field: "a", schema: true }]);
    expect(await session.check(component.info, [])).not.toBe(first);
    await compiler.close();
  });

  it.skipIf(process.platform !== "linux")("ends the process of a component with its session", async () => {
    const { component, session } = open({});
    await session.check(component.info, []);
    expect(childProcesses()).toHaveLength(1);
    session.close();
    await expect.poll(childProcesses).toEqual([]);
  });

  it("starts nothing once it is closed", async () => {
    const { compiler, component, session } = open({});
    await compiler.close();
    await expect(session.check(component.info, [])).rejects.toMatchObject({ code: "AIRLOCK_HOST_CLOSED" });
  });
});

function childProcesses(): readonly string[] {
  return readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  );
}
