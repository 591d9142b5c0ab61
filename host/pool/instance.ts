import type { Artifact, ArtifactModule, Linkage } from "../compile/compile.ts";

import { type InterfaceLink, isStateless, linkImports } from "../imports/imports.ts";
import { Linker, type LinkPlan } from "../linker/linker.ts";

import { instantiateCoreModule } from "./core-instance.ts";
import { type Glue, loadGlue } from "./glue-realm.ts";
import { MemoriesExhausted, type MemoryPool } from "./memory-pool.ts";
import type { Operation, Tier } from "./protocol.ts";
import type { RunState } from "./run-state.ts";

/** A component that was instantiated for one run. */
export interface ComponentInstance {
  /** Calls an operation; the arguments are as jco's glue takes them. */
  call(operation: Operation, args: readonly unknown[]): unknown;
  /** Notes what can be put back besides memories and `globals`, and puts it back; null for an instance that cannot be. */
  readonly remember: (() => () => void) | null;
  readonly globals: readonly WebAssembly.Global[];
  readonly tableElements: number;
  /** Gives its memories back. The instance must not be called again. */
  release(): void;
}

/** What a thread keeps of an artifact for all its instances. */
export type Assembly =
  | { readonly kind: "linked"; readonly linker: Linker }
  | { readonly kind: "glue"; readonly glue: Glue }
  | { readonly kind: "core"; readonly exportsMemory: boolean };

/** Compiles what is the same for every instance. */
export function prepare(linkage: Linkage, key: string): Assembly {
  if (linkage.kind === "core") return linkage;
  return linkage.kind === "linked"
    ? { kind: "linked", linker: new Linker(linkage.plan as LinkPlan) }
    : { kind: "glue", glue: loadGlue(linkage.source, key) };
}

interface HeldMemory {
  readonly memory: WebAssembly.Memory;
  readonly shape: NonNullable<ArtifactModule["memory"]>;
}

/**
 * Makes an instance: new core instances always, on new memories (`fresh`) or on zeroed pooled ones (`recycled`). Every core
 * module gets the run's one set of counters. Throws MemoriesExhausted; what a start function throws passes through.
 */
export function instantiate(
  artifact: Artifact,
  assembly: Assembly,
  links: readonly InterfaceLink[],
  run: RunState,
  memories: MemoryPool,
  tier: Tier,
): ComponentInstance {
  const byModule = new Map(artifact.modules.map((module) => [module.module, module]));
  const held: HeldMemory[] = [];
  const globals: WebAssembly.Global[] = [];
  let elements = 0;
  const counters: Record<string, WebAssembly.Global> = { ...run.meter };
  const instantiateCore = (module: WebAssembly.Module, imports: WebAssembly.Imports = {}): WebAssembly.Instance => {
    const known = byModule.get(module)!;
    const { memory: shape, tableElements, globals: names } = known;
    run.hold(shape, tableElements);
    elements += tableElements;
    const own: WebAssembly.ModuleImports = { ...counters, ...run.profiler?.importsOf(known) };
    if (shape !== null) {
      const memory = takeMemory(memories, shape, tier !== "fresh");
      held.push({ memory, shape });
      run.memories.push(memory);
      own.memory = memory;
    }
    const made = new WebAssembly.Instance(module, { ...imports, $airlock: own });
    for (const name of names) globals.push(made.exports[name] as WebAssembly.Global);
    return made;
  };
  const { call, remember } = assemble(artifact, assembly, linkImports(links, run), instantiateCore, run);
  return {
    call,
    remember: artifact.reset.kind === "possible" && links.every(isStateless) ? remember : null,
    globals,
    tableElements: elements,
    release() {
      for (const { memory, shape } of held) memories.give(memory, shape.initial, shape.maximum);
      held.length = 0;
    },
  };
}

function assemble(
  { modules }: Artifact,
  assembly: Assembly,
  imports: ReturnType<typeof linkImports>,
  instantiateCore: (module: WebAssembly.Module, imports?: WebAssembly.Imports) => WebAssembly.Instance,
  run: RunState,
): Pick<ComponentInstance, "call" | "remember"> {
  if (assembly.kind === "linked") {
    const inOrder = modules.map(({ module }) => module);
    const instance = assembly.linker.instantiate({ modules: inOrder, imports, instantiateCore, hooks: run });
    return {
      call: ({ interfaceName, key }, args) => instance.call(interfaceName, key, args),
      remember: () => instance.remember(),
    };
  }
  if (assembly.kind === "core")
    return instantiateCoreModule(modules[0]!.module, assembly.exportsMemory, instantiateCore, run);
  const byName = new Map(modules.map((module) => [module.name, module]));
  const exported = assembly.glue(run)((name) => byName.get(name)!.module, imports, instantiateCore);
  return {
    call(operation, args) {
      const holder = operation.interfaceName === null ? exported : own(exported, operation.interfaceName);
      const callee = own(holder as Record<string, unknown>, operation.key);
      return (callee as (...args: readonly unknown[]) => unknown)(...args);
    },
    remember: null,
  };
}

function takeMemory(memories: MemoryPool, shape: HeldMemory["shape"], recycled: boolean): WebAssembly.Memory {
  try {
    return memories.take(shape.initial, shape.maximum, recycled);
  } catch (thrown) {
    if (thrown instanceof MemoriesExhausted) throw thrown;
    throw new MemoriesExhausted("V8 has no room for another Wasm memory");
  }
}

/** A guest names its exports: only own properties count. */
function own(holder: Record<string, unknown>, key: string): unknown {
  if (!Object.hasOwn(holder, key)) throw new Error(`The component has no export ${JSON.stringify(key)}`);
  return holder[key];
}
