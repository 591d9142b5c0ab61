import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadGuest } from "../../doctor/guest.ts";
import { createHost, type Host } from "../../host.ts";

/** A component that is fine, and the fields of a manifest that is. */
interface Sound {
  readonly component: Uint8Array;
  readonly manifest: Readonly<Record<string, unknown>>;
}

let host: Host;
let sound: Sound;
const root = mkdtempSync(join(tmpdir(), "airlock-admission-"));
let packages = 0;

beforeAll(async () => {
  host = await createHost({ threads: 1, compile: { spares: 0 } });
  const { component, manifestText } = await loadGuest("answers");
  sound = { component, manifest: JSON.parse(manifestText) as Record<string, unknown> };
});

afterAll(async () => {
  await host.close();
  rmSync(root, { recursive: true });
});

/** What is in a package: the text of its manifest, and what lies where the component should. */
interface Contents {
  readonly manifest?: string | Readonly<Record<string, unknown>>;
  readonly component?: Uint8Array | ((path: string) => void);
}

async function refusalOf({ manifest = {}, component = sound.component }: Contents) {
  const directory = join(root, String(packages++));
  mkdirSync(directory);
  const digest =
    component instanceof Uint8Array ? { sha256: createHash("sha256").update(component).digest("hex") } : {};
  const text = typeof manifest === "string" ? manifest : JSON.stringify({ ...sound.manifest, ...digest, ...manifest });
  writeFileSync(join(directory, "capability.json"), text);
  const path = join(directory, "component.wasm");
  if (component instanceof Uint8Array) writeFileSync(path, component);
  else component(path);
  const error: unknown = await host.install(directory).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error as { readonly code: string; readonly message: string } | null;
}

async function expectRefusal(contents: Contents, code: string, ...wanted: readonly string[]): Promise<void> {
  const error = await refusalOf(contents);
  expect(error).toMatchObject({ name: "HostError", code });
  const { message } = error as { readonly message: string };
  expect(message).not.toMatch(/\n/);
  for (const part of wanted) expect(message).toContain(part);
}

