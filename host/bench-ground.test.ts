import { expect, it } from "vitest";
import { groundOf } from "./bench-ground.ts";
import { resolveOptions } from "./options.ts";

it("a cold start that ends without an answer says why", async () => {
  const options = resolveOptions({ threads: 1 });
  const ground = groundOf(options, { package: "nowhere" }, () => expect.unreachable());
  await expect(ground.coldStart({ source: "/nowhere", operation: "run", input: null })).rejects.toMatchObject({
    code: "AIRLOCK_MEASURE_COLD_START_FAILED",
    message: expect.stringContaining("there is no such file"),
  });
});
