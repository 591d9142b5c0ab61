import { messageOf } from "../errors/errors.ts";
import { buildFailure } from "./build-failure.ts";
import { loadOptional } from "./optional-package.ts";
import { reproducibleRuntime } from "./qjs-runtime.ts";
import type { WitFolder } from "./wit-folder.ts";

/** A component made from JavaScript. */
export interface Componentized {
  readonly bytes: Uint8Array;
  readonly reproducible: boolean;
}

/**
 * `jsSource` inside of a QuickJS engine, as a component of the folder's world. Its module body runs now, under the engine that is
 * stopped in the component afterwards; WASI is not there at run time, so what needs it traps. Throws
 * AIRLOCK_TOOLCHAIN_BUILD_FAILED when the module body throws, or when the WIT has not one world.
 */
export async function componentizeSource(
  jsSource: string,
  { path: witPath, explain }: WitFolder,
  entry: string,
): Promise<Componentized> {
  const { componentize } = await loadOptional("componentize-qjs", () => import("componentize-qjs"));
  const options = { witPath, jsSource, stubWasi: true };
  const runtimeBytes = reproducibleRuntime();
  if (runtimeBytes !== null) {
    // When another release of the engine does not take the change, a component that differs each time beats none.
    const made = await componentize({ ...options, runtimeBytes }).catch(() => null);
    if (made !== null) return { bytes: made.component, reproducible: true };
  }
  try {
    const { component } = await componentize({ ...options, sync: true });
    return { bytes: component, reproducible: false };
  } catch (error) {
    const message = messageOf(error);
    throw buildFailure(entry, [explain(message) ?? message], error);
  }
}
