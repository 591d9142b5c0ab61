import type { Reader } from "../binary/binary.ts";
import type { ExternSort, InstanceInfo, NamedFunc } from "./component-info.ts";
import type { Findings } from "./findings.ts";
import type { Definition } from "./structure.ts";
import type { FuncType, WitResource, WitType } from "./wit-type.ts";

/** What a type index stands for. */
export type TypeEntity =
  | { readonly kind: "value"; readonly type: WitType }
  | { readonly kind: "func"; readonly type: FuncType }
  | { readonly kind: "resource"; readonly resource: WitResource }
  | { readonly kind: "instance"; readonly instance: Instance }
  | { readonly kind: "component"; readonly exports: Exports };

/** A definition that a name or an index stands for. */
export type Entity =
  | { readonly sort: "func"; readonly type: FuncType }
  | { readonly sort: "type"; readonly type: TypeEntity }
  | { readonly sort: "instance"; readonly instance: Instance }
  | { readonly sort: "component"; readonly exports: Exports }
  | { readonly sort: "module" }
  | { readonly sort: "value" };

export type Exports = ReadonlyMap<string, Entity>;

/** An instance, or its type. Shared by reference by all that mention it, and described at most once. */
export class Instance {
  readonly exports: Exports;
  #info: InstanceInfo | undefined;

  constructor(exports: Exports) {
    this.exports = exports;
  }

  get info(): InstanceInfo {
    this.#info ??= describe(this.exports);
    return this.#info;
  }
}

function describe(exports: Exports): InstanceInfo {
  const funcs: NamedFunc[] = [];
  const resources: string[] = [];
  const types: string[] = [];
  const others: string[] = [];
  for (const [name, entity] of exports) {
    if (entity.sort === "func") funcs.push({ name, type: entity.type });
    else if (entity.sort !== "type") others.push(name);
    else (entity.type.kind === "resource" ? resources : types).push(name);
  }
  return { funcs, resources, types, others };
}

/** A name with the entity behind it. */
export interface NamedEntity {
  readonly name: string;
  readonly entity: Entity;
}

/** The index spaces of one component, component type or instance type. Core index spaces are not kept, only noted. */
export class Scope {
  readonly parent: Scope | null;
  readonly findings: Findings;
  /** Where it stands: `component`, `component 1 > component 0`. */
  readonly path: string;
  readonly depth: number;
  readonly imports: NamedEntity[] = [];
  readonly exports = new Map<string, Entity>();
  readonly #types: TypeEntity[] = [];
  readonly #funcs: FuncType[] = [];
  readonly #instances: Instance[] = [];
  readonly #components: Exports[] = [];
  /** Length of the spaces whose members carry nothing that is needed here. */
  values = 0;
  /** Instances that one instantiation of this component makes, at all depths. */
  instances = 0;
  coreModules = 0;
  /** Where the definitions of a component are noted; null for a type, and where nobody asks for them. */
  readonly #definitions: Definition[] | null;

  constructor(parent: Scope | null, findings: Findings, path: string, definitions: Definition[] | null) {
    this.parent = parent;
    this.findings = findings;
    this.path = path;
    this.#definitions = definitions;
    this.depth = parent === null ? 1 : parent.depth + 1;
  }

  /** A list for the definitions of a component within this one, or null where nobody asks for them. */
  nestedDefinitions(): Definition[] | null {
    return this.#definitions === null ? null : [];
  }

  note(definition: Definition): void {
    this.#definitions?.push(definition);
  }

  get componentCount(): number {
    return this.#components.length;
  }

  /** Gives `entity` the next index of its sort. */
  add(entity: Entity): void {
    switch (entity.sort) {
      case "func":
        this.#funcs.push(entity.type);
        return;
      case "type":
        this.#types.push(entity.type);
        return;
      case "instance":
        this.#instances.push(entity.instance);
        return;
      case "component":
        this.#components.push(entity.exports);
        return;
      case "module":
        this.coreModules += 1;
        return;
      case "value":
        this.values += 1;
    }
  }

  /** What stands at an index of a sort; an index past the end is malformed. */
  at(reader: Reader, sort: ExternSort, index: number): Entity {
    switch (sort) {
      case "func":
        return this.func(reader, index);
      case "type":
        return { sort, type: this.type(reader, index) };
      case "instance":
        return { sort, instance: this.instance(reader, index) };
      case "component":
        return { sort, exports: this.#components[index] ?? outOfRange(reader, sort, index) };
      case "module":
        return { sort };
      case "value":
        if (index >= this.values) outOfRange(reader, sort, index);
        return { sort };
    }
  }

  type(reader: Reader, index: number): TypeEntity {
    return this.#types[index] ?? outOfRange(reader, "type", index);
  }

  instance(reader: Reader, index: number): Instance {
    return this.#instances[index] ?? outOfRange(reader, "instance", index);
  }

  func(reader: Reader, index: number): { readonly sort: "func"; readonly type: FuncType } {
    return { sort: "func", type: this.#funcs[index] ?? outOfRange(reader, "func", index) };
  }

  valueType(reader: Reader, index: number): WitType {
    const entity = this.type(reader, index);
    return entity.kind === "value" ? entity.type : reader.fail(`Type ${index} is not a value type`);
  }

  funcType(reader: Reader, index: number): FuncType {
    const entity = this.type(reader, index);
    return entity.kind === "func" ? entity.type : reader.fail(`Type ${index} is not a function type`);
  }

  resource(reader: Reader, index: number): WitResource {
    const entity = this.type(reader, index);
    return entity.kind === "resource" ? entity.resource : reader.fail(`Type ${index} is not a resource`);
  }
}

function outOfRange(reader: Reader, sort: string, index: number): never {
  reader.fail(`There is no ${sort} ${index}`);
}
