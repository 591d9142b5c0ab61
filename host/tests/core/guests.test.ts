import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Admission, admitGuest, tryGuest } from "../../doctor/trial.ts";
import { createHost, type Host } from "../../index.ts";
import { coreGuest, coreGuestNames } from "./guest.ts";

const ECHO = "core.echo";

// Each guest runs twice on the default tier and once on memories of its own: it ends the same way and burns the same fuel.
describe("core guests", () => {
  let host: Host;
  const admissions = new Map<string, Admission>();

  beforeAll(async () => {
    host = await createHost({ threads: 1 });
    for (const name of coreGuestNames()) {
      const admission = await admitGuest(host, await coreGuest(name));
      admissions.set(name, admission);
    }
  }, 180_000);
  afterAll(() => host.close());

  const control = async (): Promise<string | null> => {
    const outcome = await host.run(ECHO, "still here").outcome;
    return outcome.kind === "succeeded" && outcome.output === "still here" ? null : outcome.kind;
  };

  it.each(coreGuestNames().filter((name) => name !== "echo"))("%s", async (name) => {
    const { got, problem } = await tryGuest(host, admissions.get(name)!, control);
    expect(problem === null ? null : { problem, got }).toBeNull();
  });

  it("echo, which all others are followed by", async () => {
    const { got, problem } = await tryGuest(host, admissions.get("echo")!, async () => null);
    expect(problem === null ? null : { problem, got }).toBeNull();
  });
});
