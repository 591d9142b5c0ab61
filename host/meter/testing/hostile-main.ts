// The process that `npm run fuzz` watches: says the number of each case before it runs, and what became of it after.
import { writeSync } from "node:fs";
import { messageOf } from "../../errors/errors.ts";
import { hostileCases, hostileOrigins } from "./hostile-cases.ts";
import { hostileOutcome } from "./hostile-outcome.ts";

const [seed, first, end] = process.argv.slice(2).map(Number) as [number, number, number];
let number = first;
for (const { bytes, callDepth } of hostileCases(await hostileOrigins(), seed, first)) {
  if (number >= end) break;
  // Written at once: what hangs or kills the process is the last case that was named.
  writeSync(1, `${number}\n`);
  try {
    writeSync(1, `${hostileOutcome(bytes, { callDepth })}\n`);
  } catch (thrown) {
    writeSync(1, `failed ${JSON.stringify(messageOf(thrown))}\n`);
    break;
  }
  number++;
}
