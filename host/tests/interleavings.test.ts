import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type FunctionContext, type Host, type Run, type RunEvent } from "../index.ts";
import { DESK, workbench } from "./isolation/workbench.ts";

/** What happens to a run, in this order: what its provider does, and what comes from outside. */
const STEPS = [
  "delta",
  "log",
  "turn",
  "wait",
  "cancel",
  "host-cancel",
  "signal",
  "disconnect",
  "give",
  "throw",
] as const;
type Step = (typeof STEPS)[number];
const ANSWERS: readonly Step[] = ["give", "throw"];
/** They end no run. */
const QUIET: readonly Step[] = ["delta", "log", "turn", "wait"];
const isSaid = (step: string): boolean => step === "delta" || step === "log";

/** How a run that is still open answers. */
interface Desk {
  readonly give: () => void;
  readonly fail: () => void;
  readonly context: FunctionContext | null;
}

let host: Host;
let opened: (desk: Desk) => void = () => {};
let runs = 0;

beforeAll(async () => {
  const ask = () =>
    new Promise((give, fail) => opened({ give: () => give("answer"), fail: () => fail(), context: null }));
  host = await createHost({ threads: 1, imports: { [DESK]: { ask } } });
  await host.install(await workbench());
  const call = (_: unknown, context: FunctionContext) =>
    new Promise((give, fail) =>
      opened({ give: () => give("answer"), fail: () => fail(new Error("on purpose")), context }),
    );
  await host.providers.addFunction({ id: "test.native@1.0.0", call }, { capacity: 1 });
});
afterAll(() => host.close());

async function play(kind: "component" | "native", steps: readonly Step[]): Promise<readonly RunEvent[]> {
  const abort = new AbortController();
  const runId = `run-${++runs}`;
  const here = new Promise<Desk>((resolve) => {
    opened = resolve;
  });
  const options = { runId, signal: abort.signal, deadlineMs: 20_000 };
  const run: Run =
    kind === "component"
      ? host.run("test.workbench", { question: "?" }, { ...options, operation: "ask" })
      : host.run("test.native", null, options);
  const events: RunEvent[] = [];
  const reading = (async () => {
    for await (const event of run) events.push(event);
  })();
  const desk = await here;
  for (const step of steps) {
    if (step === "turn") await null;
    else if (step === "wait") await new Promise((turn) => setImmediate(turn));
    else act(step, run, desk, abort);
  }
  run.cancel("the play is over");
  await reading;
  expect(events.at(-1)).toMatchObject({ outcome: await run.outcome });
  return events;
}

function act(step: Step, run: Run, { give, fail, context }: Desk, abort: AbortController): void {
  if (step === "give") give();
  else if (step === "throw") fail();
  else if (step === "delta") void context?.delta("piece");
  else if (step === "log") context?.log("info", "line");
  else if (step === "cancel") run.cancel("enough");
  else if (step === "signal") abort.abort("the caller left");
  else if (step === "host-cancel") {
    if (host.stats().runsInFlight > 0) host.cancel(run.runId, "by its id");
  } else if (context !== null) {
    host.providers.setConnected("test.native", false, "the line is cut");
    host.providers.setConnected("test.native", true);
  }
}

/** What the first ending among the steps makes of the run; the rest is too late. */
function expectedOf(kind: "component" | "native", steps: readonly Step[]): RegExp {
  const first = steps.find((step) => !QUIET.includes(step) && !(kind === "component" && step === "disconnect"));
  // An answer takes its way: what comes right behind it can still be first.
  if (first === "give" || first === "throw") return /./;
  return first === "disconnect" ? /^disconnected$/ : /^cancelled$/;
}

describe.each(["component", "native"] as const)("a run of a %s, whatever comes when", (kind) => {
  it("gives its events in order, one terminal event as the last, and its slot back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 12 }), async (steps) => {
        const events = await play(kind, steps);
        const kinds = events.map((event) => event.kind);
        expect(kinds[0]).toBe("started");
        const terminals = events.filter((event) => "outcome" in event);
        expect(terminals).toEqual([events.at(-1)]);
        const [terminal] = terminals;
        expect(terminal && "outcome" in terminal && terminal.outcome.kind).toMatch(expectedOf(kind, steps));
        const ending = steps.findIndex((step) => !QUIET.includes(step));
        const live = steps.slice(0, ending < 0 ? steps.length : ending).filter(isSaid);
        const said = kinds.filter(isSaid);
        if (kind === "native") expect(said.slice(0, live.length)).toEqual(live);
        // What is said between an answer and its arrival still counts.
        if (kind === "native" && !ANSWERS.includes(steps[ending]!)) expect(said).toEqual(live);
        const { runsInFlight, slots } = host.stats();
        expect(runsInFlight).toBe(0);
        for (const slot of Object.values(slots)) expect(slot).toMatchObject({ inUse: 0, waiting: 0, releasedAgain: 0 });
      }),
      { numRuns: kind === "component" ? 40 : 300 },
    );
  });
});
