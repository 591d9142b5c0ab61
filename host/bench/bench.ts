/**
 * The benches of the host. In: the name of one and its arguments, or no name for all that have a bar. Out: what was measured, on the
 * terminal. Each file `<name>.bench.ts` asks one question and says at its top how to run it. Not promised: that a number holds elsewhere.
 */
import { readdirSync } from "node:fs";

const SUFFIX = ".bench.ts";

const names = readdirSync(new URL(".", import.meta.url))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));
const [first] = process.argv.slice(2);
if (first === undefined || first.startsWith("--")) {
  await (await import("./whole-run.ts")).wholeRun();
} else if (names.includes(first)) {
  process.argv.splice(2, 1);
  await import(`./${first}${SUFFIX}`);
} else {
  process.stderr.write(`Usage: npm run bench -- [<name>] [options], with one of: ${names.join(", ")}\n`);
  process.exitCode = 2;
}
