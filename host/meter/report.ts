import { clampLimits } from "./assemble.ts";
import { COUNTER_MODULE, COUNTER_TYPES, type CounterName, MEMORY_IMPORT } from "./counters.ts";
import type { Layout } from "./layout.ts";
import type { CoreModule } from "./module.ts";
import type { ResolvedOptions } from "./options.ts";
import { MODE, type Plan } from "./plan.ts";
import { POINT } from "./points.ts";
import { PROFILE_IMPORTS, PROFILE_TYPES, type ProfileImport } from "./profile-hooks.ts";
import { type ProfiledFunction, profiledFunctions } from "./profiled-functions.ts";
import { globalExport } from "./resettable.ts";
import { scheduleId } from "./schedule.ts";

/** An import that the meter added; all are of the module `$airlock`. */
export type AddedImport =
  | {
      readonly module: typeof COUNTER_MODULE;
      readonly name: CounterName;
      readonly kind: "global";
      readonly type: "i32" | "i64";
      readonly mutable: true;
    }
  | {
      readonly module: typeof COUNTER_MODULE;
      readonly name: ProfileImport;
      readonly kind: "global";
      readonly type: "i32" | "funcref";
      readonly mutable: false;
    }
  | {
      readonly module: typeof COUNTER_MODULE;
      readonly name: typeof MEMORY_IMPORT;
      readonly kind: "memory";
      readonly initialPages: number;
      readonly maximumPages: number;
    };

/** A memory of the metered module, sizes in pages of 64 KiB. */
export interface MemoryReport {
  /** True when the original imports it; its limits are then as declared, and another module or the host holds them. */
  readonly imported: boolean;
  readonly initialPages: number;
  /** Clamped, and so never null, where the module defines the memory. */
  readonly maximumPages: number | null;
}

/** A table of the metered module. */
export interface TableReport {
  readonly imported: boolean;
  readonly initialElements: number;
  /** Clamped, and so never null, where the module defines the table. */
  readonly maximumElements: number | null;
}

/** What was done to a module. */
export interface MeterReport {
  /** The identity of how fuel is counted. */
  readonly scheduleId: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly functions: {
    /** Functions that the module defines; the sum of the next five. */
    readonly defined: number;
    /** Nothing is charged. */
    readonly free: number;
    /** Charged once, at entry. */
    readonly direct: number;
    /** Charged in a local along the way. */
    readonly cached: number;
    /** Charged along the way without one, as it catches exceptions. */
    readonly guarded: number;
    /** Charged by their callers. */
    readonly leaf: number;
    /** Added for charges and growth. */
    readonly injected: number;
    /** Scanned twice because targets of a `br_table` disagreed. */
    readonly rescanned: number;
  };
  /** Places where fuel is charged, and where it is tested. */
  readonly charges: number;
  readonly tests: number;
  /** What must be given under `$airlock` to instantiate the module. */
  readonly imports: readonly AddedImport[];
  readonly memory: readonly MemoryReport[];
  readonly tables: readonly TableReport[];
  /** Whether fuel is exact where exceptions unwind its frames. */
  readonly unwinds: boolean;
  /**
   * Whether an instance whose memory, counters and mutable globals are put back is as it was after instantiation; the names of those
   * globals' exports, where the option `resettable` was set; or what the module may do that this would not undo.
   */
  readonly reset:
    | { readonly kind: "possible"; readonly globals: readonly string[] }
    | { readonly kind: "impossible"; readonly why: string };
  /** Whether instantiation runs guest code. */
  readonly hasStart: boolean;
  /** The functions that the module defines, of a profile build: what a `FuelProfiler` wants to know. */
  readonly profiled: readonly ProfiledFunction[] | null;
}

export function reportOn(
  module: CoreModule,
  plan: Plan,
  layout: Layout,
  options: ResolvedOptions,
  bytesOut: number,
): MeterReport {
  const memory = module.memories.map((limits): MemoryReport => {
    const { imported, minimum, maximum } = clampLimits(limits, options.memoryMaxPages, "memory");
    return { imported, initialPages: minimum, maximumPages: maximum };
  });
  const tables = module.tables.map((limits): TableReport => {
    const { imported, minimum, maximum } = clampLimits(limits, options.tableMaxElements, "table");
    return { imported, initialElements: minimum, maximumElements: maximum };
  });
  return {
    scheduleId: scheduleId(options.schedule),
    bytesIn: module.bytes.length,
    bytesOut,
    ...countPoints(module, plan, layout),
    imports: addedImports(layout, memory),
    memory,
    tables,
    reset:
      plan.lasting === null
        ? { kind: "possible", globals: layout.exportedGlobals.map(globalExport) }
        : { kind: "impossible", why: plan.lasting },
    unwinds: plan.unwinds,
    hasStart: module.hasStart,
    profiled: layout.profiles ? profiledFunctions(module, plan) : null,
  };
}

function addedImports(layout: Layout, memory: readonly MemoryReport[]): AddedImport[] {
  const imports: AddedImport[] = layout.counters.map(
    (name): AddedImport => ({
      module: COUNTER_MODULE,
      name,
      kind: "global",
      type: COUNTER_TYPES[name],
      mutable: true,
    }),
  );
  for (const name of layout.profiles ? PROFILE_IMPORTS : []) {
    imports.push({ module: COUNTER_MODULE, name, kind: "global", type: PROFILE_TYPES[name], mutable: false });
  }
  if (layout.importsMemory) {
    const { initialPages, maximumPages } = memory[0]!;
    imports.push({
      module: COUNTER_MODULE,
      name: MEMORY_IMPORT,
      kind: "memory",
      initialPages,
      maximumPages: maximumPages!,
    });
  }
  return imports;
}

function countPoints(
  module: CoreModule,
  plan: Plan,
  layout: Layout,
): Pick<MeterReport, "functions" | "charges" | "tests"> {
  const modes = [0, 0, 0, 0, 0];
  let charges = 0;
  let tests = 0;
  for (let index = 0; index < module.bodies.count; index++) {
    modes[plan.modes[index]!]!++;
    const points = pointsOf(plan, index);
    charges += points.charges;
    tests += points.tests;
  }
  const [free, direct, cached, guarded, leaf] = modes as [number, number, number, number, number];
  const { count: defined } = module.bodies;
  const { rescans: rescanned } = plan;
  return {
    functions: { defined, free, direct, cached, guarded, leaf, injected: layout.injected.length, rescanned },
    charges,
    tests,
  };
}

/** Places of the function at `index` of the code section where fuel is charged, and where it is tested. */
export function pointsOf(plan: Plan, index: number): { readonly charges: number; readonly tests: number } {
  const { kinds } = plan.points;
  const mode = plan.modes[index]!;
  let charges = mode === MODE.direct ? 1 : 0;
  let tests = mode !== MODE.free && mode !== MODE.leaf ? plan.tested[index]! : 0;
  if (mode !== MODE.cached && mode !== MODE.guarded) return { charges, tests };
  if (plan.owed[index]! > 0) charges++;
  const end = plan.firstPoints[index + 1]!;
  for (let point = plan.firstPoints[index]!; point < end; point++) {
    if (kinds[point] === POINT.pay) charges++;
    else if (kinds[point] === POINT.test) tests++;
  }
  return { charges, tests };
}
