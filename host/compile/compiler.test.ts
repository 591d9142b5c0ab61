import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import v8 from "node:v8";
import { afterEach, describe, expect, it } from "vitest";
import { decodeComponent } from "../component/component.ts";
import { loadGuest } from "../doctor/guest.ts";
import { type CompileOptions, Compiler } from "./compile.ts";
import { seal, unseal } from "./sealed-file.ts";

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

const PLAIN = { exact: false, profile: false };

describe("Compiler", () => {
  it("stops a compilation that takes longer than allowed", async () => {
    const { session, component } = open({ timeoutMs: 1 });
    await expect(session.compile(component, PLAIN)).rejects.toMatchObject({ code: "AIRLOCK_COMPILE_TIMED_OUT" });
  });

  it("stops a compilation that takes more memory than allowed", async () => {
    const { session, component } = open({ memoryBytes: 1, cacheEntries: 0 });
    const attempt = async (): Promise<void> => {
      // The memory is looked at now and then: one compilation can be too short to be seen.
      for (;;) await session.compile(component, PLAIN);
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

describe("what was kept on disk", () => {
  it("is not believed, even with a valid seal, when its glue uses names that glue never uses", async () => {
    const top = mkdtempSync(join(tmpdir(), "airlock-cache-"));
    const disk = { directory: join(top, "cache"), bytes: 2 ** 24 };
    const component = new Uint8Array((await loadGuest("sleep-for-years")).component);
    const first = open({ disk }, component);
    await first.session.compile(first.component, PLAIN);
    await first.compiler.close();
    const [name] = readdirSync(disk.directory).filter((each) => each !== "airlock.secret");
    const file = join(disk.directory, name!);
    const secret = readFileSync(join(disk.directory, "airlock.secret"));
    const { component: kept } = v8.deserialize(unseal(secret, name!, readFileSync(file))!);
    for (const [source, rejected] of [
      [kept.linkage.source, 0],
      [kept.linkage.source.replace("return instantiate;", "fetch(0); return instantiate;"), 1],
    ]) {
      const payload = v8.serialize({ kind: "compiled", component: { ...kept, linkage: { kind: "glue", source } } });
      writeFileSync(file, Buffer.concat(seal(secret, name!, payload)));
      const again = open({ disk }, component);
      await again.session.compile(again.component, PLAIN);
      expect(again.compiler.stats().disk).toEqual({ hits: 1 - rejected, misses: rejected, rejected });
      await again.compiler.close();
    }
    rmSync(top, { recursive: true });
  });
});

function childProcesses(): readonly string[] {
  return readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  );
}
