import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scheduleId } from "./meter.ts";

test("the table of what modules burn was printed under the schedule that is used", () => {
  const text = readFileSync(new URL("fuel-matrix.md", import.meta.url), "utf8");
  expect(text).toContain(`under schedule \`${scheduleId()}\``);
});
