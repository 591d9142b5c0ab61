import { describe, expect, it } from "vitest";
import { effectiveLimits, policyOfProfile, resolvePolicy } from "./manifest.ts";

const CORE = {
  fuel: 5_000_000,
  setupFuel: 5_000_000,
  memoryBytes: 8_388_608,
  tableElements: 1_024,
  outputBytes: 65_536,
  memories: 1,
  coreModules: 1,
};

describe("policyOfProfile()", () => {
  it("leaves that of components as it is", () => {
    const policy = resolvePolicy();
    expect(policyOfProfile(policy, "component")).toBe(policy);
  });

  it("gives a core module the defaults of its ABI", () => {
    const policy = resolvePolicy();
    expect(effectiveLimits(policyOfProfile(policy, "core"))).toEqual({ ...policy.defaults, ...CORE });
  });

  it("lets a manifest ask for more fuel, memory and elements, up to the host's caps", () => {
    const policy = policyOfProfile(resolvePolicy({ caps: { fuel: 9_000_000, memoryBytes: 1 << 25 } }), "core");
    expect(effectiveLimits(policy, { fuel: 8_000_000, memoryBytes: 1 << 26, tableElements: 5_000 })).toMatchObject({
      fuel: 8_000_000,
      memoryBytes: 1 << 25,
      tableElements: 5_000,
    });
  });

  it("lets nobody go past what the ABI fixes", () => {
    const policy = policyOfProfile(resolvePolicy({ defaults: { outputBytes: 1 << 20, memories: 8 } }), "core");
    expect(effectiveLimits(policy, { outputBytes: 1 << 20, memories: 8, coreModules: 4 })).toMatchObject({
      outputBytes: 65_536,
      memories: 1,
      coreModules: 1,
    });
  });

  it("keeps what the host has put lower", () => {
    const policy = policyOfProfile(resolvePolicy({ defaults: { fuel: 1_000 }, caps: { outputBytes: 100 } }), "core");
    expect(effectiveLimits(policy)).toMatchObject({ fuel: 1_000, outputBytes: 100 });
    expect(effectiveLimits(policy, { fuel: 2_000, outputBytes: 200 })).toMatchObject({ fuel: 2_000, outputBytes: 100 });
  });
});
