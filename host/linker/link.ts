import type { FuncType, StringEncoding } from "../component/component.ts";
import { Codecs } from "./codecs.ts";
import type { LinkHooks } from "./guest.ts";
import type { LinkPlan } from "./link-plan.ts";
import { RunningComponent } from "./running-component.ts";
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
  /** Notes what the linker keeps of it, between calls; the answer puts that back. Memories and globals are the caller's matter. */
  remember(): () => void;
}

/** The signatures of a plan's functions, in its order. `callee` is another component's, where one answers. */
export interface Signatures {
  readonly made: readonly { readonly caller: Signature; readonly callee: Signature | null }[];
  readonly exports: readonly Signature[];
}

/** Makes instances of one component. What does not change from one to the next is compiled here, once. */
export class Linker {
  readonly #plan: LinkPlan;
  readonly #signatures: Signatures;
  readonly #exports: ReadonlyMap<string, number>;

  constructor(plan: LinkPlan) {
    this.#plan = plan;
    this.#signatures = signaturesOf(plan);
    this.#exports = new Map(
      plan.exports.map(({ interfaceName, key }, index) => [exportKey(interfaceName, key), index]),
    );
  }

  /** Instantiates the core modules in order; what a start function throws passes through. */
  instantiate(init: LinkInit): LinkedInstance {
    const component = new RunningComponent(this.#plan, this.#signatures, init);
    return {
      call: (interfaceName, key, args) => {
        const index = this.#exports.get(exportKey(interfaceName, key));
        if (index === undefined) throw new Error(`The component has no export ${JSON.stringify(key)}`);
        return component.call(index, args);
      },
      remember: () => component.remember(),
    };
  }
}

function signaturesOf({ options, made, exports }: LinkPlan): Signatures {
  const byEncoding = new Map<StringEncoding, { readonly codecs: Codecs; readonly known: Map<FuncType, Signature> }>();
  // One for each type, however many functions have it: a component can mention a long one many thousand times.
  const signatureOf = (of: { readonly type: FuncType; readonly options: number }): Signature => {
    const { encoding } = options[of.options]!;
    const { codecs, known } = byEncoding.get(encoding) ?? { codecs: new Codecs(encoding), known: new Map() };
    byEncoding.set(encoding, { codecs, known });
    const signature = known.get(of.type) ?? new Signature(of.type, codecs);
    known.set(of.type, signature);
    return signature;
  };
  return {
    made: made.map((each) => {
      if (each.kind !== "import" && each.kind !== "fused") return NO_SIGNATURE;
      return { caller: signatureOf(each), callee: each.kind === "fused" ? signatureOf(each.callee) : null };
    }),
    exports: exports.map(signatureOf),
  };
}

/** For built-ins, which take and give core values. */
const NO_SIGNATURE: Signatures["made"][number] = {
  caller: new Signature({ params: [], result: null, async: false }, new Codecs("utf8")),
  callee: null,
};

function exportKey(interfaceName: string | null, key: string): string {
  return `${interfaceName ?? ""}\n${key}`;
}
