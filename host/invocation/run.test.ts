import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Emitter, Outcome, RunEvent } from "../providers/providers.ts";
import { Cancellation, Run } from "./run.ts";

const outcome = { kind: "succeeded", output: 1 } as unknown as Outcome;

async function collect(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe("Run", () => {
  it("gives any interleaving of events and ending in order, with one terminal at the end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("emit", "turn", "cancel"), { maxLength: 40 }),
        fc.boolean(),
        async (steps, early) => {
          const abort = new Cancellation();
          const run = new Run("r", "p@1.0.0", abort, async (emitter) => {
            let n = 0;
            for (const step of steps) {
              if (step === "emit") emitter.emit({ kind: "log", level: "info", message: String(n++) });
              else if (step === "turn") await null;
              else abort.abort();
            }
            queueMicrotask(() => emitter.emit({ kind: "log", level: "info", message: "maybe late" }));
            return outcome;
          });
          const reading = early ? collect(run) : run.outcome.then(() => collect(run));
          const events = await reading;
          const kinds = events.map(({ kind }) => kind);
          expect(kinds[0]).toBe("started");
          expect(kinds.at(-1)).toBe("complete");
          expect(kinds.filter((kind) => kind !== "started" && kind !== "log")).toEqual(["complete"]);
          const numbers = events.flatMap((event) =>
            event.kind === "log" && event.message !== "maybe late" ? [Number(event.message)] : [],
          );
          expect(numbers).toEqual(numbers.map((_, index) => index));
          expect(numbers).toHaveLength(steps.filter((step) => step === "emit").length);
        },
      ),
    );
  });

  it("counts what a reader was too slow for, and keeps the outcome", async () => {
    const run = new Run("r", "p@1.0.0", new Cancellation(), async (emitter: Emitter) => {
      for (let i = 0; i < 5_000; i++) emitter.emit({ kind: "log", level: "info", message: "x" });
      return outcome;
    });
    await run.outcome;
    const events = await collect(run);
    expect(events.find(({ kind }) => kind === "skipped")).toEqual({ kind: "skipped", count: 905 });
    expect(events.at(-1)).toEqual({ kind: "complete", outcome });
  });
});
