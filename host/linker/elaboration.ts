import {
  type CanonicalOptions,
  camelCase,
  type Definition,
  type Entity,
  type FuncType,
  isPlain,
  type NamedIndex,
  TypeSearch,
  typeText,
  type WitType,
} from "../component/component.ts";
import { quote } from "../errors/errors.ts";
import type { CoreItem, Lifted, LinkOptions, LinkStep, MadeFunction, ResourceType } from "./link-plan.ts";
import { Spaces } from "./spaces.ts";
import { unlinkable } from "./unlinkable.ts";

/** A function of a component: one of the host's, or one that a core function stands behind. */
export type Func =
  | {
      readonly sort: "func";
      readonly kind: "imported";
      readonly interfaceName: string;
      readonly name: string;
    }
  | {
      readonly sort: "func";
      readonly kind: "lifted";
      readonly lifted: Lifted;
    };

/** What an index of a component's spaces stands for once the components around it are instantiated. */
export type Value =
  | Func
  | { readonly sort: "instance"; readonly exports: ReadonlyMap<string, Value> }
  | { readonly sort: "component"; readonly definitions: readonly Definition[]; readonly outer: Spaces }
  | { readonly sort: "module"; readonly index: number };

/** Definitions that one elaboration follows. The largest component of a toolchain comes to some thousands. */
const MOST_STEPS = 100_000;
/** How deep instantiations may nest. */
const DEEPEST = 32;
/** As many as fit into 32 bits; validation allows no more. */
const MOST_FLAGS = 32;

