/** A figure of the whole run, and what it must be. */
export interface Bar {
  /** Where the figure is in the whole run's JSON. */
  readonly key: string;
  readonly text: string;
  /** The bench that measures it, and where the figure is in that bench's JSON. */
  readonly bench: string;
  readonly path: string;
  readonly limit: { readonly kind: "at least" | "at most"; readonly value: number } | null;
  readonly unit: "%" | "x" | "us" | "ms" | "KB";
}

const least = (value: number): Bar["limit"] => ({ kind: "at least", value });
const most = (value: number): Bar["limit"] => ({ kind: "at most", value });

/** What must hold, in the order of the table. Each figure stands in its bench under the same key, unless it says otherwise. */
export function speedBars(node: string): readonly Bar[] {
  const isNewer = Number.parseInt(node.slice(1), 10) >= 24;
  const bars: readonly (Omit<Bar, "path"> & { readonly path?: string })[] = [
    {
      key: "fuelOverhead.geomean",
      text: "metered by unmetered, geometric mean",
      bench: "fuel-overhead",
      path: "means.0",
      limit: most(isNewer ? 1.15 : 1.1),
      unit: "x",
    },
    {
      key: "invoke.nativeShareOfFloor",
      text: "native component, share of the floor's throughput",
      bench: "invoke",
      limit: least(0.6),
      unit: "%",
    },
    {
      key: "invoke.nativeP50OverFloor",
      text: "native component, p50 by the floor's",
      bench: "invoke",
      limit: most(2),
      unit: "x",
    },
    {
      key: "invoke.typescriptShareOfFloor",
      text: "TypeScript component, share of the floor's throughput",
      bench: "invoke",
      limit: least(0.25),
      unit: "%",
    },
    {
      key: "hostCall.overFloor",
      text: "one host call, by the floor's round trip",
      bench: "host-call",
      limit: most(1),
      unit: "x",
    },
    { key: "event.microseconds", text: "one event", bench: "event", limit: most(2), unit: "us" },
    { key: "cancel.answerP99Ms", text: "cancel, caller answered, p99", bench: "cancel", limit: most(5), unit: "ms" },
    { key: "cancel.capacityBackMs", text: "cancel, capacity back, p99", bench: "cancel", limit: most(150), unit: "ms" },
    {
      key: "install.coldMs",
      text: "install of 3 KB, a spare process ready",
      bench: "install",
      path: "rows.coldMs",
      limit: most(300),
      unit: "ms",
    },
    {
      key: "install.cachedMs",
      text: "the same from the disk cache",
      bench: "install",
      path: "rows.keptMs",
      limit: most(40),
      unit: "ms",
    },
    {
      key: "capabilities.heapKilobytes",
      text: "heap of one idle capability",
      bench: "capabilities",
      limit: null,
      unit: "KB",
    },
    {
      key: "peers.extismWorkerRatio",
      text: "throughput by Extism's in workers",
      bench: "peers",
      limit: least(1.5),
      unit: "x",
    },
  ];
  return bars.map((bar) => ({ path: bar.key, ...bar }));
}

/** Whether a figure holds its bar; a figure that is missing does not. */
export function verdictOn({ limit }: Pick<Bar, "limit">, figure: number | null): "met" | "missed" | "reported" {
  if (figure === null) return "missed";
  if (limit === null) return "reported";
  const isMet = limit.kind === "at least" ? figure >= limit.value : figure <= limit.value;
  return isMet ? "met" : "missed";
}

/** The figure at a path of JSON, as in `means.0`; null where there is none. */
export function figureAt(json: unknown, path: string): number | null {
  let value = json;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null) return null;
    value = (value as Record<string, unknown>)[key];
  }
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The figures under their keys, each dot of a key one object further in. */
export function nested(figures: ReadonlyMap<string, number | null>): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [key, figure] of figures) {
    const path = key.split(".");
    let at = root;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[path.at(-1)!] = figure;
  }
  return root;
}
