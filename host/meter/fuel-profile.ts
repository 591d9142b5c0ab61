import type { ContextTree } from "./context-tree.ts";
import type { FrameCounts, ProfiledModule } from "./fuel-profiler.ts";

/** What took fuel: a function of the guest, an imported function, or what the host does besides (`host`: values in and out). */
export interface ProfiledFrame {
  /** Different for each frame. The guest decides what its functions are called: any text, also that of another kind's. */
  readonly name: string;
  readonly kind: "function" | "import" | "host";
  /** The core module of a function and its index there; null for the others. */
  readonly module: string | null;
  readonly index: number | null;
  /** Units of fuel that it took itself, and with all that it called. Of a recursion, `total` counts the outermost call. */
  readonly self: number;
  readonly total: number;
  readonly calls: number;
}

/** A frame where it was called. */
export interface ProfiledContext {
  /** Position in `frames`. */
  readonly frame: number;
  /** Position in `contexts`, before this one; -1 for the first. */
  readonly parent: number;
  readonly self: number;
  readonly calls: number;
}

/** Where the fuel of one run went. */
export interface FuelProfile {
  /** `setup` when the run ended before its export was entered; else the fuel of setup is not part of it. */
  readonly phase: "setup" | "run";
  /** The sum of `self` over all frames, and over all contexts. */
  readonly fuel: number;
  /** The dearest first. */
  readonly frames: readonly ProfiledFrame[];
  /** A bounded tree of calls. */
  readonly contexts: readonly ProfiledContext[];
  /** Calls that were past the bounds of the tree: there they count as their callers', in `frames` as their own. */
  readonly folded: number;
}

/** What a profiler has counted. Frame 0 is the host's, then come the functions of each module, then imports. */
export interface Counted {
  readonly phase: FuelProfile["phase"];
  readonly modules: readonly ProfiledModule[];
  readonly imports: readonly string[];
  readonly counts: FrameCounts;
  readonly tree: ContextTree;
  readonly folded: number;
}

export function fuelProfile({ phase, modules, imports, counts, tree, folded }: Counted): FuelProfile {
  const fuel = counts.self.reduce((sum, self) => sum + self, 0);
  const { self, total, calls } = counts;
  const used: Omit<Numbered, "name">[] = [{ number: 0, kind: "host", module: null, index: null, given: "host" }];
  let number = 1;
  for (const { name: module, functions } of modules) {
    for (const { index, name } of functions ?? []) {
      if (calls[number]! > 0) {
        used.push({ number, kind: "function", module, index, given: name ?? `func ${index}` });
      }
      number++;
    }
  }
  for (const given of imports) used.push({ number: number++, kind: "import", module: null, index: null, given });
  const named = distinctNames(used).map(({ number: at, given: _, ...frame }) => {
    return { at, frame: { ...frame, self: self[at]!, total: at === 0 ? fuel : total[at]!, calls: calls[at]! } };
  });
  named.sort((a, b) => b.frame.self - a.frame.self || b.frame.total - a.frame.total || a.at - b.at);
  const positions = new Map(named.map(({ at }, position) => [at, position]));
  const contexts = Array.from({ length: tree.length }, (_, at): ProfiledContext => {
    const frame = positions.get(tree.frames[at]!)!;
    return { frame, parent: tree.parents[at]!, self: tree.self[at]!, calls: tree.calls[at]! };
  });
  return { phase, fuel, frames: named.map(({ frame }) => frame), contexts, folded };
}

interface Numbered {
  readonly number: number;
  readonly kind: ProfiledFrame["kind"];
  readonly module: string | null;
  readonly index: number | null;
  /** What it is called by itself. */
  readonly given: string;
  readonly name: string;
}

/** Names that several frames have get their module's in front, and where that is not enough their index behind. */
function distinctNames(frames: readonly Omit<Numbered, "name">[]): readonly Numbered[] {
  const withModule = (frame: Omit<Numbered, "name">): string =>
    frame.module === null ? frame.given : `core ${frame.module}: ${frame.given}`;
  const given = tally(frames.map((frame) => frame.given));
  const inModules = tally(frames.map(withModule));
  const names = new Set<string>();
  return frames.map((frame) => {
    let name = given.get(frame.given) === 1 ? frame.given : withModule(frame);
    if (name !== frame.given && inModules.get(name)! > 1) name = `${name} (func ${frame.index})`;
    // A guest may have called another function just that.
    while (names.has(name)) name = `${name} (${frame.number})`;
    names.add(name);
    return { ...frame, name };
  });
}

function tally(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
