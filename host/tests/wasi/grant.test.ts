import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host } from "../../host.ts";

const IMPORTS = [
  "airlock:capability/types@1.0.0",
  "wasi:io/error@0.2.3",
  "wasi:io/streams@0.2.3",
  "wasi:filesystem/types@0.2.3",
  "wasi:filesystem/preopens@0.2.3",
];

const base = realpathSync(mkdtempSync(join(tmpdir(), "airlock-grant-")));
const allowed = join(base, "allowed");
let host: Host;
let component: Uint8Array;
let packages = 0;

beforeAll(async () => {
  component = await parse(readFileSync(new URL("./guests/read-granted-file.wat", import.meta.url), "utf8"));
  for (const folder of [join(allowed, "data"), `${allowed}-not`, join(base, "outside")]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "note"), `in ${folder.slice(base.length + 1)}`);
  }
  symlinkSync(join(base, "outside"), join(allowed, "way-out"));
  host = await createHost({ threads: 1, allow: { fs: [allowed] } });
});

afterAll(async () => {
  await host.close();
  rmSync(base, { recursive: true });
});

/** Installs the guest that reads one file, in a package of its own beside the folders above. */
function install(grants: object) {
  const number = packages++;
  const directory = join(base, `package-${number}`);
  const manifest = {
    id: `test.reader${number}`,
    version: "1.0.0",
    component: "component.wasm",
    sha256: createHash("sha256").update(component).digest("hex"),
    imports: IMPORTS,
    operations: [{ name: "read", input: { type: "string" }, output: { type: "string" } }],
    grants,
  };
  mkdirSync(directory);
  writeFileSync(join(directory, "capability.json"), JSON.stringify(manifest));
  writeFileSync(join(directory, "component.wasm"), component);
  return host.install(directory);
}

describe("a capability with the grant fs.read", () => {
  it("reads what is in its directory on a thread of the host, pays for it, and gets nothing else", async () => {
    const { id, report } = await install({ fs: { read: join(allowed, "data") } });
    expect(report.grants.fs).toBe(join(allowed, "data"));
    expect(report.imports).toContainEqual(
      expect.objectContaining({ name: "wasi:filesystem/preopens@0.2.3", class: "real" }),
    );
    const read = (path: string) => host.run(id, path, { operation: "read" }).outcome;
    expect(await read("note")).toMatchObject({
      kind: "succeeded",
      output: "in allowed/data",
      usage: { hostCalls: expect.toSatisfy((calls: number) => calls > 0), hostBytesIn: "in allowed/data".length },
    });
    for (const path of ["../data/note", "../../outside/note", "/etc/hostname"])
      expect(await read(path)).toMatchObject({ kind: "failed", failure: { code: "not-permitted" } });
  });

  it("gets past hostBytesIn as little as by any other host call", async () => {
    const { id } = await install({ fs: { read: join(allowed, "data") } });
    const outcome = await host.run(id, "note", { limits: { hostBytesIn: 3 } }).outcome;
    expect(outcome).toMatchObject({ kind: "over-budget", limit: "hostBytesIn" });
  });

  it.each<[what: string, read: string]>([
    ["another directory", join(base, "outside")],
    ["one whose name only begins like an allowed one", `${allowed}-not`],
    ["the one above", base],
    ["a link in an allowed one that leads out", join(allowed, "way-out")],
    ["a file", join(allowed, "data", "note")],
    ["what does not exist", join(allowed, "nothing")],
  ])("is refused for %s", async (_what, read) => {
    await expect(install({ fs: { read } })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_GRANT_DENIED",
      message: expect.stringContaining("grants.fs.read"),
    });
  });
});

describe("a capability without it", () => {
  it("finds no directory", async () => {
    const { id, report } = await install({});
    expect(report.grants.fs).toBeNull();
    expect(await host.run(id, "note").outcome).toMatchObject({ kind: "failed", failure: { code: "no-preopens" } });
  });

  it.each<[grants: object, named: string]>([
    [{ fs: { write: allowed } }, "grants.fs.write"],
    [{ env: ["HOME"] }, "grants.env"],
    [{ http: ["example.org"] }, "grants.http"],
    [{ imports: ["acme:crm/lookup@1.0.0"] }, "grants.imports"],
  ])("is refused for the grant %j, which this host does not give", async (grants, named) => {
    await expect(install(grants)).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_GRANT_DENIED",
      message: expect.stringContaining(named),
    });
  });
});
