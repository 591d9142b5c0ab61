import { coreAbi } from "../imports/imports.ts";
import type { ComponentInstance } from "./instance.ts";
import type { RunState } from "./run-state.ts";

/**
 * An instance of a core module on the Traverse Host ABI. `exportsMemory`: whether it exports its memory, which the host made, as
 * `memory`. Known ahead, the host reaches it during instantiation too.
 */
export function instantiateCoreModule(
  module: WebAssembly.Module,
  exportsMemory: boolean,
  instantiateCore: (module: WebAssembly.Module, imports: WebAssembly.Imports) => WebAssembly.Instance,
  run: RunState,
): Pick<ComponentInstance, "call" | "remember"> {
  const abi = coreAbi(run, () => {
    const memory = exportsMemory ? run.memories[0] : undefined;
    return memory === undefined ? null : new Uint8Array(memory.buffer);
  });
  const { exports } = instantiateCore(module, abi.imports);
  return {
    call({ key }) {
      run.entry(exports[key] as () => void)();
      const ending = abi.ending();
      // What is recorded wins, and no guest comes out of an empty tank with an ending of its own.
      if (ending.kind === "succeeded") return ending.output;
      return run.meter.fuel.value < 0n ? "" : run.stop(ending);
    },
    // A run that finds the instance kept has called nothing during instantiation.
    remember: () => () => abi.clear(),
  };
}
