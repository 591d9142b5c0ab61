import vm from "node:vm";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareGlue } from "../../compile/glue.ts";
import { loadGuest } from "../../doctor/guest.ts";
import { createHost, type Host } from "../../host.ts";
import { parseManifest } from "../../manifest/manifest.ts";

let host: Host;

beforeAll(async () => {
  host = await createHost({ threads: 1, compile: { spares: 0 } });
});

afterAll(() => host.close());

describe("a core export named r'];globalThis.pwned=1;//", () => {
  it("is code that runs in whoever trusts the transpiler", async () => {
    const { component } = await loadGuest("hostile-export-name");
    const { files, source } = await transpile(component);
    expect(source).toContain("globalThis.pwned=1");

    const context = vm.createContext({ WebAssembly, TextDecoder, TextEncoder, URL, console });
    const instantiate = vm.runInContext(`${source.replace(/^export /gm, "")}\ninstantiate`, context) as (
      moduleOf: (name: string) => WebAssembly.Module,
      imports: object,
    ) => unknown;
    try {
      instantiate((name) => new WebAssembly.Module(files[name]!), {});
    } catch {
      // What the text behind the name breaks does not matter: it has run.
    }
    expect(vm.runInContext("globalThis.pwned", context)).toBe(1);
    expect((globalThis as { pwned?: unknown }).pwned).toBeUndefined();
  });

  it("is refused by install() before any code is made of it", async () => {
    const { component, manifestText, name } = await loadGuest("hostile-export-name");
    const manifest = parseManifest(manifestText, name);
    await expect(host.install({ manifest, component })).rejects.toMatchObject({
      code: "AIRLOCK_ADMISSION_UNSAFE_NAME",
      message: expect.stringContaining("could become code in the host"),
    });
    expect((globalThis as { pwned?: unknown }).pwned).toBeUndefined();
  });

  it("has a second gate behind it, which reads the generated code for names that the transpiler never writes", async () => {
    const component = await parse(`(component
      (core module $m (func (export "r'];require('fs');//")))
      (core instance $m (instantiate $m))
      (func (export "run") (canon lift (core func $m "r'];require('fs');//"))))`);
    const { source } = await transpile(component);
    expect(() => prepareGlue(source)).toThrow(expect.objectContaining({ code: "AIRLOCK_ADMISSION_UNSAFE_NAME" }));
  });
});

async function transpile(component: Uint8Array) {
  const options = { name: "component", instantiation: "sync", emitTypescriptDeclarations: false } as const;
  const { files } = (await transpileBytes(component, options)) as { files: Record<string, Uint8Array<ArrayBuffer>> };
  return { files, source: new TextDecoder().decode(files["component.js"]) };
}
