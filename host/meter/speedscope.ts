import type { FuelProfile, ProfiledFrame } from "./fuel-profile.ts";

/** A file of https://www.speedscope.app, as its schema has it: https://www.speedscope.app/file-format-schema.json */
export interface Speedscope {
  readonly $schema: "https://www.speedscope.app/file-format-schema.json";
  readonly name: string;
  readonly exporter: "airlock";
  readonly activeProfileIndex: 0;
  readonly shared: { readonly frames: readonly { readonly name: string; readonly file: string }[] };
  readonly profiles: readonly [EventedProfile];
}

/** Not samples, whose size would be the number of contexts times their depth. */
interface EventedProfile {
  readonly type: "evented";
  readonly name: string;
  readonly unit: "none";
  readonly startValue: 0;
  readonly endValue: number;
  readonly events: readonly SpeedscopeEvent[];
}

interface SpeedscopeEvent {
  /** A frame is opened or closed. */
  readonly type: "O" | "C";
  readonly frame: number;
  /** Units of fuel before it. */
  readonly at: number;
}

/** The tree of calls with fuel for time: calls of the same function in the same place are one. `name` says what was run. */
export function speedscopeOf({ fuel, frames, contexts }: FuelProfile, name: string): Speedscope {
  const totals = contexts.map(({ self }) => self);
  const children = contexts.map((): number[] => []);
  for (let at = contexts.length - 1; at > 0; at--) {
    const { parent } = contexts[at]!;
    totals[parent]! += totals[at]!;
    if (totals[at]! > 0) children[parent]!.push(at);
  }
  const events: SpeedscopeEvent[] = [];
  let spent = 0;
  // A call that is open is its complement.
  for (const pending = [0]; pending.length > 0; ) {
    const next = pending.pop()!;
    const at = next < 0 ? ~next : next;
    const { frame, self } = contexts[at]!;
    if (next < 0) spent += self;
    events.push({ type: next < 0 ? "C" : "O", frame, at: spent });
    if (next < 0) continue;
    pending.push(~at);
    // The first that was called is the last of them, so it is taken first.
    for (const child of children[at]!) pending.push(child);
  }
  return {
    $schema: "https://www.speedscope.app/file-format-schema.json",
    name,
    exporter: "airlock",
    activeProfileIndex: 0,
    shared: { frames: frames.map((frame) => ({ name: frame.name, file: fileOf(frame) })) },
    profiles: [
      { type: "evented", name: `${name}, units of fuel`, unit: "none", startValue: 0, endValue: fuel, events },
    ],
  };
}

function fileOf({ kind, module }: ProfiledFrame): string {
  return module ?? kind;
}
