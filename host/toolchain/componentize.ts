import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { messageOf } from "../errors/errors.ts";
import { buildFailure } from "./build-failure.ts";
import { loadOptional } from "./optional-package.ts";
import { reproducibleRuntime } from "./qjs-runtime.ts";

/** A component made from JavaScript. */
export interface Componentized {
  readonly bytes: Uint8Array;
  readonly reproducible: boolean;
}

/**
 * `jsSource` inside of a QuickJS engine, as a component of the world. Its module body runs now, under the engine that is
 * stopped in the component afterwards; WASI is not there at run time, so what needs it traps. Throws
 * AIRLOCK_TOOLCHAIN_BUILD_FAILED when the module body throws.
 */
export async function componentizeSource(
  jsSource: string,
  world: "capability" | "subscribable",
  entry: string,
): Promise<Componentized> {
  const { componentize } = await loadOptional("componentize-qjs", () => import("componentize-qjs"));
  const options = { witPath: witFolder(), jsSource, world, stubWasi: true };
  const runtimeBytes = reproducibleRuntime();
  if (runtimeBytes !== null) {
    // When another release of the engine does not take the change, a component that differs each time beats none.
    const made = await componentize({ ...options, runtimeBytes }).catch(() => null);
    if (made !== null) return { bytes: made.component, reproducible: true };
  }
  try {
    const { component } = await componentize({ ...options, sync: true, optSize: true });
    return { bytes: component, reproducible: false };
  } catch (error) {
    throw buildFailure(entry, [messageOf(error)], error);
  }
}

/** The contract, as it lies beside both `host/` and `dist/`. */
function witFolder(): string {
  const folder = fileURLToPath(new URL("../../wit/capability", import.meta.url));
  if (!existsSync(folder))
    throw buildFailure(folder, ["the WIT of airlock:capability is not in the installed package"]);
  return folder;
}
