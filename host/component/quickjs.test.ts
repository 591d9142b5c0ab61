import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { componentize } from "componentize-qjs";
import { describe, expect, it } from "vitest";
import { checkNames, decodeComponent, operations } from "./component.ts";

describe("decodeComponent() of a real component", () => {
  it("reads a component that QuickJS runs in", async () => {
    const folder = await mkdtemp(join(tmpdir(), "airlock-component-"));
    try {
      const wit = join(folder, "world.wit");
      await writeFile(
        wit,
        `package docs:adder@0.1.0;
        interface add { record pair { left-hand: u32, right-hand: u32 } add: func(p: pair) -> u64; }
        world adder { export add; export run: func(input: string) -> result<string, string>; }`,
      );
      const { component } = await componentize({
        witPath: wit,
        world: "adder",
        jsSource: `export const add = { add: (p) => BigInt(p.leftHand + p.rightHand) }; export const run = (input) => input;`,
        sync: true,
        stubWasi: true,
        optSize: true,
      });
      const info = decodeComponent(component);
      expect(info.imports).toEqual([]);
      expect(info.usesAsync).toBe(false);
      expect(info.canonBuiltins).toEqual([]);
      expect(info.hasComponentStart).toBe(false);
      expect(info.coreModules.length).toBeGreaterThan(5);
      expect(Math.max(...info.coreModules.map((module) => module.largestBodyBytes))).toBeGreaterThan(10_000);
      expect(checkNames(info)).toEqual([]);
      // The runtime keeps its own `init` among the exports.
      expect(
        operations(info)
          .map((each) => each.name)
          .sort(),
      ).toEqual(["add", "init", "run"]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
