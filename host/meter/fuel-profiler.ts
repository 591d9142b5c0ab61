import { ContextTree } from "./context-tree.ts";
import { engine, type WasmGlobal } from "./engine.ts";
import { type FuelProfile, fuelProfile } from "./fuel-profile.ts";
import { hookModule, PROFILE_IMPORTS, PROFILE_TYPES, type ProfileImport } from "./profile-hooks.ts";
import type { ProfiledFunction } from "./profiled-functions.ts";
import { settleProfile } from "./settle-profile.ts";

/** A core module of a profile build. */
export interface ProfiledModule {
  readonly name: string;
  /** `MeterReport.profiled`; null for a module without functions. */
  readonly functions: readonly ProfiledFunction[] | null;
}

/** What a module of a profile build wants under `$airlock` besides its counters. */
export type ProfilerImports = { readonly [Name in ProfileImport]: WasmGlobal<unknown> };

/** More than any world has; what is past it counts as the host's. */
const MOST_IMPORTS = 4_096;

/** Past every place in the stack. */
const NONE = 0x7fff_ffff;

/** The frame of what is charged while no function of the guest runs. */
const HOST_FRAME = 0;

/** What was counted of each frame. */
export interface FrameCounts {
  readonly self: Float64Array;
  /** Callees included; of a recursion the outermost activation. */
  readonly total: Float64Array;
  readonly calls: Float64Array;
  /** What the caller pays for a leaf. */
  readonly leafCosts: Int32Array;
}

/**
 * Attributes what one run takes from the counter `fuel` to the functions that took it. Fuel that is charged between two of
 * its events is the innermost frame's, for a frame charges what it runs itself, however late; a leaf, which charges
 * nothing, is given from its caller what that pays for it. So the fuel of all frames is the fuel of the run, exactly. A run that
 * traps has the profile of what was charged until then. Exceptions are noticed where a frame that catches goes on.
 */
export class FuelProfiler {
  readonly #modules: readonly ProfiledModule[];
  readonly #functions: number;
  readonly #imports: ReadonlyMap<ProfiledModule, ProfilerImports>;
  /** Frames of imports, numbered behind the functions, by name. */
  readonly #importFrames = new Map<string, number>();
  #phase: FuelProfile["phase"] = "setup";
  #counts: FrameCounts;
  #active: Int32Array;
  #enteredAt: Float64Array;
  #tree = new ContextTree();
  #folded = 0;
  /** Place in the stack of the first frame that has no context of its own. */
  #foldedFrom = NONE;
  /** The frames under way and their contexts; the first is the host's and stays. */
  #stackFrames = new Int32Array(1024);
  #stackContexts = new Int32Array(1024);
  #height = 1;
  #last = 0;
  /** What was charged since the last event for values that are on their way to an import. */
  #lifted = 0;
  /** The frame and the context that ended in a tail call just now, or -1. */
  #tailFrame = -1;
  #tailContext = -1;
  #isOver = false;

