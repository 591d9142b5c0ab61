// The program that runs a transpiled component: its folder and the arguments of its function `run` come on the command line.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { createCounters, meter } from "../meter.ts";
import { wasm } from "./engine.ts";

interface Glue {
  instantiate(
    get: (path: string) => object,
    imports: object,
    instantiateCore: (module: object, imports: object) => object,
  ): { run(x: string): string };
}

const [folder, ...parameters] = process.argv.slice(2);
// Node 20 knows them behind a flag only; later versions refuse the flag by a warning.
if (process.versions.node.startsWith("20.")) setFlagsFromString("--experimental-wasm-extended-const");
const { instantiate } = (await import(pathToFileURL(join(folder!, "guest.mjs")).href)) as Glue;
const counters = createCounters({ fuel: 10n ** 15n, pages: 10_000, elements: 100_000 });
const guest = instantiate(
  (path) => new wasm.Module(meter(readFileSync(join(folder!, path))).bytes),
  {},
  (module, imports) => new wasm.Instance(module, { ...imports, $airlock: counters }),
);
const calls = parameters.map((parameter) => {
  const before = counters.fuel.value;
  const result = guest.run(parameter);
  return { ending: "returned", result, used: Number(before - counters.fuel.value) };
});
process.stdout.write(JSON.stringify({ calls }));
