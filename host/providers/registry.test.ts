import { describe, expect, it } from "vitest";
import { type Provider, ProviderRegistry } from "./providers.ts";

const provider = (id: string): Provider => ({
  id,
  execute: () => Promise.reject(new Error("not here")),
});

describe("ProviderRegistry", () => {
  it("resolve() finds an exact version, and the newest one for a bare id", () => {
    const registry = new ProviderRegistry();
    for (const id of ["acme.a@1.9.0", "acme.a@1.10.0", "acme.a@2.0.0-rc.1", "acme.ab@9.0.0"])
      registry.add(provider(id));
    expect(registry.resolve("acme.a@1.9.0").id).toBe("acme.a@1.9.0");
    expect(registry.resolve("acme.a").id).toBe("acme.a@2.0.0-rc.1");
    registry.remove("acme.a@2.0.0-rc.1");
    expect(registry.resolve("acme.a").id).toBe("acme.a@1.10.0");
  });

  it("resolve() names what is near when nothing is there", () => {
    const registry = new ProviderRegistry();
    registry.add(provider("acme.redact@1.0.0"));
    expect(() => registry.resolve("acme.redacd@1.0.0")).toThrow(
      expect.objectContaining({
        code: "AIRLOCK_PROVIDERS_MISSING",
        message: expect.stringContaining('did you mean "acme.redact@1.0.0"'),
      }),
    );
  });

  it("add() refuses the same id and version twice", () => {
    const registry = new ProviderRegistry();
    registry.add(provider("acme.a@1.0.0"));
    expect(() => registry.add(provider("acme.a@1.0.0"))).toThrow(
      expect.objectContaining({ code: "AIRLOCK_PROVIDERS_DUPLICATE" }),
    );
  });

  it("newestWithin() finds the newest version inside of a range, also after others came and went", () => {
    const registry = new ProviderRegistry();
    for (const version of ["1.0.0", "1.2.0", "1.3.0-rc.1", "2.0.0"]) registry.add(provider(`acme.a@${version}`));
    registry.add(provider("acme.ab@1.9.0"));
    const found = (range: string) => registry.newestWithin("acme.a", range)?.id;
    expect(found("^1.0.0")).toBe("acme.a@1.2.0");
    expect(found("^1.3.0-rc.0")).toBe("acme.a@1.3.0-rc.1");
    expect(found("*")).toBe("acme.a@2.0.0");
    expect(found("^3.0.0")).toBeUndefined();
    registry.add(provider("acme.a@1.4.0"));
    expect(found("^1.0.0")).toBe("acme.a@1.4.0");
    registry.remove("acme.a@1.4.0");
    expect(found("^1.0.0")).toBe("acme.a@1.2.0");
    expect(registry.newestWithin("acme.a@1.0.0", "*")).toBeUndefined();
  });
});
