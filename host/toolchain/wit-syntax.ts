/** The first thing in a WIT text that does not parse. */
export interface SyntaxProblem {
  /** From 1 on. */
  readonly line: number;
  readonly text: string;
}

/**
 * The parser says what is wrong and not where. But it stops at the first error, so what follows changes nothing: the
 * line is the last of the shortest beginning of the text that gives the same error.
 */
export async function syntaxProblem(text: string): Promise<SyntaxProblem | null> {
  const problem = await parseProblem(text);
  if (problem === null) return null;
  const lines = text.split("\n");
  if (problem.endsWith("found eof")) return { line: text.trimEnd().split("\n").length, text: problem };
  // After text that parses, this is an error of its own: then the problem was a name, which needs the other files.
  if ((await parseProblem(`${text}\n}`)) !== problem) return null;

  let good = 0;
  let bad = lines.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if ((await parseProblem(lines.slice(0, middle).join("\n"))) === problem) bad = middle;
    else good = middle;
  }
  return { line: bad, text: problem };
}

/** The text with comments as blanks: each line keeps its number. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, (comment) => comment.replace(/[^\n]/g, " "));
}

async function parseProblem(text: string): Promise<string | null> {
  // Only sources with WIT of their own need it.
  const { componentWitMetadataForWorld } = await import("@bytecodealliance/jco-transpile/wasm-tools");
  try {
    await componentWitMetadataForWorld({ tag: "source", val: text }, undefined);
    return null;
  } catch (error) {
    // Without a text it is the tool that failed; then the build itself has the last word.
    const payload = (error as { payload?: unknown }).payload;
    return typeof payload === "string" ? payload : null;
  }
}
