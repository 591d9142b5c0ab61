import { createHash } from "node:crypto";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host, type InvokeGrant } from "../../index.ts";
import { parseManifest } from "../../manifest/manifest.ts";
import { calling, errorOf, guest, PATIENT } from "./guest.ts";

const INVOKE = "airlock:capability/invoke@1.0.0";
const VERSIONS = ["0.9.0", "1.0.0", "1.2.0", "1.3.0-beta.1", "2.0.0", "2.1.0-rc.1"];

describe("grants.invoke", () => {
  let host: Host;
  let callers = 0;

  beforeAll(async () => {
    host = await createHost({ threads: 1, limits: PATIENT });
    for (const version of VERSIONS) await host.install(await guest("test.leaf", { version }));
  });
  afterAll(() => host.close());

  const asks = async (invoke: readonly InvokeGrant[]) => {
    const id = `test.caller-${++callers}`;
    await host.install(await guest(id, { invoke }));
    return () => host.run(id, calling("test.leaf", "echo", { text: "x" }), { operation: "call" }).outcome;
  };

  it.each([
    ["^1.0.0", "1.2.0"],
    ["1.0.0", "1.0.0"],
    ["<1.0.0 || ~1.2.0", "1.2.0"],
    ["*", "2.0.0"],
    // A pre-release answers where the range names one of its version, and nowhere else.
    ["^1.3.0-alpha", "1.3.0-beta.1"],
    [">=2.1.0-rc.1", "2.1.0-rc.1"],
    ["^1.3.0", null],
    ["^3.0.0", null],
  ])("for %s lets %s answer, the newest inside", async (versions, wanted) => {
    const outcome = await (await asks([{ id: "test.leaf", versions }]))();
    if (wanted !== null) return expect(outcome.nested).toMatchObject([{ providerId: `test.leaf@${wanted}` }]);
    expect(errorOf(outcome)).toEqual({
      tag: "unknown-capability",
      value: `no version of "test.leaf" inside of "${versions}" is installed`,
    });
    expect(outcome.nested).toBeUndefined();
  });

  it("follows what is installed and uninstalled", async () => {
    const ask = await asks([{ id: "test.leaf", versions: "^5.0.0" }]);
    const seen: (string | null)[] = [];
    const look = async () => seen.push((await ask()).nested?.[0]?.providerId ?? null);
    await look();
    await host.install(await guest("test.leaf", { version: "5.0.0" }));
    await look();
    await host.install(await guest("test.leaf", { version: "5.1.0" }));
    await look();
    host.uninstall("test.leaf@5.1.0");
    await look();
    host.uninstall("test.leaf@5.0.0");
    await look();
    expect(seen).toEqual([null, "test.leaf@5.0.0", "test.leaf@5.1.0", "test.leaf@5.0.0", null]);
  });

  it("is wanted for the import", async () => {
    const { manifest, component } = await guest("test.bold", { invoke: [{ id: "test.leaf", versions: "*" }] });
    await expect(host.install({ manifest: { ...manifest, grants: {} }, component })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT",
      message: expect.stringContaining("grants.invoke names no capability that it may call"),
    });
    const report = await host.inspect({ manifest, component });
    expect(report.grants.invoke).toEqual(["test.leaf@*"]);
    expect(report.imports.find(({ name }) => name === INVOKE)).toMatchObject({ class: "host" });
  });

  it("is refused where the component does not import what it is for", async () => {
    const { manifest, component } = await guest("test.vain");
    const grants = { invoke: [{ id: "test.leaf", versions: "*" }] };
    await expect(host.install({ manifest: { ...manifest, grants }, component })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_GRANT_DENIED",
      message: expect.stringContaining(`does not import "${INVOKE}"`),
    });
  });

  it("is refused for what the application does not let others call", async () => {
    const strict = await createHost({ threads: 1, allow: { invoke: ["test.other"] } });
    const asking = (id: string) => guest(`test.to-${id.slice(5)}`, { invoke: [{ id, versions: "*" }] });
    const { violations } = await strict.inspect(await asking("test.leaf"));
    expect(violations.find(({ code }) => code === "grant_denied")?.message).toBe(
      `grants.invoke asks for "test.leaf": the host's policy allows "test.other" (option allow.invoke)`,
    );
    await expect(strict.install(await asking("test.leaf"))).rejects.toMatchObject({ failure: "admission_rejected" });
    await strict.install(await asking("test.other"));
    await strict.close();
  });

  it("is of no use to a component that declares other types: it traps", async () => {
    const component = await parse(`(component
      (import "${INVOKE}" (instance $invoke (export "invoke" (func (param "a" u32) (param "b" u32) (param "c" u32) (result u32)))))
      (core func $invoke (canon lower (func $invoke "invoke")))
      (core module $m (import "i" "invoke" (func $invoke (param i32 i32 i32) (result i32)))
        (func (export "run") (result i32) (call $invoke (i32.const 1) (i32.const 2) (i32.const 3))))
      (core instance $m (instantiate $m (with "i" (instance (export "invoke" (func $invoke))))))
      (func (export "run") (result u32) (canon lift (core func $m "run"))))`);
    const sha256 = createHash("sha256").update(component).digest("hex");
    const grants = { invoke: [{ id: "test.leaf", versions: "*" }] };
    const manifest = { id: "test.liar", version: "1.0.0", component: "c.wasm", sha256, imports: [INVOKE], grants };
    await host.install({ manifest: parseManifest(JSON.stringify(manifest), "liar"), component });
    expect(await host.run("test.liar", {}).outcome).toMatchObject({
      kind: "trapped",
      trap: { message: "invoke takes strings" },
    });
  });
});
