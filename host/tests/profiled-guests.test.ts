import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guestDefinition, guestNames, loadGuest } from "../doctor/guest.ts";
import { OFFERED } from "../doctor/offers.ts";
import { createHost, type Host, type Outcome } from "../index.ts";
import { parseManifest } from "../manifest/manifest.ts";

/** Guests that end early, besides all that succeed. */
const CUT_SHORT = ["trap-unreachable", "loop-forever", "start-loops-forever", "fuel-at-host-call", "random-flood"];
const GUESTS = guestNames().filter((name) => {
  const { expect: wanted } = guestDefinition(name);
  return CUT_SHORT.includes(name) || ("outcome" in wanted && wanted.outcome === "succeeded");
});

describe("a profile build", () => {
  let host: Host;

  beforeAll(async () => {
    host = await createHost({ threads: 1, imports: OFFERED });
  });
  afterAll(() => host.close());

  it.each(GUESTS)(
    "of %s ends as the plain build does, on the same fuel, which its profile adds up to",
    async (name) => {
      const guest = await loadGuest(name);
      const manifest = parseManifest(guest.manifestText, name);
      const outcomes: Outcome[] = [];
      for (const fuelProfile of [false, true]) {
        const { id } = await host.install({ manifest, component: guest.component }, { fuelProfile });
        const { operation, input = null, limits = {} } = guest.run;
        const options = { limits, ...(operation === undefined ? {} : { operation }) };
        outcomes.push(await host.run(id, input, options).outcome);
        host.uninstall(id);
      }
      const [plain, profiled] = outcomes as [Outcome, Outcome];
      const { fuel, setupFuel } = profiled.usage;
      expect({ kind: profiled.kind, fuel, setupFuel }).toEqual({
        kind: plain.kind,
        fuel: plain.usage.fuel,
        setupFuel: plain.usage.setupFuel,
      });
      expect(plain.fuelProfile).toBeUndefined();
      const profile = profiled.fuelProfile!;
      expect(profile.fuel).toBe(profile.phase === "setup" ? setupFuel : fuel);
      for (const parts of [profile.frames, profile.contexts]) {
        expect(parts.reduce((sum, { self }) => sum + self, 0)).toBe(profile.fuel);
        expect(parts.filter(({ self }) => self < 0)).toEqual([]);
      }
    },
  );
});
