/** The process of a cold start: makes a host, installs, runs once, answers, ends. See `bench-ground.ts`. */
import { deserialize } from "node:v8";
import type { ColdAnswer, ColdOrder } from "./bench-ground.ts";
import { messageOf } from "./errors/errors.ts";
import { Host } from "./host.ts";

const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
const { options, source, operation, input } = deserialize(Buffer.concat(chunks)) as ColdOrder;
const host = new Host(options);
let answer: ColdAnswer;
try {
  const { id } = await host.install(source);
  answer = { kind: (await host.run(id, input, { operation }).outcome).kind };
} catch (thrown) {
  answer = { error: messageOf(thrown) };
}
process.stdout.write(`${JSON.stringify(answer)}\n`);
await host.close();
