import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHost, type Host } from "../index.ts";
import { DESK, workbench } from "./isolation/workbench.ts";

const COMPONENT = "test.workbench@1.0.0";
const NATIVE = "test.native@1.0.0";
let host: Host;
let answer: () => void = () => {};

describe("a pool with a component in its catalog", () => {
  beforeAll(async () => {
    const ask = () => new Promise((resolve) => (answer = () => resolve("answer")));
    host = await createHost({ threads: 1, imports: { [DESK]: { ask } } });
    const candidates = [
      { providerId: COMPONENT, capacity: 2, priority: 1 },
      { providerId: NATIVE, capacity: 1 },
    ];
    host.providers.addPool("both", { candidates, queue: 1 });
    await host.install(await workbench());
    await host.providers.addFunction({ id: NATIVE, operation: "ask", call: () => "native" });
  });
  afterAll(() => host.close());

  it("is served by the component while it has slots, then by the next candidate; a full queue refuses", async () => {
    const ask = () => host.run("both", { question: "?" }, { operation: "ask" });
    const first = ask();
    const second = ask();
    const third = ask();
    expect(await third.outcome).toMatchObject({ kind: "succeeded", providerId: NATIVE, output: "native" });
    expect(host.stats().slots["both"]).toMatchObject({ inUse: 2, waiting: 0 });
    // By its own name it takes the catalog's slots too.
    const waits = host.run(COMPONENT, { x: 1, y: 2 }, { operation: "add" });
    expect(host.stats().slots).toMatchObject({ both: { inUse: 2, waiting: 1 }, threads: { inUse: 0 } });
    expect(() => host.run(COMPONENT, { x: 1, y: 2 }, { operation: "add" })).toThrow(
      expect.objectContaining({ failure: "queue_full" }),
    );
    for (const run of [first, second]) {
      const settled = setInterval(() => answer(), 5);
      expect(await run.outcome).toMatchObject({ kind: "succeeded", providerId: COMPONENT, output: "answer" });
      clearInterval(settled);
    }
    expect(await waits.outcome).toMatchObject({ kind: "succeeded", output: 3 });
    expect(host.stats()).toMatchObject({
      runsInFlight: 0,
      slots: { both: { inUse: 0, waiting: 0, releasedAgain: 0 } },
    });
  });
});
