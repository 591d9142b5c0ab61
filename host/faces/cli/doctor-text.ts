import type { DoctorReport, Expectation, GuestResult, Observed } from "../../doctor/doctor.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import { alignedRows } from "./table.ts";
import { shownMs } from "./units.ts";

const HEADINGS = { limit: "limits", ending: "endings", admission: "admission" } as const;
/** Guests that are named for one promise; the others are counted. */
const MOST_NAMES = 3;
const NAME_WIDTH = 28;
const ENDING_WIDTH = 34;

/** One guest, when it is through. */
export function guestLine({ name, ok, got, expected, ms, note }: GuestResult, colours: Paint): string {
  const verdict = ok ? colours.good("ok    ") : colours.bad("FAILED");
  const ending = shownEnding(got).padEnd(ENDING_WIDTH);
  const line = `${verdict}  ${name.padEnd(NAME_WIDTH)}  ${ending}  ${colours.faint(shownMs(ms))}`;
  if (ok) return line;
  return `${line}\n        ${shownEnding(expected)} is wanted${note === null ? "" : `: ${printable(note)}`}`;
}

/** The whole examination: what each promise was proven by, and the verdict. */
export function reportLines(report: DoctorReport, colours: Paint): readonly string[] {
  const { rows, guests, node, ok } = report;
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const failed = guests.filter((guest) => !guest.ok).length;
  const unproven = rows.filter((row) => !row.ok).length;
  const verdict = ok
    ? colours.good(
        `${guests.length} of ${guests.length} guests ended as they must, ${rows.length} of ${rows.length} promises are proven.`,
      )
    : colours.bad(
        `${failed} of ${guests.length} guests ended otherwise, ${unproven} of ${rows.length} promises are NOT PROVEN.`,
      );
  return [
    ...kinds.flatMap((kind) => {
      const ofKind = rows.filter((row) => row.kind === kind);
      const table = alignedRows(
        ofKind.map((row) => [row.name, row.ok ? `proven by ${named(row.provedBy)}` : "NOT PROVEN"]),
        [undefined, (text, index) => (ofKind[index]!.ok ? colours.good(text) : colours.bad(text))],
      );
      return ["", colours.strong(HEADINGS[kind]), ...table.map((line) => `  ${line}`)];
    }),
    "",
    verdict,
    colours.faint(`Node ${node}`),
  ];
}

function named(guests: readonly string[]): string {
  const more = guests.length - MOST_NAMES;
  return more > 0 ? `${guests.slice(0, MOST_NAMES).join(", ")} and ${more} more` : guests.join(", ");
}

function shownEnding(ending: Expectation | Observed): string {
  if ("refused" in ending && ending.refused !== undefined) {
    // An expectation may name several codes, one of which is enough.
    return `refused: ${printable([ending.refused].flat().join(" or "))}`;
  }
  const { outcome, limit } = ending as Observed;
  return limit === undefined ? `${outcome}` : `${outcome} (${limit})`;
}
