import { describe, expect, it } from "vitest";
import { createHost } from "../../index.ts";
import { corePackage } from "./guest.ts";

const REQUEST = '{"abi_version":"1.0.0","connector_id":"acme.store","operation":"get","payload":{"key":"a"}}';

/** Asks its connector once, and gives what `connector_invoke` answers. */
const ASKS = `(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "traverse_host" "connector_invoke" (func $invoke (param i32 i32 i32 i32) (result i32)))
  ;; results
  (data (i32.const 1024) "${REQUEST.replaceAll('"', '\\"')}")
  (func (export "_start")
    (call $result (call $invoke (i32.const 1024) (i32.const ${REQUEST.length}) (i32.const 4096) (i32.const 512)))
    (call $print)))`;

describe("connector_invoke", () => {
  it("pays for the way to the main thread, and ends with the run's budget of host calls", async () => {
    await using host = await createHost({ threads: 1 });
    const { id } = await host.install(await corePackage("core.asks", ASKS));
    const { outcome } = host.run(id, null, { limits: { hostCalls: 0 } });
    expect(await outcome).toMatchObject({ kind: "over-budget", limit: "hostCalls" });
    expect((await outcome).usage.fuel).toBeGreaterThan(200_000);
  });

  // Once the gateway answers: host.install with grants.connectors, createHost with a bound connector, and `output` is the length of
  // {"abi_version":"1.0.0","result_class":"success","payload":…}; -3 without the grant, -2 unbound, -6 where it throws.
  it.todo("gives the length of the response that the gateway lets through, and each status that it does not");
});
