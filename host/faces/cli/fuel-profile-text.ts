import type { FuelProfile, Outcome, ProfiledFrame } from "../../index.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import { counted, shownCount } from "./units.ts";

/** Frames that people are told of; `--json` has them all. */
const MOST_FRAMES = 20;
const NAME_LENGTH = 100;

/** Where the fuel of a run went, for people: the frames that took most themselves. */
export function fuelProfileLines({ fuelProfile, usage }: Outcome, colours: Paint): readonly string[] {
  if (fuelProfile === undefined) {
    return ["", colours.warn("There is no fuel profile: the run was cut off, or it never began")];
  }
  const { phase, fuel, frames } = fuelProfile;
  const took = frames.filter(({ self, calls }) => self > 0 || calls > 0);
  const rows = took.slice(0, MOST_FRAMES).map((frame) => frameRow(frame, fuel));
  const table = rows.length === 0 ? [] : alignedRows([["self", "share", "total", "calls", "what", ""], ...rows]);
  const more = took.length - rows.length;
  const least = usage.fuelExact ? "" : "at least ";
  const where = phase === "setup" ? ", all of it in setup" : "";
  return [
    "",
    `${colours.strong("fuel profile")}  ${least}${shownCount(fuel)}${where}`,
    ...table.map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${counted(more, "more frame")}: --json shows them`] : []),
    ...fuelProfileNotes(fuelProfile, phase === "setup" ? usage.setupFuel : usage.fuel).map(colours.faint),
  ];
}

function frameRow({ self, total, calls, kind, name }: ProfiledFrame, fuel: number): readonly string[] {
  const share = fuel === 0 ? 0 : (100 * self) / fuel;
  const what = kind === "host" ? "values in and out" : printable(name, NAME_LENGTH);
  return [shownCount(self), `${share.toFixed(1)} %`, shownCount(total), shownCount(calls), kind, what];
}

function fuelProfileNotes({ fuel, folded }: FuelProfile, used: number): string[] {
  const notes: string[] = [];
  if (folded > 0) {
    const calls = folded === 1 ? "1 call" : `${shownCount(folded)} calls`;
    notes.push(`${calls} went deeper than the tree of calls: there they count as their callers', above as their own.`);
  }
  if (fuel !== used) notes.push(`The run used ${shownCount(used)}, which is not what the profile adds up to.`);
  return notes;
}
