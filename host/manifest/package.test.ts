import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { readComponentFile, readPackage } from "./package.ts";

const TEXT = JSON.stringify({ id: "acme.echo", version: "1.0.0", component: "c.wasm", sha256: "ab".repeat(32) });

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "airlock-package-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function refusal(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (!isHostError(error)) throw error;
    expect(error.message).not.toContain("\n");
    return `${error.code}: ${(error.details as { reason?: string }).reason ?? error.message}`;
  }
  throw new Error("Nothing was refused");
}

describe("readPackage()", () => {
  test("reads a folder and the path of its manifest alike", () => {
    writeFileSync(join(folder, "capability.json"), TEXT);
    const byFolder = readPackage(folder);
    expect(byFolder).toMatchObject({ directory: folder, manifestPath: join(folder, "capability.json") });
    expect(byFolder.manifest.id).toBe("acme.echo");
    expect(readPackage(join(folder, "capability.json"))).toEqual(byFolder);
  });

  test("reads a manifest with a byte order mark", () => {
    writeFileSync(join(folder, "capability.json"), `\ufeff${TEXT}`);
    expect(readPackage(folder).manifest.id).toBe("acme.echo");
  });

  test("resolves a link to the folder, which the caller named", () => {
    mkdirSync(join(folder, "real"));
    writeFileSync(join(folder, "real/capability.json"), TEXT);
    symlinkSync(join(folder, "real"), join(folder, "link"));
    expect(readPackage(join(folder, "link")).directory).toBe(join(folder, "real"));
  });

  test("refuses what is not there", () => {
    expect(refusal(() => readPackage(join(folder, "none")))).toBe("AIRLOCK_MANIFEST_UNREADABLE: there is no such file");
    expect(refusal(() => readPackage(folder))).toBe("AIRLOCK_MANIFEST_UNREADABLE: there is no such file");
  });

  test("refuses a link in place of the manifest", () => {
    writeFileSync(join(folder, "real.json"), TEXT);
    symlinkSync("real.json", join(folder, "capability.json"));
    expect(refusal(() => readPackage(folder))).toBe(
      "AIRLOCK_MANIFEST_UNREADABLE: it is a link, a regular file is wanted",
    );
  });

  test("refuses a folder in place of the manifest", () => {
    mkdirSync(join(folder, "capability.json"));
    expect(refusal(() => readPackage(folder))).toBe(
      "AIRLOCK_MANIFEST_UNREADABLE: it is a folder, a regular file is wanted",
    );
  });

  test("refuses a pipe in place of the manifest without waiting for a writer", () => {
    execFileSync("mkfifo", [join(folder, "capability.json")]);
    expect(refusal(() => readPackage(folder))).toBe(
      "AIRLOCK_MANIFEST_UNREADABLE: it is a pipe, a regular file is wanted",
    );
  });

  test("refuses a device, a socket, and text that is not UTF-8", async () => {
    expect(refusal(() => readPackage("/dev/zero"))).toBe(
      "AIRLOCK_MANIFEST_UNREADABLE: it is no file, a regular file is wanted",
    );
    const server = createServer().listen(join(folder, "capability.json"));
    await new Promise((done) => server.once("listening", done));
    expect(refusal(() => readPackage(folder))).toContain("it is a device or a socket, a regular file is wanted");
    await new Promise((done) => server.close(done));
    writeFileSync(join(folder, "capability.json"), Buffer.from([0x7b, 0xff, 0x7d]));
    expect(refusal(() => readPackage(folder))).toBe("AIRLOCK_MANIFEST_UNREADABLE: it is not UTF-8 text");
  });

  test("refuses a manifest of more than a mebibyte", () => {
    writeFileSync(join(folder, "capability.json"), " ".repeat(1024 * 1024 + 1));
    expect(refusal(() => readPackage(folder))).toBe("AIRLOCK_MANIFEST_UNREADABLE: it is larger than 1048576 bytes");
  });

  test("names the manifest in what is wrong with it", () => {
    writeFileSync(join(folder, "capability.json"), "{}");
    expect(refusal(() => readPackage(folder))).toContain(join(folder, "capability.json"));
  });
});

describe("readComponentFile()", () => {
  beforeEach(() => {
    mkdirSync(join(folder, "package/sub"), { recursive: true });
    writeFileSync(join(folder, "package/sub/c.wasm"), "wasm");
    writeFileSync(join(folder, "outside.wasm"), "outside");
  });

  const read = (relative: string, cap = 100) => readComponentFile(join(folder, "package"), relative, cap);

  test("reads a file in the package, up to the cap", () => {
    expect(Buffer.from(read("sub/c.wasm", 4)).toString()).toBe("wasm");
    expect(refusal(() => read("sub/c.wasm", 3))).toBe("AIRLOCK_ADMISSION_TOO_LARGE: it is larger than 3 bytes");
  });

  test("reads an empty file", () => {
    writeFileSync(join(folder, "package/empty.wasm"), "");
    expect(read("empty.wasm")).toHaveLength(0);
  });

  test.skipIf(process.platform !== "linux")("stops a file that says it is empty and never ends", () => {
    // Files of /proc have size 0, so the cap must hold without the size.
    expect(refusal(() => readComponentFile("/proc", "kallsyms", 1_000))).toBe(
      "AIRLOCK_ADMISSION_TOO_LARGE: it is larger than 1000 bytes",
    );
  });

  test("refuses paths that leave the package", () => {
    for (const path of ["../outside.wasm", "/etc/passwd", "sub/../../outside.wasm", "", "sub//c.wasm", "a\0b"]) {
      expect(refusal(() => read(path))).toContain("AIRLOCK_ADMISSION_BINARY_LOAD_FAILED: a path ");
    }
  });

  test("refuses a link, wherever it leads", () => {
    symlinkSync("sub/c.wasm", join(folder, "package/inside.wasm"));
    symlinkSync("../outside.wasm", join(folder, "package/link.wasm"));
    for (const path of ["inside.wasm", "link.wasm"]) {
      expect(refusal(() => read(path))).toBe(
        "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED: it is a link, a real one inside the package is wanted",
      );
    }
  });

  test("refuses a folder on the way that is a link, wherever it leads", () => {
    symlinkSync("..", join(folder, "package/up"));
    symlinkSync("sub", join(folder, "package/same"));
    for (const path of ["up/outside.wasm", "same/c.wasm"]) {
      expect(refusal(() => read(path))).toContain(`its folder "${path.split("/")[0]}" is a link`);
    }
  });

  test("refuses a folder, a pipe and what is not there", () => {
    execFileSync("mkfifo", [join(folder, "package/pipe")]);
    expect(refusal(() => read("sub"))).toContain("it is a folder");
    expect(refusal(() => read("pipe"))).toContain("it is a pipe");
    expect(refusal(() => read("none.wasm"))).toContain("there is no such file");
    expect(refusal(() => read("sub/c.wasm/x"))).toContain("a part of the path is not a folder");
  });
});
