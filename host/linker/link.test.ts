import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { expect, test } from "vitest";
import { Linker } from "./link.ts";
import type { LinkPlan } from "./link-plan.ts";
import { planLink } from "./plan.ts";

const FUNCTIONS = 5_000;

test("new Linker() holds one signature for all functions of a type, so that little bytes never take much memory", async () => {
  const params = Array.from({ length: 900 }, (_, index) => `(param "p${index}" u32)`).join(" ");
  const planned = planLink(
    await parse(`(component
      (import "a:b/c" (instance $i (export "f" (func ${params})))) (alias export $i "f" (func $f))
      (core module $m (memory (export "m") 1)) (core instance $c (instantiate $m))
      ${'(core func (canon lower (func $f) (memory (core memory $c "m"))))'.repeat(FUNCTIONS)})`),
  );
  const { plan } = planned as { plan: LinkPlan };
  expect(plan.made).toHaveLength(FUNCTIONS);
  const before = process.memoryUsage().heapUsed;
  const linker = new Linker(plan);
  // Signatures of their own would take some 200 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
  expect(linker).toBeInstanceOf(Linker);
});
