import {
  type Counters,
  createCounters,
  type FuelProfile,
  FuelProfiler,
  type Metered,
  type MeterOptions,
  meterTogether,
} from "../meter.ts";
import { PLENTY, wasm } from "./engine.ts";
import { assembleText } from "./guest.ts";

/** How a profiled call ended. */
export interface ProfiledRun {
  readonly trapped: boolean;
  readonly used: number;
  readonly profile: FuelProfile;
}

export interface ProfiledSetup {
  readonly options?: MeterOptions;
  readonly fuel?: number;
  readonly imports?: (profiler: FuelProfiler, counters: Counters) => Record<string, Record<string, unknown>>;
  readonly parameters?: readonly unknown[];
}

/** Runs `run` of the last of the modules in the text format, each of which may import from `m0`, `m1` and so on. */
export async function profileText(texts: string | readonly string[], setup: ProfiledSetup = {}): Promise<ProfiledRun> {
  const modules = await Promise.all([texts].flat().map(assembleText));
  return profileBytes(modules, setup);
}

export function profileBytes(modules: readonly Uint8Array[], setup: ProfiledSetup = {}): ProfiledRun {
  return profileMetered(meterTogether(modules, { ...setup.options, profile: true }), setup);
}

function profileMetered(metered: readonly Metered[], setup: ProfiledSetup): ProfiledRun {
  const fuel = setup.fuel ?? Number(PLENTY.fuel);
  const counters = createCounters({ ...PLENTY, fuel });
  const profiled = metered.map(({ report }, index) => ({ name: `m${index}`, functions: report.profiled }));
  const profiler = new FuelProfiler(profiled);
  const imports: Record<string, Record<string, unknown>> = {
    ...setup.imports?.(profiler, counters),
  };
  profiler.begin("setup", fuel);
  let run: (...values: unknown[]) => unknown = () => {};
  for (const [index, { bytes }] of metered.entries()) {
    const added = { ...counters, ...profiler.importsOf(profiled[index]!) };
    const { exports } = new wasm.Instance(new wasm.Module(bytes), { ...imports, $airlock: added });
    imports[`m${index}`] = exports;
    run = exports["run"] as typeof run;
  }
  counters.fuel.value = BigInt(fuel);
  profiler.begin("run", fuel);
  let trapped = false;
  try {
    run(...(setup.parameters ?? []));
  } catch {
    trapped = true;
  }
  const left = Number(counters.fuel.value);
  profiler.finish(left);
  return { trapped, used: Math.min(fuel, fuel - left), profile: profiler.profile()! };
}

/** The frames of a profile in short: by name, `[self, total, calls]`. The host's is left out where it took nothing. */
export function framesOf({
  frames,
}: FuelProfile): Record<string, readonly [self: number, total: number, calls: number]> {
  const shown = frames.filter(({ kind, self }) => kind !== "host" || self !== 0);
  return Object.fromEntries(shown.map(({ name, self, total, calls }) => [name, [self, total, calls]]));
}

/** The contexts of a profile by the names of their frames: `[self, calls]`. */
export function contextsOf({ frames, contexts }: FuelProfile): Record<string, readonly [self: number, calls: number]> {
  const paths: string[] = [];
  return Object.fromEntries(
    contexts.map(({ frame, parent, self, calls }, at) => {
      const above = parent <= 0 ? "" : `${paths[parent]}/`;
      paths[at] = at === 0 ? "" : `${above}${frames[frame]!.name}`;
      return [paths[at], [self, calls]];
    }),
  );
}
