/**
 * The benches of the host. In: the name of one, and its arguments. Out: what it measured, on the terminal. Each file
 * `<name>.bench.ts` asks one question and says at its top how to run it. Not promised: that a number holds elsewhere.
 */
import { readdirSync } from "node:fs";

const SUFFIX = ".bench.ts";

const names = readdirSync(new URL(".", import.meta.url))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));
const [name] = process.argv.splice(2, 1);
if (name !== undefined && names.includes(name)) await import(`./${name}${SUFFIX}`);
else {
  process.stderr.write(`Usage: npm run bench -- <name> [options], with one of: ${names.join(", ")}\n`);
  process.exitCode = 2;
}
