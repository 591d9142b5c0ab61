import { describe, expect, it } from "vitest";
import { createHost } from "../../index.ts";
import { any, calling, errorOf, guest, PATIENT } from "../nested/guest.ts";
import { coreGuest } from "./guest.ts";

describe("a component that calls a core module", () => {
  it("gets its output as JSON text, and its exit as a failure of the other", async () => {
    await using host = await createHost({ threads: 1, limits: PATIENT });
    for (const name of ["echo", "exit-with-a-status"]) {
      const { manifestText, component } = await coreGuest(name);
      await host.install({ manifest: JSON.parse(manifestText), component });
    }
    await host.install(await guest("test.caller", { invoke: any("core.echo", "core.exit-with-a-status") }));
    const call = (id: string, input: unknown) =>
      host.run("test.caller", calling(id, "run", input), { operation: "call" }).outcome;
    const answered = await call("core.echo", { text: "hé" });
    expect(answered).toMatchObject({ kind: "succeeded", output: '{"text":"hé"}' });
    expect(answered.nested).toMatchObject([{ providerId: "core.echo@1.0.0" }]);
    expect(errorOf(await call("core.exit-with-a-status", null))).toMatchObject({
      tag: "declined",
      value: { code: "exit-status", message: "the module exited with status 3", retryable: false },
    });
  });
});
