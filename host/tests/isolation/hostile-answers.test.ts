import { createHash } from "node:crypto";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";

const LEVELS = 100_000;

/** A handler that declines with a detail that is an array in an array, a hundred thousand deep. */
const DEEP_FAILURE = `(component
  (core module $m (memory (export "memory") 5)
    (data (i32.const 512) "x")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "handle") (param i32 i32) (result i32)
      (memory.fill (i32.const 65536) (i32.const 0x5b) (i32.const ${LEVELS}))
      (memory.fill (i32.const ${65_536 + LEVELS}) (i32.const 0x5d) (i32.const ${LEVELS}))
      (i32.store8 (i32.const 8) (i32.const 1))
      (i32.store (i32.const 12) (i32.const 512)) (i32.store (i32.const 16) (i32.const 1))
      (i32.store (i32.const 20) (i32.const 512)) (i32.store (i32.const 24) (i32.const 1))
      (i32.store8 (i32.const 32) (i32.const 1))
      (i32.store (i32.const 36) (i32.const 65536)) (i32.store (i32.const 40) (i32.const ${2 * LEVELS}))
      (i32.const 8)))
  (core instance $i (instantiate $m))
  (type $failure (record (field "code" string) (field "message" string) (field "retryable" bool) (field "detail" (option string))))
  (func $handle (param "input" string) (result (result string (error $failure)))
    (canon lift (core func $i "handle") (memory (core memory $i "memory")) (realloc (core func $i "realloc"))))
  (component $wrap
    (type $inner (record (field "code" string) (field "message" string) (field "retryable" bool) (field "detail" (option string))))
    (import "import-type-failure" (type $in (eq $inner)))
    (import "handle" (func $handle (param "input" string) (result (result string (error $in)))))
    (export $out "failure" (type $inner))
    (export "handle" (func $handle) (func (param "input" string) (result (result string (error $out))))))
  (instance $handler (instantiate $wrap (with "import-type-failure" (type $failure)) (with "handle" (func $handle))))
  (export "airlock:capability/handler@1.0.0" (instance $handler)))`;

/** Functions whose core exports end like variables of the transpiler's own. */
const ASYNC_NAMES = `(component
  (core module $m (memory (export "memory") 1)
    (func (export "long-async") (result i32)
      (i32.store (i32.const 12) (i32.const 1024)) (i32.store (i32.const 16) (i32.const 5000)) (i32.const 8))
    (func (export "decline-async") (result i32)
      (i32.store8 (i32.const 8) (i32.const 1)) (i32.store (i32.const 12) (i32.const 1024)) (i32.store (i32.const 16) (i32.const 5))
      (i32.const 8)))
  (core instance $i (instantiate $m))
  (func (export "long") (result (result string (error string)))
    (canon lift (core func $i "long-async") (memory (core memory $i "memory"))))
  (func (export "decline") (result (result string (error string)))
    (canon lift (core func $i "decline-async") (memory (core memory $i "memory")))))`;

async function packageOf(id: string, wat: string, operations: readonly object[] = []) {
  const component = await parse(wat);
  const sha256 = createHash("sha256").update(component).digest("hex");
  const fields = { id, version: "1.0.0", artifactType: "wasm", component: "component.wasm", sha256, operations };
  return { manifest: parseManifest(JSON.stringify(fields), id), component };
}

describe("what a hostile guest answers", () => {
  let host: Host;

  beforeAll(async () => {
    host = await createHost({ threads: 1 });
    await host.install(await packageOf("test.deep", DEEP_FAILURE, [{ name: "handle", input: true, output: true }]));
    await host.install(await packageOf("test.named", ASYNC_NAMES));
  });
  afterAll(() => host.close());

  it("a failure's detail that nests too deep stays text, so that an outcome can always be written as JSON", async () => {
    const outcome = await host.run("test.deep", {}).outcome;
    expect(outcome).toMatchObject({ kind: "failed", failure: { detail: "[".repeat(LEVELS) + "]".repeat(LEVELS) } });
    expect(JSON.stringify(outcome)).toContain("]]]");
  });

  it("the output's limit holds for an export whatever the guest calls it", async () => {
    const run = host.run("test.named", {}, { operation: "long", limits: { outputBytes: 1_000 } });
    expect(await run.outcome).toMatchObject({ kind: "over-budget", limit: "outputBytes" });
  });

  it("an error value is a failure for an export whatever the guest calls it", async () => {
    expect(await host.run("test.named", {}, { operation: "decline" }).outcome).toMatchObject({ kind: "failed" });
  });

  it("a capability that is installed again is refused, and the one before goes on", async () => {
    const again = packageOf("test.named", ASYNC_NAMES);
    await expect(host.install(await again)).rejects.toMatchObject({ code: "AIRLOCK_PROVIDERS_DUPLICATE" });
    expect(await host.run("test.named", {}, { operation: "decline" }).outcome).toMatchObject({ kind: "failed" });
  });
});