/** Instantiates components on paper: every core instance, lowered import and lift that running the component would make. */
export class Elaboration {
  readonly modules: { start: number; end: number }[] = [];
  readonly steps: LinkStep[] = [];
  readonly options: LinkOptions[] = [];
  readonly made: MadeFunction[] = [];
  readonly resources: ResourceType[] = [];
  readonly #moduleAt = new Map<number, number>();
  readonly #optionsAt = new Map<string, number>();
  readonly #handled = new TypeSearch((type) => !isPlain(type));
  readonly #foreign = new TypeSearch(
    (type) => (!isPlain(type) && type.kind !== "own" && type.kind !== "borrow") || hasTooManyFlags(type),
  );
  #components = 0;
  #left = MOST_STEPS;
  #depth = 0;

  spend(): void {
    if (--this.#left < 0) unlinkable(`it consists of more than ${MOST_STEPS} definitions`);
  }

  /** The exports of the outermost component. */
  component(definitions: readonly Definition[]): ReadonlyMap<string, Value> {
    return this.#instantiate(definitions, null, null);
  }

  #instantiate(
    definitions: readonly Definition[],
    outer: Spaces | null,
    args: ReadonlyMap<string, Value> | null,
  ): ReadonlyMap<string, Value> {
    if (++this.#depth > DEEPEST) unlinkable(`instantiations nest deeper than ${DEEPEST}`);
    const spaces = new Spaces(outer, this.#components++);
    const exports = new Map<string, Value>();
    for (const definition of definitions) {
      this.spend();
      this.#define(definition, spaces, args, exports);
    }
    this.#depth--;
    return exports;
  }

  #define(
    definition: Definition,
    spaces: Spaces,
    args: ReadonlyMap<string, Value> | null,
    exports: Map<string, Value>,
  ): void {
    switch (definition.kind) {
      case "core-module":
        spaces.add({ sort: "module", index: this.#module(definition) });
        return;
      case "core-instance": {
        const { index: module } = spaces.at("module", definition.module);
        const instances = definition.args.map(({ name, index }) => ({
          name,
          instance: this.#core(spaces, index).step,
        }));
        spaces.addCoreInstance({ step: this.steps.push({ kind: "module", module, args: instances }) - 1, items: null });
        return;
      }
      case "core-exports": {
        const items = new Map<string, CoreItem>();
        for (const { name, sort, index } of definition.items) {
          this.spend();
          items.set(name, spaces.core(sort, index));
        }
        const bag = Array.from(items, ([name, item]) => ({ name, item }));
        spaces.addCoreInstance({ step: this.steps.push({ kind: "bag", items: bag }) - 1, items });
        return;
      }
      case "core-alias": {
        const { step, items } = this.#core(spaces, definition.instance);
        const item: CoreItem | undefined =
          items === null ? { kind: "export", instance: step, name: definition.name } : items.get(definition.name);
        if (item === undefined) unlinkable(`a core instance has no ${quote(definition.name)}`);
        spaces.addCore(definition.sort, item);
        return;
      }
      case "component":
        spaces.add({ sort: "component", definitions: definition.definitions, outer: spaces });
        return;
      case "instance": {
        const { definitions, outer } = spaces.at("component", definition.component);
        const given = this.#named(spaces, definition.args);
        spaces.add({ sort: "instance", exports: this.#instantiate(definitions, outer, given) });
        return;
      }
      case "exports":
        spaces.add({ sort: "instance", exports: this.#named(spaces, definition.items) });
        return;
      case "alias": {
        if (definition.sort === "type") return;
        const value = spaces.at("instance", definition.instance).exports.get(definition.name);
        if (value?.sort !== definition.sort) unlinkable(`an instance has no ${quote(definition.name)}`);
        spaces.add(value);
        return;
      }
      case "outer":
        if (definition.sort === "type" || definition.sort === "core type") return;
        spaces.add(spaces.outwards(definition.count).any(definition.sort, definition.index));
        return;
      case "import":
        if (definition.entity.sort === "type") return;
        spaces.add(args === null ? fromHost(definition.name, definition.entity) : given(definition, args));
        return;
      case "export": {
        if (definition.sort === "type") return;
        const value = spaces.any(definition.sort, definition.index);
        spaces.add(value);
        exports.set(definition.name, value);
        return;
      }
      case "lift":
        spaces.add({ sort: "func", kind: "lifted", lifted: this.#lift(definition, spaces) });
        return;
      case "lower":
        spaces.addCore("core func", this.#make(this.#lower(definition, spaces)));
        return;
      case "resource": {
        const { resource, destructor } = definition;
        const core = destructor === null ? null : spaces.core("core func", destructor);
        const type = { name: resource.name, component: spaces.component, destructor: core };
        spaces.resources.set(resource, this.resources.push(type) - 1);
        return;
      }
      case "resource.new":
      case "resource.rep": {
        const { kind } = definition;
        const resource = spaces.resources.get(definition.resource) ?? unlinkable(`${kind} of another's resource`);
        spaces.addCore("core func", this.#make({ kind, component: spaces.component, resource }));
        return;
      }
      case "resource.drop": {
        const { kind, resource } = definition;
        spaces.addCore("core func", this.#make({ kind, component: spaces.component, name: resource.name }));
        return;
      }
      case "built-in":
        unlinkable(`it uses the canonical built-in ${quote(definition.name)}`);
        break;
      case "start":
        unlinkable("a component in it has a start function");
    }
  }

  #core(spaces: Spaces, index: number): ReturnType<Spaces["coreInstance"]> {
    this.spend();
    return spaces.coreInstance(index);
  }

  #named(spaces: Spaces, items: readonly NamedIndex[]): Map<string, Value> {
    const named = new Map<string, Value>();
    for (const { name, sort, index } of items) {
      this.spend();
      if (sort !== "type") named.set(name, spaces.any(sort, index));
    }
    return named;
  }

  #module({ start, end }: { readonly start: number; readonly end: number }): number {
    const known = this.#moduleAt.get(start);
    if (known !== undefined) return known;
    const index = this.modules.push({ start, end }) - 1;
    this.#moduleAt.set(start, index);
    return index;
  }

  #make(made: MadeFunction): CoreItem {
    return { kind: "made", index: this.made.push(made) - 1 };
  }

  #lift({ core, type, options }: Extract<Definition, { kind: "lift" }>, spaces: Spaces): Lifted {
    this.#checkKnown(type, "an export");
    return {
      type,
      core: spaces.core("core func", core),
      postReturn: options.postReturn === null ? null : spaces.core("core func", options.postReturn),
      options: this.#optionsOf(options, spaces),
    };
  }

  #lower({ func, type, options }: Extract<Definition, { kind: "lower" }>, spaces: Spaces): MadeFunction {
    const callee = spaces.at("func", func);
    const crossing = { type, options: this.#optionsOf(options, spaces) };
    if (callee.kind === "lifted") {
      this.#checkKnown(type, "an import");
      return { kind: "fused", callee: callee.lifted, ...crossing };
    }
    const { interfaceName, name } = callee;
    this.checkPlain(type, quote(`${interfaceName}#${name}`));
    if (name.startsWith("[")) unlinkable(`${quote(name)} belongs to a resource`);
    return { kind: "import", interfaceName, name, key: camelCase(name), ...crossing };
  }

  /** What passes between the guest and the host holds no handles. */
  checkPlain(type: FuncType, of: string): void {
    check(type, this.#handled, of);
  }

  #checkKnown(type: FuncType, of: string): void {
    if (type.async) unlinkable(`${of} is asynchronous`);
    check(type, this.#foreign, of);
  }

  #optionsOf({ memory, realloc, encoding, foreign }: CanonicalOptions, spaces: Spaces): number {
    if (foreign) unlinkable("it uses the asynchronous or the GC ABI");
    const options: LinkOptions = {
      component: spaces.component,
      memory: memory === null ? null : spaces.core("core memory", memory),
      realloc: realloc === null ? null : spaces.core("core func", realloc),
      encoding,
    };
    const key = JSON.stringify(options);
    const known = this.#optionsAt.get(key);
    if (known !== undefined) return known;
    const index = this.options.push(options) - 1;
    this.#optionsAt.set(key, index);
    return index;
  }
}

function fromHost(name: string, entity: Entity): Value {
  if (entity.sort !== "instance") return unlinkable(`it imports the ${entity.sort} ${quote(name)}`);
  const exports = new Map<string, Value>();
  for (const [funcName, { sort }] of entity.instance.exports) {
    if (sort === "func") exports.set(funcName, { sort, kind: "imported", interfaceName: name, name: funcName });
    else if (sort !== "type") unlinkable(`it imports ${quote(name)}, which holds another ${sort}`);
  }
  return { sort: "instance", exports };
}

function given({ name, entity }: Extract<Definition, { kind: "import" }>, args: ReadonlyMap<string, Value>): Value {
  const value = args.get(name);
  return value?.sort === entity.sort ? value : unlinkable(`${quote(name)} is not given to a component`);
}

function check(type: FuncType, search: TypeSearch, of: string): void {
  for (const part of [...type.params.map((param) => param.type), ...(type.result === null ? [] : [type.result])]) {
    const found = search.find(part);
    if (found !== null) unlinkable(`${of} uses the type ${quote(typeText(found))}`);
  }
}

function hasTooManyFlags(type: WitType): boolean {
  return type.kind === "flags" && type.names.length > MOST_FLAGS;
}
