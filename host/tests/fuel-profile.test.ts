import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host, type Outcome, type Speedscope } from "../index.ts";
import { airlock, root } from "./airlock-command.ts";
import { answeringDesk, DESK, workbench } from "./isolation/workbench.ts";

/** A function whose name would clear a terminal, and one that never ends. */
const HOSTILE = `(component
  (core module $m
    (func $bad (@name "bad\\1b[2J\\e2\\80\\ae") (export "bad") (param i32) (drop (i32.add (local.get 0) (i32.const 1))))
    (func (export "run") (call $bad (i32.const 1)) (call $bad (i32.const 2)))
    (func (export "spin") (loop $again (br $again))))
  (core instance $m (instantiate $m))
  (func (export "run") (canon lift (core func $m "run")))
  (func (export "spin") (canon lift (core func $m "spin"))))`;
const HOSTILE_NAME = "bad\u001b[2J\u202e";

let folder: string;
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "airlock-profile-"));
  const component = Buffer.from(await parse(HOSTILE));
  mkdirSync(path("hostile"));
  writeFileSync(path("hostile/component.wasm"), component);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const manifest = { id: "profile.hostile", version: "1.0.0", artifactType: "wasm", component: "component.wasm" };
  writeFileSync(path("hostile/capability.json"), JSON.stringify({ ...manifest, sha256, imports: [] }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("install() with fuelProfile", () => {
  let host: Host;

  beforeAll(async () => {
    host = await createHost({ threads: 1, imports: answeringDesk });
    await host.install(await workbench(), { fuelProfile: true });
  });
  afterAll(() => host.close());

  const profiled = (operation: string, input: unknown, limits = {}): Promise<Outcome> =>
    host.run("test.workbench", input, { operation, limits }).outcome;

  it("says what each function and each import took, call by call", async () => {
    const question = "how?";
    const { usage, fuelProfile } = await profiled("ask", { question });
    const [first, ...others] = fuelProfile!.frames;
    // The price of a call to the main thread, of the bytes that left the guest for it, and of those that came back.
    const price = 200_000 + question.length + `answer to ${question}`.length;
    expect(first).toEqual({
      name: `${DESK}#ask`,
      kind: "import",
      module: null,
      index: null,
      self: price,
      total: price,
      calls: 1,
    });
    expect(others.map(({ name, calls }) => [name, calls]).sort()).toEqual([
      ["ask", 1],
      ["host", 0],
      ["realloc", 2],
    ]);
    expect(others.find(({ kind }) => kind === "host")).toMatchObject({ self: `answer to ${question}`.length });
    expect(fuelProfile).toMatchObject({ phase: "run", fuel: usage.fuel, folded: 0 });
  });

  it("begins anew with each run, and has what a run took that trapped or ran dry", async () => {
    for (let times = 2; times > 0; times--) {
      const { usage, fuelProfile } = await profiled("burn", { rounds: 1_000 });
      expect(fuelProfile!.frames.map(({ name, self, calls }) => [name, self, calls])).toEqual([
        ["burn", usage.fuel, 1],
        ["host", 0, 0],
      ]);
    }
    expect(await profiled("spin", {}, { fuel: 10_000 })).toMatchObject({
      kind: "out-of-fuel",
      fuelProfile: { fuel: 10_000, frames: [{ name: "spin", self: 10_000 }, { name: "host" }] },
    });
    expect(await profiled("trap", {})).toMatchObject({ kind: "trapped", fuelProfile: { frames: expect.anything() } });
    // A guest that calls too deep for the engine's stack.
    expect(await profiled("down", { depth: 1_000_000 })).toMatchObject({ kind: "out-of-stack" });
  });

  it("never keeps an instance, so that a run has the profile that the first one had", async () => {
    const first = await profiled("visits", {});
    for (let left = 3; left > 0; left--) {
      const next = await profiled("visits", {});
      expect(next).toMatchObject({ kind: "succeeded", evidence: { tier: "recycled" } });
      expect(next.fuelProfile).toEqual(first.fuelProfile);
    }
    // The same capability without a profile is kept.
    await using plain = await createHost({ threads: 1, imports: answeringDesk });
    await plain.install(await workbench());
    const visit = () => plain.run("test.workbench", {}, { operation: "visits" }).outcome;
    const [, kept] = [await visit(), await visit()];
    expect(kept).toMatchObject({ evidence: { tier: "reset" }, usage: { fuel: first.usage.fuel } });
    expect(kept.fuelProfile).toBeUndefined();
  });

  it("has none of a run that was cut off", async () => {
    const outcome = await profiled("spin", {}, { wallMs: 50 });
    expect([outcome.kind, outcome.fuelProfile]).toEqual(["past-deadline", undefined]);
  });

  it("refuses other options", async () => {
    await expect(host.install(path("hostile"), { fuelProfil: true } as never)).rejects.toMatchObject({
      code: "AIRLOCK_HOST_OPTIONS_INVALID",
      message: expect.stringContaining('did you mean "fuelProfile"?'),
    });
    await expect(host.install(path("hostile"), { fuelProfile: 1 } as never)).rejects.toMatchObject({
      code: "AIRLOCK_HOST_OPTIONS_INVALID",
    });
  });
});

describe("airlock run --fuel-profile", () => {
  it("prints the table below the outcome, with names that a terminal can show", async () => {
    const { status, stdout, stderr } = await airlock("run", path("hostile"), "-o", "run", "--fuel-profile");
    expect(status).toBe(0);
    expect(`${stdout}${stderr}`).not.toMatch(/\u001b|\u202e/);
    const table = stdout.slice(stdout.indexOf("fuel profile")).replaceAll(/ +/g, " ").trimEnd().split("\n");
    expect(table).toEqual([
      "fuel profile 24",
      " self share total calls what",
      " 18 75.0 % 24 1 function run",
      " 6 25.0 % 6 2 function bad\\u001b[2J\\u202e",
    ]);
  });

  it("is part of the one JSON object, and writes the file for speedscope", async () => {
    const file = path("spin.speedscope.json");
    const args = ["-o", "spin", "--limit", "fuel=1000", `--fuel-profile=${file}`, "--json"];
    const { status, stdout } = await airlock("run", path("hostile"), ...args);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "out-of-fuel",
      fuelProfile: { phase: "run", fuel: 1_000, folded: 0, frames: [{ name: "spin", self: 1_000 }, { name: "host" }] },
    });
    expect(JSON.parse(stdout).fuelProfile).not.toHaveProperty("contexts");
    const written = JSON.parse(readFileSync(file, "utf8")) as Speedscope;
    expect(written).toMatchObject({ name: "profile.hostile@1.0.0 spin", profiles: [{ endValue: 1_000 }] });
  });

  it("keeps a hostile name as it is in JSON", async () => {
    const { stdout } = await airlock("run", path("hostile"), "-o", "run", "--json", "--fuel-profile");
    expect(JSON.parse(stdout).fuelProfile.frames[1].name).toBe(HOSTILE_NAME);
    expect(stdout).not.toMatch(/\u001b|\u202e/);
  });

  it("says that a file cannot be written before anything is run", async () => {
    const file = path("none/there.json");
    const { status, stdout, stderr } = await airlock("run", path("hostile"), "-o", "run", `--fuel-profile=${file}`);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe(`airlock: --fuel-profile is ${JSON.stringify(file)}: there is no such folder\n`);
  });

  it("profiles a capability in JavaScript on the fuel of its plain run", async () => {
    const source = join(root, "capabilities/csv-profile");
    expect(await airlock("build", source, "--out", path("csv"), "--json")).toMatchObject({ status: 0 });
    writeFileSync(path("rows.csv"), `city,people\n${"Bern,134591\nBasel\n".repeat(50)}`);
    const command = ["run", path("csv"), "--text", "--input", path("rows.csv"), "--json"];
    const plain = JSON.parse((await airlock(...command)).stdout);
    const file = path("csv.speedscope.json");
    const profiled = JSON.parse((await airlock(...command, `--fuel-profile=${file}`)).stdout);
    expect(plain).not.toHaveProperty("fuelProfile");
    const { fuel, frames } = profiled.fuelProfile;
    expect([profiled.kind, profiled.usage.fuel, fuel]).toEqual(["succeeded", plain.usage.fuel, plain.usage.fuel]);
    expect(frames.length).toBeGreaterThan(50);
    expect(frames).toContainEqual(
      expect.objectContaining({ name: "airlock:capability/events#emitEvent", kind: "import", calls: 20 }),
    );
    const written = JSON.parse(readFileSync(file, "utf8")) as Speedscope;
    expect(written.profiles[0].endValue).toBe(fuel);
    expect(written.shared.frames).toHaveLength(frames.length);
  });
});
