import type { StringEncoding } from "../component/component.ts";
import { Codecs } from "./codecs.ts";
import { type CoreFunction, type CoreValue, Guest, type LinkHooks } from "./guest.ts";
import type { CoreItem, LinkPlan, LoweredImport } from "./link-plan.ts";
import { Signature } from "./signature.ts";

/** What one instance is made with. */
export interface LinkInit {
  /** The core modules, in the order of the plan. */
  readonly modules: readonly WebAssembly.Module[];
  /** Functions by interface and JavaScript name; only own properties count. */
  readonly imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  instantiateCore(module: WebAssembly.Module, imports: WebAssembly.Imports): WebAssembly.Instance;
  readonly hooks: LinkHooks;
}

/** A component instance. It must not be called again after a call that threw anything but the value of an `err`. */
export interface LinkedInstance {
  /** Calls an export, with values as jco's glue takes and gives them. */
  call(interfaceName: string | null, key: string, args: readonly unknown[]): unknown;
}

type HostFunction = (...args: unknown[]) => unknown;

/** Makes instances of one component. What does not change from one to the next is compiled here, once. */
export class Linker {
  readonly #plan: LinkPlan;
  readonly #lowered: readonly Signature[];
  readonly #lifted: readonly Signature[];
  readonly #exports: ReadonlyMap<string, number>;

  constructor(plan: LinkPlan) {
    this.#plan = plan;
    const byEncoding = new Map<StringEncoding, Codecs>();
    const codecsOf = (options: number): Codecs => {
      const { encoding } = plan.options[options]!;
      const codecs = byEncoding.get(encoding) ?? new Codecs(encoding);
      byEncoding.set(encoding, codecs);
      return codecs;
    };
    this.#lowered = plan.lowered.map(({ type, options }) => new Signature(type, codecsOf(options)));
    this.#lifted = plan.exports.map(({ type, options }) => new Signature(type, codecsOf(options)));
    this.#exports = new Map(
      plan.exports.map(({ interfaceName, key }, index) => [exportKey(interfaceName, key), index]),
    );
  }

  /** Instantiates the core modules in order; what a start function throws passes through. */
  instantiate(init: LinkInit): LinkedInstance {
    const plan = this.#plan;
    const { hooks } = init;
    const made: Record<string, unknown>[] = [];
    const guests: Guest[] = [];
    /** What of the guest runs that may call nothing, or null. */
    let confined: "allocator" | "post-return" | null = null;
    const confine =
      (core: CoreFunction, as: NonNullable<typeof confined>): CoreFunction =>
      (...args) => {
        confined = as;
        try {
          return core(...args);
        } finally {
          confined = null;
        }
      };
    const funcOf = (item: CoreItem): CoreFunction => itemOf(item) as CoreFunction;
    const guestOf = (options: number): Guest => {
      let guest = guests[options];
      if (guest === undefined) {
        const { memory, realloc } = plan.options[options]!;
        guest = new Guest(
          hooks,
          memory === null ? null : (itemOf(memory) as WebAssembly.Memory),
          realloc === null ? null : hooks.realloc(confine(funcOf(realloc), "allocator")),
        );
        guests[options] = guest;
      }
      return guest;
    };
    const lowered = plan.lowered.map((each, index): CoreFunction => {
      const signature = this.#lowered[index]!;
      const host = hostFunction(init.imports, each);
      return (...values: readonly CoreValue[]) => {
        if (confined !== null) hooks.trap(`the guest's ${confined} called ${each.interfaceName}#${each.name}`);
        return signature.callHost(guestOf(each.options), host, values);
      };
    });
    const itemOf = (item: CoreItem): unknown =>
      item.kind === "lowered" ? lowered[item.index] : made[item.instance]![item.name];
    for (const step of plan.steps) {
      const imports = Object.create(null) as Record<string, unknown>;
      if (step.kind === "bag") {
        for (const { name, item } of step.items) imports[name] = itemOf(item);
        made.push(imports);
      } else {
        for (const { name, instance } of step.args) imports[name] = made[instance];
        const module = init.modules[step.module]!;
        made.push(init.instantiateCore(module, imports as WebAssembly.Imports).exports as Record<string, unknown>);
      }
    }
    return {
      call: (interfaceName, key, args) => {
        const index = this.#exports.get(exportKey(interfaceName, key));
        if (index === undefined) throw new Error(`The component has no export ${JSON.stringify(key)}`);
        const { core, postReturn, options } = plan.exports[index]!;
        return this.#lifted[index]!.callGuest(
          guestOf(options),
          hooks.entry(funcOf(core)),
          postReturn === null ? null : hooks.postReturn(confine(funcOf(postReturn), "post-return")),
          args,
        );
      },
    };
  }
}

function hostFunction(imports: LinkInit["imports"], { interfaceName, key }: LoweredImport): HostFunction {
  const served = Object.hasOwn(imports, interfaceName) ? imports[interfaceName]! : {};
  const found = Object.hasOwn(served, key) ? served[key] : undefined;
  if (typeof found !== "function") throw new Error(`Nothing serves ${JSON.stringify(`${interfaceName}#${key}`)}`);
  return found as HostFunction;
}

function exportKey(interfaceName: string | null, key: string): string {
  return `${interfaceName ?? ""}\n${key}`;
}
