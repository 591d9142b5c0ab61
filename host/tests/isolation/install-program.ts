// Installs the workbench with a cache directory, runs it once and prints what it saw as JSON. For tests of several processes.
// node install-program.ts <the host's index as a URL> <directory>
import type { createHost as CreateHost } from "../../index.ts";
import { answeringDesk, workbench } from "./workbench.ts";

const [, , index = "", cacheDirectory = ""] = process.argv;
const { createHost } = (await import(index)) as { createHost: typeof CreateHost };
const host = await createHost({ threads: 1, imports: answeringDesk, compile: { cacheDirectory } });
const { id } = await host.install(await workbench());
const outcome = await host.run(id, { x: 2, y: 40 }, { operation: "add" }).outcome;
await host.close();
process.stdout.write(
  JSON.stringify({ output: outcome.kind === "succeeded" ? outcome.output : outcome, disk: host.stats().cache.disk }),
);