describe("install() of a package refuses", () => {
  it.each<[what: string, manifest: Contents["manifest"], ...wanted: string[]]>([
    ["a manifest that is no JSON", "{", "is not JSON"],
    ["a manifest that is a list", "[]", "an object"],
    ["a manifest of nothing", "{}", "id is missing"],
    ["an id with capitals", { id: "Acme" }, 'id is "Acme"', "lower-case words"],
    ["a version that is none", { version: "1" }, 'version is "1"', "semantic version"],
    ["a field that does not exist", { seervice: 1 }, 'unknown field "seervice"'],
    ["a digest that is none", { sha256: "abc" }, 'sha256 is "abc"', "64 lower-case hex digits"],
    ["a limit that does not exist", { limits: { fule: 1 } }, 'unknown limit "fule"', 'did you mean "fuel"?'],
    ["negative fuel", { limits: { fuel: -1 } }, "limits.fuel is -1", "a whole number of fuel from 1"],
    ["half a byte of memory", { limits: { memoryBytes: 65536.5 } }, "limits.memoryBytes is 65536.5", "whole number"],
    ["a limit as text", { limits: { wallMs: "10" } }, 'limits.wallMs is "10"', "milliseconds"],
    ["a component outside of the package", { component: "../x.wasm" }, "component", "../x.wasm"],
    ["events of a stateless capability", { emits: [{ type: "a", version: "1.0.0" }] }, "serviceType", "subscribable"],
  ])("%s", async (_what, manifest, ...wanted) => {
    await expectRefusal({ ...(manifest === undefined ? {} : { manifest }) }, "AIRLOCK_MANIFEST_INVALID", ...wanted);
  });

  it("a native capability: its artifact is a function, and a package has none", async () => {
    const manifest = { artifactType: "native" };
    await expectRefusal({ manifest }, "AIRLOCK_MANIFEST_ARTIFACT_TYPE", '"native"', "nativeExecutor({ capacity })");
  });

  it("a folder without a manifest, and a path that leads nowhere", async () => {
    const empty = join(root, "empty");
    mkdirSync(empty);
    for (const path of [empty, join(root, "nowhere")])
      await expect(host.install(path)).rejects.toMatchObject({ code: "AIRLOCK_MANIFEST_UNREADABLE" });
  });

  it.each<[what: string, component: (path: string) => void, ...wanted: string[]]>([
    ["a component that is missing", () => {}, "component.wasm"],
    ["a folder in its place", (path) => mkdirSync(path), "it is a folder", "a regular file is wanted"],
    ["a pipe in its place, without waiting for a writer", makePipe, "a regular file is wanted"],
    ["a link to a file outside of the package", (path) => symlinkSync("/etc/hostname", path), "is a link"],
    ["a link to a file of the package", (path) => symlinkSync("capability.json", path), "is a link"],
  ])("%s", async (_what, component, ...wanted) => {
    await expectRefusal({ component }, "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED", ...wanted);
  });

  it("a component in a folder that is a link", async () => {
    const outside = join(root, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "component.wasm"), sound.component);
    const component = (path: string): void => symlinkSync(outside, path.replace("component.wasm", "lib"));
    const manifest = { component: "lib/component.wasm" };
    await expectRefusal({ manifest, component }, "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED", '"lib" is a link');
  });

  it("a component of a hundred megabytes, of which it reads none", async () => {
    await expectRefusal({ component: makeSparse }, "AIRLOCK_ADMISSION_TOO_LARGE", "67108864");
  });

  it("a component with another digest than the manifest's", async () => {
    const sha256 = "0".repeat(64);
    await expectRefusal({ manifest: { sha256 } }, "AIRLOCK_ADMISSION_CHECKSUM_MISMATCH", "SHA-256", sha256);
  });

  it("a file of no bytes, and one of others than Wasm", async () => {
    const code = "AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT";
    await expectRefusal({ component: new Uint8Array(0) }, code, "the file is empty", "a component is wanted");
    await expectRefusal({ component: Buffer.from("#!/bin/sh") }, code, "does not begin like WebAssembly");
  });

  it("a component that is cut off", async () => {
    const component = sound.component.subarray(0, sound.component.length - 7);
    await expectRefusal({ component }, "AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT");
  });

  it("a core module", async () => {
    const component = (await loadGuest("core-module")).component;
    await expectRefusal({ component }, "AIRLOCK_ADMISSION_PROFILE_MISMATCH", "core module", '"component"');
  });
});

function makePipe(path: string): void {
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
}

function makeSparse(path: string): void {
  const file = openSync(path, "w");
  ftruncateSync(file, 100 * 1024 * 1024);
  closeSync(file);
}

describe("inspect() of a package whose component cannot be read", () => {
  const report = async (component: (path: string) => void) => {
    const directory = join(root, String(packages++));
    mkdirSync(directory);
    writeFileSync(join(directory, "capability.json"), JSON.stringify({ ...sound.manifest, sha256: "0".repeat(64) }));
    component(join(directory, "component.wasm"));
    return host.inspect(directory);
  };

  it("reports binary_load_failed for a file that is not there, and for a link", async () => {
    for (const component of [() => {}, (path: string) => symlinkSync("/etc/hostname", path)]) {
      expect(await report(component)).toMatchObject({
        accepted: false,
        sha256: "",
        violations: [{ code: "binary_load_failed", message: expect.stringContaining("component.wasm") }],
      });
    }
  });

  it("reports too_large for a file of 100 MB, without reading it", async () => {
    const huge = (path: string): void => {
      const file = openSync(path, "w");
      ftruncateSync(file, 100 * 1024 * 1024);
      closeSync(file);
    };
    expect(await report(huge)).toMatchObject({ accepted: false, bytes: 0, violations: [{ code: "too_large" }] });
  });
});
