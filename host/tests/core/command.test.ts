import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { describe, expect, it } from "vitest";
import { airlock, root } from "../airlock-command.ts";

const EXAMPLE = join(root, "examples/core-module");

describe("the example of a core package", () => {
  it("is what its text says", async () => {
    const module = readFileSync(join(EXAMPLE, "module.wasm"));
    expect(Buffer.compare(module, await parse(readFileSync(join(EXAMPLE, "module.wat"), "utf8")))).toBe(0);
    const manifest = JSON.parse(readFileSync(join(EXAMPLE, "capability.json"), "utf8")) as object;
    expect(manifest).toMatchObject({ profile: "core", sha256: createHash("sha256").update(module).digest("hex") });
  });

  it("is run by the command", async () => {
    const { status, stdout } = await airlock("run", EXAMPLE, "--value", '{"text":"é"}', "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "succeeded", operation: "run", output: { bytes: 13 } });
  });

  it("is inspected as a package and as a bare module", async () => {
    const asPackage = await airlock("inspect", EXAMPLE);
    expect(asPackage.status).toBe(0);
    for (const line of [
      /^admitted {2}example\.core-module@1\.0\.0$/m,
      /^kind {6}core module, 1 memory$/m,
      /^ {2}wasi_snapshot_preview1\/fd_read {3}host {2}host ABI 1\.0\.0$/m,
      /^ {2}fuel {13}5,000,000$/m,
    ]) {
      expect(asPackage.stdout).toMatch(line);
    }
    const bare = await airlock("inspect", join(EXAMPLE, "module.wasm"), "--json");
    expect(bare.status).toBe(0);
    expect(JSON.parse(bare.stdout)).toMatchObject({ accepted: true, kind: "core-module", operations: ["run"] });
  });

  it("is measured by the command", async () => {
    const { status, stdout } = await airlock("bench", EXAMPLE, "--rounds", "1", "--duration", "100ms", "--json");
    expect(status).toBe(0);
    const { subjects } = JSON.parse(stdout) as { subjects: { name: string; cases: { fuel: number }[] }[] };
    expect(subjects[0]).toMatchObject({ name: "example.core-module@1.0.0", cases: [{ name: "empty input" }] });
  });
});
