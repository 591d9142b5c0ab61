import { relative } from "node:path";
import { type BuildResult, buildCapability } from "../../toolchain/toolchain.ts";
import { EXIT } from "./exit-code.ts";
import { jsonText, printable } from "./printable.ts";
import { shellWord } from "./problem.ts";
import { Progress } from "./progress.ts";
import { alignedRows } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { shownBytes, shownMs } from "./units.ts";

/** What `airlock build` understands. */
export interface BuildFlags {
  readonly out?: string;
  readonly json?: boolean;
}

/** Builds the capability in `folder`. Answers 0; whatever fails is thrown. */
export async function build(folder: string, flags: BuildFlags, terminal: Terminal): Promise<number> {
  const progress = new Progress(terminal);
  const startedAt = performance.now();
  let current: string | null = null;
  const finish = (): void => {
    if (current !== null)
      terminal.note(`${terminal.notePaint.faint(shownMs(progress.stepMs).padStart(8))}  ${current}`);
    current = null;
  };
  let result: BuildResult;
  try {
    result = await buildCapability(folder, {
      ...(flags.out === undefined ? {} : { outDir: flags.out }),
      onProgress: ({ kind, text }) => {
        progress.end();
        finish();
        if (kind === "done") return;
        current = printable(text);
        progress.step(text);
      },
    });
  } finally {
    progress.end();
  }
  const ms = Math.round(performance.now() - startedAt);
  if (flags.json) terminal.print(jsonText({ ...result, sha256: result.manifest.sha256, ms }, 2));
  else for (const line of resultLines(result, ms, terminal)) terminal.print(line);
  return EXIT.good;
}

function resultLines(result: BuildResult, ms: number, { outPaint: colours }: Terminal): readonly string[] {
  const { manifest, bytes, sourceBytes, reproducible, directory } = result;
  const here = relative(process.cwd(), directory);
  const shown = here === "" || here.startsWith("..") ? directory : here;
  return [
    `${colours.good("built")}  ${colours.strong(`${printable(manifest.id)}@${printable(manifest.version)}`)}  in ${shownMs(ms)}`,
    ...alignedRows([
      ["package", printable(directory)],
      ["size", `${shownBytes(bytes)}, ${shownBytes(sourceBytes)} of it JavaScript`],
      ["sha256", manifest.sha256],
      ["imports", manifest.imports.length === 0 ? "none" : manifest.imports.map((name) => printable(name)).join(", ")],
      ["digest", reproducible ? "the same sources and tools give the same one" : "changes from build to build"],
    ]),
    colours.faint(`Next: airlock inspect ${shellWord(shown)}`),
  ];
}
