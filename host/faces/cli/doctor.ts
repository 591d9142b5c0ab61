import { examine, listGuests } from "../../doctor/doctor.ts";
import { HostError, nearest, quote } from "../../errors/errors.ts";
import { guestLine, reportLines } from "./doctor-text.ts";
import { EXIT } from "./exit-code.ts";
import { jsonText } from "./printable.ts";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

/** What `airlock doctor` understands. */
export interface DoctorFlags {
  readonly guest?: readonly string[];
  readonly tier: "reset" | "recycled" | "fresh";
  readonly json?: boolean;
}

/** Each guest has a line of its own when it is through, so only a slow one needs another before that. */
const PATIENCE_MS = 5_000;

/** Runs the hostile guests. Answers 0 when every limit was proven, else 1. */
export async function doctor(flags: DoctorFlags, terminal: Terminal): Promise<number> {
  const { guest: chosen = [], tier } = flags;
  const names = chosenGuests(chosen);
  const progress = new Progress(terminal, PATIENCE_MS);
  const step = (done: number): void => {
    if (done < names.length) progress.step(`${done + 1} of ${names.length}  ${names[done]}`);
  };
  step(0);
  try {
    let done = 0;
    const report = await examine({
      tier,
      ...(chosen.length === 0 ? {} : { guests: names }),
      onProgress: (result) => {
        progress.end();
        if (!flags.json) terminal.note(guestLine(result, terminal.notePaint));
        step(++done);
      },
    });
    progress.end();
    if (flags.json) terminal.print(jsonText(report, 2));
    else for (const line of reportLines(report, terminal.outPaint)) terminal.print(line);
    return report.ok ? EXIT.good : EXIT.otherwise;
  } finally {
    progress.end();
  }
}

function chosenGuests(chosen: readonly string[]): readonly string[] {
  const known = listGuests().map(({ name }) => name);
  for (const name of chosen) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    const wanted = near === undefined ? `one of ${known.join(", ")} is wanted` : `did you mean ${quote(near)}?`;
    throw new HostError("AIRLOCK_CLI_USAGE", `There is no guest ${quote(name)}: ${wanted}`);
  }
  return chosen.length === 0 ? known : [...new Set(chosen)];
}
