import { readFileSync } from "node:fs";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentWit, parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { linkImports } from "../../imports/imports.ts";
import { type FakeScope, Stopped } from "./fake-scope.ts";

/** How a guest ended: its answer, its own failure, how the host stopped it, or what it threw. */
export type GuestEnding =
  | { readonly kind: "answer"; readonly output: unknown }
  | { readonly kind: "failed"; readonly code: string }
  | { readonly kind: "stopped"; readonly ending: Stopped["ending"] }
  | { readonly kind: "trapped"; readonly what: string };

type Instantiate = (
  moduleOf: (name: string) => WebAssembly.Module,
  imports: Record<string, unknown>,
) => Record<string, { handle(input: string): string }>;

/** A component, transpiled and not yet instantiated. */
export interface Guest {
  /** What it imports, by full name. */
  readonly imports: readonly string[];
  /** Instantiates it for `scope` and calls its handler. */
  run(scope: FakeScope, input?: string): GuestEnding;
}

/** The guest of that name from `host/tests/wasi/guests`. */
export async function loadGuest(name: string): Promise<Guest> {
  return guestOf(await parse(readFileSync(new URL(`./guests/${name}.wat`, import.meta.url), "utf8")));
}

/** A component that exports the handler. */
export async function guestOf(component: Uint8Array): Promise<Guest> {
  const wit = await componentWit(component);
  const imports = [...wit.matchAll(/^ {2}import ([a-z0-9:/@.-]+);$/gm)].map((match) => match[1]!);
  const { files } = await transpileBytes(component, {
    name: "guest",
    instantiation: "sync",
    emitTypescriptDeclarations: false,
    map: Object.fromEntries(imports.map((imported) => [imported, imported])),
  });
  const modules = new Map<string, WebAssembly.Module>();
  let instantiate: Instantiate | undefined;
  for (const [file, content] of Object.entries(files) as [string, Uint8Array<ArrayBuffer>][]) {
    if (file.endsWith(".wasm")) modules.set(file, new WebAssembly.Module(content));
    if (file.endsWith(".js")) {
      const glue = new TextDecoder().decode(content).replaceAll(/^export /gm, "");
      instantiate = new Function(`${glue}\nreturn instantiate;`)() as Instantiate;
    }
  }
  return {
    imports,
    run(scope, input = "null") {
      const linked = linkImports(
        imports.map((imported) => ({ kind: "host", name: imported })),
        scope,
      );
      try {
        const exported = instantiate!((file) => modules.get(file)!, linked);
        const output = exported["airlock:capability/handler@1.0.0"]!.handle(input);
        return { kind: "answer", output: JSON.parse(output) };
      } catch (thrown) {
        return endingOf(thrown);
      } finally {
        scope.finish();
      }
    },
  };
}

function endingOf(thrown: unknown): GuestEnding {
  if (thrown instanceof Stopped) return { kind: "stopped", ending: thrown.ending };
  const payload = (thrown as { payload?: { code?: unknown } }).payload ?? (thrown as { code?: unknown });
  if (typeof payload?.code === "string") return { kind: "failed", code: payload.code };
  return { kind: "trapped", what: String(thrown) };
}
