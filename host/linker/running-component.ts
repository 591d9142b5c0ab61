import { type CoreFunction, Guest } from "./guest.ts";
import { Handles, type RunningResource } from "./handles.ts";
import type { LinkInit, Signatures } from "./link.ts";
import type { CoreItem, LinkPlan, LoweredImport, MadeFunction, ResourceBuiltin } from "./link-plan.ts";

type HostFunction = (...args: unknown[]) => unknown;

/** One instance of a component: its core instances, what they import of the linker, and its tables of handles. */
export class RunningComponent {
  readonly #plan: LinkPlan;
  readonly #signatures: Signatures;
  readonly #init: LinkInit;
  readonly #instances: Record<string, unknown>[] = [];
  readonly #made: CoreFunction[];
  readonly #guests: Guest[] = [];
  readonly #handles: Handles[] = [];
  readonly #resources: RunningResource[];
  /** What of the guest runs that may call nothing, or null. */
  #confined: "allocator" | "post-return" | null = null;
  /** Component instances that calls have entered and not left: none may be entered again. */
  readonly #entered = new Set<number>();

  constructor(plan: LinkPlan, signatures: Signatures, init: LinkInit) {
    this.#plan = plan;
    this.#signatures = signatures;
    this.#init = init;
    this.#resources = plan.resources.map(({ name, component, destructor }) => ({
      name,
      component,
      destroy: (rep) => {
        if (destructor !== null)
          this.#stopException(() => this.#func(destructor)(rep), "an exception left a destructor");
      },
    }));
    // Before anything is remembered: a table that is made later would not be put back.
    for (const { component } of plan.options) this.#handlesOf(component);
    this.#made = plan.made.map((each, index) => this.#make(each, index));
    for (const step of plan.steps) {
      const imports = Object.create(null) as Record<string, unknown>;
      if (step.kind === "bag") {
        for (const { name, item } of step.items) imports[name] = this.#item(item);
        this.#instances.push(imports);
      } else {
        for (const { name, instance } of step.args) imports[name] = this.#instances[instance];
        const module = init.modules[step.module]!;
        const { exports } = init.instantiateCore(module, imports as WebAssembly.Imports);
        this.#instances.push(exports as Record<string, unknown>);
      }
    }
  }

  /** Calls the export at a position of the plan's. */
  call(index: number, args: readonly unknown[]): unknown {
    const { hooks } = this.#init;
    const { core, postReturn, options } = this.#plan.exports[index]!;
    return this.#signatures.exports[index]!.callGuest(
      this.#guest(options),
      hooks.entry(this.#entering(options, this.#func(core))),
      postReturn === null ? null : hooks.postReturn(this.#confine(postReturn, "post-return")),
      args,
    );
  }

  /** Notes the handles of all its components, between calls; the answer puts them back and counts them. */
  remember(): () => void {
    const tables = this.#handles.filter((each) => each !== undefined);
    const restore = tables.map((each) => each.remember());
    return () => {
      for (const putBack of restore) putBack();
      const open = tables.reduce((sum, each) => sum + each.open, 0);
      if (open > 0) this.#init.hooks.countHandles(open);
    };
  }

  #make(made: MadeFunction, index: number): CoreFunction {
    switch (made.kind) {
      case "import": {
        const { caller } = this.#signatures.made[index]!;
        const host = hostFunction(this.#init.imports, made);
        return (...values) => {
          if (this.#confined !== null) this.#refuse(`${made.interfaceName}#${made.name}`);
          return caller.callHost(this.#guest(made.options), host, values);
        };
      }
      case "fused":
        return this.#fuse(made, index);
      default:
        return this.#builtin(made);
    }
  }

  /** A call from one component to another: the values go through the host, and no resource stays behind. */
  #fuse({ callee, options }: MadeFunction & { kind: "fused" }, index: number): CoreFunction {
    const { hooks } = this.#init;
    const signatures = this.#signatures.made[index]!;
    return (...values) => {
      if (this.#confined !== null) this.#refuse("another component");
      const from = this.#guest(options);
      const to = this.#guest(callee.options);
      const core = this.#entering(callee.options, this.#func(callee.core));
      const postReturn = callee.postReturn === null ? null : this.#confine(callee.postReturn, "post-return");
      let passed: unknown[] = [];
      const entered: CoreFunction = (...args) => {
        hooks.handedOn();
        // They are in the callee by now. A chain of calls would hold them all, and they count as handed on.
        passed.length = 0;
        return this.#stopException(() => core(...args), "an exception left a component");
      };
      const answerFor = (args: unknown[]): unknown => {
        passed = args;
        return to.handles.borrowing(() => signatures.callee!.enter(to, entered, postReturn, args));
      };
      const answered = from.handles.lending(() => signatures.caller.serve(from, values, answerFor));
      hooks.handedOn();
      return answered;
    };
  }

  #builtin(made: ResourceBuiltin): CoreFunction {
    const handles = this.#handlesOf(made.component);
    switch (made.kind) {
      case "resource.new":
        return (rep) => {
          if (this.#confined !== null) this.#refuse("for a new handle");
          return handles.addOwn({ type: this.#resources[made.resource]!, rep: Number(rep) });
        };
      case "resource.rep":
        return (index) => handles.rep(Number(index) >>> 0, this.#resources[made.resource]!);
      case "resource.drop":
        return (index) => {
          if (this.#confined !== null) this.#refuse("for a resource to be dropped");
          handles.drop(Number(index) >>> 0, made.name);
        };
    }
  }

  #refuse(what: string): never {
    return this.#init.hooks.trap(`the guest's ${this.#confined} called ${what}`);
  }

  #guest(options: number): Guest {
    let guest = this.#guests[options];
    if (guest === undefined) {
      const { hooks } = this.#init;
      const { component, memory, realloc } = this.#plan.options[options]!;
      guest = new Guest(
        hooks,
        this.#handlesOf(component),
        memory === null ? null : (this.#item(memory) as WebAssembly.Memory),
        realloc === null ? null : hooks.realloc(this.#confine(realloc, "allocator")),
      );
      this.#guests[options] = guest;
    }
    return guest;
  }

  #handlesOf(component: number): Handles {
    this.#handles[component] ??= new Handles(component, this.#init.hooks);
    return this.#handles[component];
  }

  /** Traps where a call would come back to a component instance that has not ended its own. */
  #entering(options: number, core: CoreFunction): CoreFunction {
    const { component } = this.#plan.options[options]!;
    return (...args) => {
      if (this.#entered.has(component)) this.#init.hooks.trap("a component of the guest was entered again");
      this.#entered.add(component);
      try {
        return core(...args);
      } finally {
        this.#entered.delete(component);
      }
    };
  }

  #confine(item: CoreItem, as: "allocator" | "post-return"): CoreFunction {
    const core = this.#func(item);
    return (...args) => {
      this.#confined = as;
      try {
        // What is thrown after the result was lifted would pass for the value of an `err`.
        return this.#stopException(() => core(...args), `an exception left the guest's ${as}`);
      } finally {
        this.#confined = null;
      }
    };
  }

  /** The guest's caller would catch it, and neither would know in what state the other is. */
  #stopException<T>(call: () => T, what: string): T {
    try {
      return call();
    } catch (thrown) {
      if (thrown instanceof WebAssembly.Exception) this.#init.hooks.trap(what);
      throw thrown;
    }
  }

  #func(item: CoreItem): CoreFunction {
    return this.#item(item) as CoreFunction;
  }

  #item(item: CoreItem): unknown {
    return item.kind === "made" ? this.#made[item.index] : this.#instances[item.instance]![item.name];
  }
}

function hostFunction(imports: LinkInit["imports"], { interfaceName, key }: LoweredImport): HostFunction {
  const served = Object.hasOwn(imports, interfaceName) ? imports[interfaceName]! : {};
  const found = Object.hasOwn(served, key) ? served[key] : undefined;
  if (typeof found !== "function") throw new Error(`Nothing serves ${JSON.stringify(`${interfaceName}#${key}`)}`);
  return found as HostFunction;
}
