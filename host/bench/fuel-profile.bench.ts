// How much slower is a profile build than the plain metered one?
//
// npm run bench -- fuel-profile [--only fib,tak]
//
// Needs nothing but the repository. Each kernel runs once in each build to warm up, then three times in turn; the fastest
// counts, in time of the processor. What a profile costs depends on how often functions are called, so calls are shown too.
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { FuelProfiler, meter } from "../meter/meter.ts";
import { KERNELS, type Kernel, kernelBytes } from "./kernels.ts";
import { plenty } from "./metered-variants.ts";
import { geometricMean } from "./trials.ts";

const ROUNDS = 3;
/** More than any kernel burns, and exact as a number. */
const PLENTY = 2 ** 53;

const { values } = parseArgs({ options: { only: { type: "string" } } });

const only = values.only?.split(",");
say(`${cpus()[0]!.model}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}`);
const ratios = KERNELS.filter(({ name }) => only === undefined || only.includes(name)).map(compareBuilds);
say(`${"geometric mean".padEnd(30)}${geometricMean(ratios).toFixed(2)}`);

function compareBuilds(kernel: Kernel): number {
  const plain = start(kernel, null);
  const profiler = start(kernel, meter(kernelBytes(kernel.name), { profile: true }));
  const times = [plain, profiler].map(({ run }) => run());
  let [plainMs, profiledMs] = times as [number, number];
  for (let round = 0; round < ROUNDS; round++) {
    plainMs = Math.min(plainMs, plain.run());
    profiledMs = Math.min(profiledMs, profiler.run());
  }
  const ratio = profiledMs / plainMs;
  const calls = Math.round(profiler.calls() / (ROUNDS + 1));
  const ns = calls === 0 ? "" : `, ${(((profiledMs - plainMs) * 1e6) / calls).toFixed(0)} ns a call`;
  say(`${kernel.name.padEnd(20)}${`${plainMs.toFixed(1)} ms`.padEnd(10)}${ratio.toFixed(2)}  ${calls} calls${ns}`);
  return ratio;
}

/** A build that is instantiated; `run` answers the milliseconds of one call. */
function start({ name, argument }: Kernel, profiled: ReturnType<typeof meter> | null) {
  const { bytes, report } = profiled ?? meter(kernelBytes(name));
  const module = { name, functions: report.profiled };
  const profiler = new FuelProfiler([module]);
  const compiled = new WebAssembly.Module(bytes);
  const imports: WebAssembly.Imports = {
    $airlock: { ...plenty(), ...(profiler.importsOf(module) as WebAssembly.ModuleImports) },
  };
  for (const { module: from, name: item, kind } of WebAssembly.Module.imports(compiled)) {
    if (kind !== "function") continue;
    imports[from] ??= {};
    imports[from][item] ??= () => 0;
  }
  profiler.begin("run", PLENTY);
  const { exports } = new WebAssembly.Instance(compiled, imports);
  const run = exports["run"] as (argument: number) => unknown;
  return {
    run(): number {
      const before = process.cpuUsage();
      run(argument);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    },
    calls(): number {
      profiler.finish(PLENTY);
      return profiler.profile()!.frames.reduce((sum, { calls }) => sum + calls, 0);
    },
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
