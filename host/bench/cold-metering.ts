// Run by metering-speed.ts in a process of its own: meters the module of one file and prints how many milliseconds it took.
import { readFileSync } from "node:fs";
import { meter } from "../meter/meter.ts";

const bytes = readFileSync(process.argv[2]!);
const start = performance.now();
meter(bytes);
process.stdout.write(`${performance.now() - start}\n`);