  constructor(modules: readonly ProfiledModule[]) {
    this.#modules = modules;
    this.#functions = modules.reduce((sum, { functions }) => sum + (functions?.length ?? 0), 0);
    const frames = 1 + this.#functions + MOST_IMPORTS;
    this.#active = new Int32Array(frames);
    this.#enteredAt = new Float64Array(frames);
    const leafCosts = new Int32Array(frames);
    this.#counts = newCounts(leafCosts);
    const { exports } = new engine.Instance(new engine.Module(hookModule()), {
      "": {
        enter: (frame: number, fuel: number) => this.#enter(frame, fuel),
        leave: (height: number, fuel: number) => this.#leave(height, fuel),
        resume: (height: number, fuel: number) => this.#resume(height, fuel),
      },
    });
    let first = 1;
    this.#imports = new Map(
      modules.map((module) => {
        for (const [at, { leafCost }] of (module.functions ?? []).entries()) leafCosts[first + at] = leafCost;
        const imports = importsOf(exports, first);
        first += module.functions?.length ?? 0;
        return [module, imports];
      }),
    );
  }

  /** What each instance of a module is given under `$airlock`. */
  importsOf(module: ProfiledModule): ProfilerImports {
    return this.#imports.get(module)!;
  }

  /** A phase of the run begins with this much fuel. What was counted of another is forgotten. */
  begin(phase: FuelProfile["phase"], fuel: number): void {
    this.#phase = phase;
    this.#counts = newCounts(this.#counts.leafCosts);
    this.#active.fill(0);
    this.#tree = new ContextTree();
    this.#folded = 0;
    this.#foldedFrom = NONE;
    this.#height = 1;
    this.#last = fuel;
    this.#lifted = 0;
  }

  /** `units` that were charged just now are for values on their way out of the guest. */
  lift(units: number): void {
    if (this.#stackFrames[this.#height - 1]! <= this.#functions) this.#lifted += units;
  }

  /** The guest has called an imported function; so what was lifted just before is its. */
  enterImport(name: string, fuel: number): void {
    if (this.#isOver) return;
    const lifted = this.#lifted;
    const caller = this.#height - 1;
    this.#enter(this.#frameOfImport(name), fuel);
    this.#move(this.#stackFrames[caller]!, this.#stackContexts[caller]!, lifted);
  }

  /** The imported function returns. */
  leaveImport(fuel: number): void {
    if (this.#height > 1) this.#leave(this.#height - 1, fuel);
  }

  /** The run has ended with this much fuel; nothing is counted from here on. */
  finish(fuel: number): void {
    if (this.#isOver) return;
    this.#spend(fuel);
    const height = this.#height;
    this.#popTo(1, fuel);
    const contexts = this.#stackContexts.subarray(0, height);
    settleProfile(this.#tree, this.#counts, contexts, this.#stackFrames.subarray(0, height), fuel);
    this.#isOver = true;
  }

  /** What was counted; null before the end. */
  profile(): FuelProfile | null {
    if (!this.#isOver) return null;
    return fuelProfile({
      phase: this.#phase,
      modules: this.#modules,
      imports: [...this.#importFrames.keys()],
      counts: this.#counts,
      tree: this.#tree,
      folded: this.#folded,
    });
  }

  /** Answers how many frames there were before. */
  #enter(frame: number, fuel: number): number {
    const height = this.#height;
    if (this.#isOver) return height;
    const { calls, total, leafCosts } = this.#counts;
    const tailFrame = this.#tailFrame;
    const tailContext = this.#tailContext;
    this.#spend(fuel);
    if (height === this.#stackFrames.length) this.#growStack();
    const parent = this.#stackContexts[height - 1]!;
    // What a folded frame calls is folded with it, or it would look as if its caller had called it.
    const context = height > this.#foldedFrom ? parent : this.#tree.child(parent, frame);
    if (context !== parent) this.#tree.calls[context]!++;
    else {
      this.#folded++;
      this.#foldedFrom = Math.min(this.#foldedFrom, height);
    }
    calls[frame]!++;
    if (this.#active[frame]!++ === 0) this.#enteredAt[frame] = fuel;
    this.#stackFrames[height] = frame;
    this.#stackContexts[height] = context;
    this.#height = height + 1;
    const leafCost = leafCosts[frame]!;
    if (leafCost > 0) {
      total[frame]! += leafCost;
      if (tailFrame === -1) this.#move(this.#stackFrames[height - 1]!, parent, leafCost);
      else this.#move(tailFrame, tailContext, leafCost);
    }
    return height;
  }

  /** The frame above `height` ends; the complement of a height says that it ends in a tail call. */
  #leave(height: number, fuel: number): void {
    if (this.#isOver) return;
    this.#spend(fuel);
    if (height >= 0) {
      this.#popTo(height, fuel);
      return;
    }
    this.#tailFrame = this.#stackFrames[~height]!;
    this.#tailContext = this.#stackContexts[~height]!;
    this.#popTo(~height, fuel);
  }

  /** The frame above `height` goes on: what it called is over. */
  #resume(height: number, fuel: number): void {
    if (this.#isOver || this.#height === height + 1) return;
    this.#spend(fuel);
    this.#popTo(height + 1, fuel);
  }

  /** What is gone from the counter is the innermost frame's. */
  #spend(fuel: number): void {
    const spent = this.#last - fuel;
    this.#last = fuel;
    this.#lifted = 0;
    this.#tailFrame = -1;
    this.#counts.self[this.#stackFrames[this.#height - 1]!]! += spent;
    this.#tree.self[this.#stackContexts[this.#height - 1]!]! += spent;
  }

  /** The innermost frame gets from another one what that has paid, or will pay, for it. */
  #move(frame: number, context: number, units: number): void {
    const { self } = this.#counts;
    const top = this.#height - 1;
    self[frame]! -= units;
    self[this.#stackFrames[top]!]! += units;
    this.#tree.self[context]! -= units;
    this.#tree.self[this.#stackContexts[top]!]! += units;
  }

  #popTo(height: number, fuel: number): void {
    if (height <= this.#foldedFrom) this.#foldedFrom = NONE;
    while (this.#height > height) {
      const frame = this.#stackFrames[--this.#height]!;
      if (--this.#active[frame]! > 0) continue;
      // What made the counter negative was not there to be used.
      this.#counts.total[frame]! += Math.max(0, this.#enteredAt[frame]!) - Math.max(0, fuel);
    }
  }

  #frameOfImport(name: string): number {
    let frame = this.#importFrames.get(name);
    if (frame === undefined) {
      frame = 1 + this.#functions + this.#importFrames.size;
      if (frame >= this.#active.length) return HOST_FRAME;
      this.#importFrames.set(name, frame);
    }
    return frame;
  }

  #growStack(): void {
    const frames = new Int32Array(this.#height * 2);
    const contexts = new Int32Array(this.#height * 2);
    frames.set(this.#stackFrames);
    contexts.set(this.#stackContexts);
    this.#stackFrames = frames;
    this.#stackContexts = contexts;
  }
}

function newCounts(leafCosts: Int32Array): FrameCounts {
  const { length } = leafCosts;
  return {
    self: new Float64Array(length),
    total: new Float64Array(length),
    calls: new Float64Array(length),
    leafCosts,
  };
}

function importsOf(hooks: Readonly<Record<string, unknown>>, first: number): ProfilerImports {
  const made = PROFILE_IMPORTS.map((name) => {
    // "anyfunc" is what the JavaScript API has called funcref since before there was a funcref.
    const value = PROFILE_TYPES[name] === "i32" ? "i32" : "anyfunc";
    return [name, new engine.Global<unknown>({ value, mutable: false }, name === "frames" ? first : hooks[name])];
  });
  return Object.freeze(Object.fromEntries(made)) as ProfilerImports;
}
