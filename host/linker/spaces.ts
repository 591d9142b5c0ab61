import type { Sort, WitResource } from "../component/component.ts";
import type { Value } from "./elaboration.ts";
import type { CoreItem } from "./link-plan.ts";
import { unlinkable } from "./unlinkable.ts";

/** A core instance by its position among the steps; its items where they are listed, null for a module's. */
export interface CoreInstance {
  readonly step: number;
  readonly items: ReadonlyMap<string, CoreItem> | null;
}

type Of<S extends Value["sort"]> = Extract<Value, { sort: S }>;

/** The index spaces of one instantiation of a component, types left out. An index that is not there is never followed. */
export class Spaces {
  readonly outer: Spaces | null;
  /** Number of the component instance. */
  readonly component: number;
  /** The resource types that it defines, by their position in the plan. */
  readonly resources = new Map<WitResource, number>();
  readonly #values: Record<Value["sort"], Value[]> = { func: [], instance: [], component: [], module: [] };
  readonly #core: Record<string, CoreItem[]> = {
    "core func": [],
    "core table": [],
    "core memory": [],
    "core global": [],
  };
  readonly #coreInstances: CoreInstance[] = [];

  constructor(outer: Spaces | null, component: number) {
    this.outer = outer;
    this.component = component;
  }

  outwards(count: number): Spaces {
    let at: Spaces = this;
    for (let left = count; left > 0; left--) at = at.outer ?? unlinkable("an outer alias leads nowhere");
    return at;
  }

  add(value: Value): void {
    this.#values[value.sort].push(value);
  }

  addCore(sort: Sort, item: CoreItem): void {
    (this.#core[sort] ?? unlinkable(`it names a ${sort}`)).push(item);
  }

  addCoreInstance(instance: CoreInstance): void {
    this.#coreInstances.push(instance);
  }

  at<S extends Value["sort"]>(sort: S, index: number): Of<S> {
    return (this.#values[sort][index] as Of<S> | undefined) ?? unlinkable(`there is no ${sort} ${index}`);
  }

  any(sort: Sort, index: number): Value {
    if (sort === "func" || sort === "instance" || sort === "component" || sort === "module")
      return this.at(sort, index);
    return unlinkable(`it passes a ${sort}`);
  }

  core(sort: Sort, index: number): CoreItem {
    return this.#core[sort]?.[index] ?? unlinkable(`there is no ${sort} ${index}`);
  }

  coreInstance(index: number): CoreInstance {
    return this.#coreInstances[index] ?? unlinkable(`there is no core instance ${index}`);
  }
}
