import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isHostError } from "../errors/errors.ts";
import { readWitFiles } from "./wit-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "airlock-wit-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

async function problems(files: Record<string, string | Uint8Array>): Promise<readonly string[]> {
  write(files);
  try {
    await readWitFiles(folder);
  } catch (error) {
    if (!isHostError(error)) throw error;
    expect(error.code).toBe("AIRLOCK_TOOLCHAIN_BUILD_FAILED");
    return (error.details as { problems: readonly string[] }).problems;
  }
  throw new Error("Nothing was refused");
}

const MAIN = { "wit/main.wit": "package a:b;\nworld w {}\n" };

describe("readWitFiles()", () => {
  test("gives null for a source without wit", async () => {
    expect(await readWitFiles(folder)).toBeNull();
  });

  test("gives the package's own files and those of its dependencies, and looks at no others", async () => {
    write({
      ...MAIN,
      "wit/more.wit": "interface i {}",
      "wit/README.md": "no WIT",
      "wit/deps.toml": "",
      "wit/deps/c-d/d.wit": "package c:d;",
      "wit/deps/e-f.wit": "package e:f;",
    });
    expect((await readWitFiles(folder))?.map(({ path }) => path)).toEqual([
      "wit/deps/c-d/d.wit",
      "wit/deps/e-f.wit",
      "wit/main.wit",
      "wit/more.wit",
    ]);
  });

  test("tells of each file that does not parse", async () => {
    expect(await problems({ "wit/a.wit": "package a:b;\n\nword w {}\n", "wit/b.wit": "interface i {\n" })).toEqual([
      "wit/a.wit:3: expected `world`, `interface` or `use`, found an identifier",
      "wit/b.wit:1: expected `type`, `resource` or `func`, found eof",
    ]);
  });

  test.each<[string, Record<string, string | Uint8Array>, string]>([
    ["a file in its place", { wit: "package a:b;" }, "wit is a file: a folder with *.wit files is wanted"],
    [
      "one without a package of its own",
      { "wit/deps/c-d/d.wit": "package c:d;" },
      "wit has no *.wit file of its own: a package with one world is wanted",
    ],
    [
      "folders that nothing reads",
      { ...MAIN, "wit/more/m.wit": "" },
      "wit/more is a folder: folders are wit/deps and, in it, one for each package",
    ],
    [
      "dependencies of a dependency",
      { ...MAIN, "wit/deps/c-d/deps/e.wit": "" },
      "wit/deps/c-d/deps is a folder: folders are wit/deps and, in it, one for each package",
    ],
    [
      "our package, by its folder",
      { ...MAIN, "wit/deps/airlock-capability/x.wit": "interface x {}" },
      "wit/deps/airlock-capability/x.wit: the package airlock:capability comes with the toolchain and must not be in wit, remove it",
    ],
    [
      "our package, by its name",
      { ...MAIN, "wit/deps/mine/x.wit": "/// Mine.\npackage  airlock:capability@1.0.0;" },
      "wit/deps/mine/x.wit: the package airlock:capability comes with the toolchain and must not be in wit, remove it",
    ],
    [
      "too many bytes",
      { ...MAIN, "wit/long.wit": " ".repeat(2 ** 20) },
      "wit has 1048600 bytes: at most 1048576 are wanted",
    ],
    [
      "too many files",
      { ...MAIN, ...Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`wit/f${i}.wit`, ""])) },
      "wit has 257 files: at most 256 are wanted",
    ],
  ])("refuses %s", async (_, files, problem) => {
    expect(await problems(files)).toEqual([problem]);
  });

  test("refuses what is not text", async () => {
    expect((await problems({ ...MAIN, "wit/x.wit": Uint8Array.of(0xff) }))[0]).toContain(
      "wit/x.wit cannot be read as text",
    );
  });

  test("lets a comment name our package, and a package begin as its name does", async () => {
    write({
      ...MAIN,
      "wit/deps/x/x.wit": "// package airlock:capability@1.0.0;\npackage airlock:capability-plus@1.0.0;",
    });
    expect(await readWitFiles(folder)).toHaveLength(2);
  });

  test.each(["wit", "wit/deps", "wit/deps/c-d", "wit/deps/c-d/d.wit", "wit/main.wit", "wit/README.md"])(
    "refuses %s as a symbolic link",
    async (path) => {
      write({ "wit/z.wit": "package a:b;", "elsewhere/d.wit": "package c:d;" });
      if (path === "wit") rmSync(join(folder, "wit"), { recursive: true });
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      symlinkSync(join(folder, path.includes(".") ? "elsewhere/d.wit" : "elsewhere"), join(folder, path));
      expect(await problems({})).toEqual([`${path} is a symbolic link: a file or folder is wanted`]);
    },
  );
});
