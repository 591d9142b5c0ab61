import { describe, expect, it } from "vitest";
import { createHost } from "../../index.ts";

const CONNECTOR = { id: "acme.crm", version: "1.0.0", invoke: () => ({ resultClass: "success", payload: null }) };

describe("createHost()", () => {
  it.each([
    ["twice the same", [CONNECTOR, CONNECTOR], "AIRLOCK_GATEWAY_CONNECTOR_DUPLICATE"],
    ["what is none", [{ ...CONNECTOR, id: "No" }], "AIRLOCK_GATEWAY_CONNECTOR_INVALID"],
  ])("that is refused for connectors with %s leaves no thread that nobody can end", async (_, connectors, code) => {
    const before = process.getActiveResourcesInfo().sort();
    await expect(createHost({ connectors })).rejects.toMatchObject({ code });
    expect(process.getActiveResourcesInfo().sort()).toEqual(before);
  });
});
