/** The JSON Schema of `BenchResults`. Unknown fields pass: a later version may add some. */

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string): Schema => ({ type: "string", description });
const orNull = (type: string, description: string): Schema => ({ type: [type, "null"], description });
const number = (description: string): Schema => ({ type: "number", description });
const count = (description: string): Schema => ({ type: "integer", minimum: 0, description });
const yesNo = (description: string): Schema => ({ type: "boolean", description });
const list = (items: Schema, description: string, more: Schema = {}): Schema => ({
  type: "array",
  items,
  description,
  ...more,
});
const record = (properties: Readonly<Record<string, Schema>>, description?: string): Schema => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  ...(description === undefined ? {} : { description }),
});
const summary = (description: string): Schema => ({ $ref: "#/$defs/summary", description });
const pauses = (description: string): Schema => ({ $ref: "#/$defs/gcPauses", description });

const SUMMARY = record(
  {
    median: number("The median of the rounds."),
    min: number("The lowest round."),
    max: number("The highest round."),
    rounds: list({ type: "number" }, "What each round measured, in order.", { minItems: 1 }),
  },
  "One measure over the rounds.",
);

const GC_PAUSES = record(
  { pauses: count("Garbage collections."), totalMs: number("Milliseconds of all of them.") },
  "Garbage collections of V8 during all rounds together.",
);

const CASE = record(
  {
    name: text("Name of the case."),
    operation: text("The operation that it calls."),
    outcome: text("How each call of it ended: succeeded or failed."),
    fuel: count("Units of fuel of one call, without instantiation."),
    fuelExact: yesNo("Whether every call burnt exactly that."),
    setupFuel: count("Units of fuel of the instantiation."),
    peakMemoryBytes: count("Linear memory at its highest."),
    hostCalls: count("Calls of the application's functions in one call."),
    events: count("Events that one call emits."),
  },
  "What one call of a case takes; the same on every machine.",
);

const CASE_LOAD = record(
  {
    name: text("Name of the case."),
    calls: count("Calls in all rounds."),
    latencyMs: record(
      {
        p50: summary("Half of a round's calls took no longer."),
        p90: summary("Nine in ten."),
        p99: summary("Ninety-nine in a hundred; of fewer calls, the slowest."),
        max: summary("The slowest call of a round."),
      },
      "What the caller waits for.",
    ),
    queueMs: summary("Median wait for a thread."),
    instantiateMs: summary("Median time until the guest is entered."),
    guestMs: summary("Median time inside the guest."),
    hostMs: summary("Median time inside host calls."),
    histogram: list(
      { type: "array", items: { type: "integer", minimum: 0 }, minItems: 2, maxItems: 2 },
      "Latencies of all rounds: number of the bucket, calls. Bucket n begins at 0.001 ms * 1.1 ** n.",
    ),
  },
  "One case under a load.",
);

const LOAD = record(
  {
    concurrency: count("Calls in flight."),
    calls: count("Calls of all cases in all rounds."),
    callsPerSecond: summary("Throughput."),
    eventsPerSecond: summary("Events that guests emitted."),
    instantiateMs: summary("Median time until the guest is entered, over all cases."),
    gc: record({ main: pauses("On the thread of the application."), threads: pauses("On the threads of the guests.") }),
    cases: list(CASE_LOAD, "Each case, in order."),
  },
  "Warm calls through all cases in turn.",
);

const SUBJECT = record(
  {
    name: text("id@version."),
    title: orNull("string", "The manifest's title."),
    source: orNull("string", "Path of the package; null for one in memory."),
    componentSha256: text("Digest of the component."),
    scheduleId: text("The price list of the fuel; fuel compares only under the same one."),
    admissionMs: summary("Reading and every check, on a new host; the start of the checking process is in it."),
    compileMs: summary("Transpiling, metering and compiling."),
    firstCallMs: summary("The first call on a new host, with the first case."),
    coldStartMs: {
      anyOf: [{ $ref: "#/$defs/summary" }, { type: "null" }],
      description: "From the start of a process to its first answer; null without cold.",
    },
    cases: list(CASE, "Each case, in order.", { minItems: 1 }),
    loads: list(LOAD, "One for each concurrency, ascending.", { minItems: 1 }),
  },
  "A package that was measured.",
);

const COMPARISON = record(
  {
    measure: text("Which measure."),
    case: orNull("string", "Of which case; null for the whole package."),
    concurrency: orNull("integer", "Under which load; null where there is none."),
    unit: { enum: ["ms", "per-second", "fuel", "bytes"] },
    first: number("Median of the first package."),
    second: number("Median of the second one."),
    change: number("second / first - 1."),
    probability: orNull("number", "Of the exact rank-sum test over the rounds; null where the value is exact."),
    verdict: {
      enum: ["better", "worse", "same", "unclear"],
      description: "How the second one does; unclear: no difference that the spread allows to name.",
    },
  },
  "One measure of both packages.",
);

export const RESULTS_SCHEMA: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Results of airlock bench",
  ...record({
    format: { const: "airlock-bench" },
    formatVersion: { const: 1, description: "Grows when a field changes its meaning or goes." },
    startedAt: text("ISO 8601."),
    elapsedMs: number("How long the bench took."),
    machine: record(
      {
        node: text("Version of Node."),
        v8: text("Version of V8."),
        platform: text("As process.platform says."),
        arch: text("As process.arch says."),
        cpu: text("Model of the processor."),
        cores: count("Logical processors."),
        memoryBytes: number("Memory of the machine."),
        load: number("Mean length of the run queue in the minute before."),
      },
      "Where it was measured: times hold there only.",
    ),
    settings: record({
      rounds: count("Rounds, each on a new host."),
      durationMs: number("Length of each load in each round."),
      warmUpMs: number("Calls before each round that do not count."),
      concurrency: list({ type: "integer", minimum: 1 }, "Calls in flight, one load for each."),
      cold: yesNo("Whether processes were started."),
      tier: text("How much of an instance is new for each run."),
      threads: count("Threads of the host; calls beyond them queue."),
    }),
    subjects: list(SUBJECT, "The package, and the one that it was compared with.", { minItems: 1, maxItems: 2 }),
    comparison: {
      type: ["array", "null"],
      items: COMPARISON,
      description: "A row for each measure that both have; null without a comparison.",
    },
  }),
  $defs: { summary: SUMMARY, gcPauses: GC_PAUSES },
};
