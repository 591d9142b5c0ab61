import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHostError } from "../errors/errors.ts";
import {
  effectiveLimits,
  LIMIT_KEYS,
  LIMITS,
  type LimitKey,
  type Limits,
  parseLimits,
  resolvePolicy,
} from "./limits.ts";
import { MANIFEST_SCHEMA } from "./manifest-schema.ts";

function problemsOf(action: () => unknown): { code: string; problems: readonly string[] } {
  try {
    action();
  } catch (error) {
    if (isHostError(error)) {
      const details = error.details as { problems: readonly string[] } | undefined;
      return { code: error.code, problems: details?.problems ?? [error.message] };
    }
    throw error;
  }
  throw new Error("Nothing was refused");
}

const limitOf = (key: LimitKey) => fc.integer({ min: LIMITS[key].minimum, max: LIMITS[key].maximum });
const someLimits: fc.Arbitrary<Partial<Limits>> = fc.record(
  Object.fromEntries(LIMIT_KEYS.map((key) => [key, limitOf(key)])) as Record<LimitKey, fc.Arbitrary<number>>,
  { requiredKeys: [] },
);

describe("LIMITS", () => {
  test("has the defaults and caps of the design", () => {
    const table = Object.fromEntries(LIMIT_KEYS.map((key) => [key, [LIMITS[key].default, LIMITS[key].cap]]));
    expect(table).toMatchObject({
      fuel: [2e9, 50e9],
      setupFuel: [1e9, 1e9],
      memoryBytes: [67_108_864, 1_073_741_824],
      tableElements: [100_000, 1_000_000],
      callDepth: [null, null],
      wallMs: [10_000, 600_000],
      inputBytes: [16_777_216, 67_108_864],
      outputBytes: [4_194_304, 67_108_864],
    });
  });

  test("keeps default, cap and maximum in order", () => {
    for (const key of LIMIT_KEYS) {
      const { default: fallback, cap, minimum, maximum } = LIMITS[key];
      expect([key, minimum <= (fallback ?? minimum) && (fallback ?? minimum) <= (cap ?? maximum)]).toEqual([key, true]);
      expect([key, (cap ?? 0) <= maximum]).toEqual([key, true]);
    }
  });

  test("is what the manifest's schema says", () => {
    const inSchema = MANIFEST_SCHEMA.properties.limits.properties;
    expect(Object.keys(inSchema)).toEqual(LIMIT_KEYS);
    for (const key of LIMIT_KEYS) {
      const { minimum, maximum, default: fallback } = LIMITS[key];
      expect(inSchema[key]).toMatchObject({ minimum, maximum, default: fallback });
    }
  });
});

describe("parseLimits()", () => {
  test("gives back what it was given, frozen", () => {
    const limits = parseLimits({ fuel: 5, callDepth: null, wallMs: undefined }, "limits");
    expect(limits).toEqual({ fuel: 5, callDepth: null });
    expect(Object.isFrozen(limits)).toBe(true);
  });

  test("names the nearest limit for an unknown one", () => {
    expect(problemsOf(() => parseLimits({ memory: 1, wallmS: 2 }, "limits")).problems).toEqual([
      expect.stringContaining('limits has the unknown limit "memory"'),
      'limits has the unknown limit "wallmS": did you mean "wallMs"?',
    ]);
  });

  test("takes no inherited name for a limit", () => {
    const hostile = JSON.parse('{"__proto__": {"fuel": 1}, "constructor": 1, "toString": 2}');
    expect(problemsOf(() => parseLimits(hostile, "limits")).problems).toHaveLength(3);
  });

  test("bounds the problems", () => {
    const hostile = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`k${n}`, 1]));
    expect(problemsOf(() => parseLimits(hostile, "limits")).problems).toHaveLength(50);
  });

  test("refuses what is negative, fractional, not finite, unsafe, below the minimum or no number", () => {
    const values = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 0, "64MiB", true, null, [1], 10n];
    for (const fuel of values) {
      const { code, problems } = problemsOf(() => parseLimits({ fuel }, "limits", "AIRLOCK_HOST_OPTIONS_INVALID"));
      expect(code).toBe("AIRLOCK_HOST_OPTIONS_INVALID");
      expect(problems).toEqual([
        expect.stringMatching(/^limits\.fuel is .+: a whole number of fuel from 1 to \d+ is wanted$/),
      ]);
    }
  });

  test("refuses what the host cannot enforce", () => {
    expect(
      problemsOf(() => parseLimits({ memoryBytes: 2 ** 32 + 1, wallMs: 2 ** 31 }, "limits")).problems,
    ).toHaveLength(2);
  });

  test("refuses what is no object", () => {
    for (const input of [null, [], "fuel", 5]) {
      expect(problemsOf(() => parseLimits(input, "run.limits")).problems[0]).toContain("an object of limits is wanted");
    }
  });
});

describe("resolvePolicy()", () => {
  test("without a word of the embedder is the table", () => {
    const { defaults, caps } = resolvePolicy();
    for (const key of LIMIT_KEYS) {
      expect(defaults[key]).toBe(LIMITS[key].default);
      expect(caps[key]).toBe(LIMITS[key].cap);
    }
  });

  test("lowers a default of the table to a cap of the embedder", () => {
    expect(resolvePolicy({ caps: { fuel: 1_000 } }).defaults.fuel).toBe(1_000);
  });

  test("lets a default of the embedder lift a cap that he did not name", () => {
    const { defaults, caps } = resolvePolicy({ defaults: { wallMs: 3_600_000 } });
    expect([defaults.wallMs, caps.wallMs]).toEqual([3_600_000, 3_600_000]);
  });

  test("refuses a default above the cap that stands beside it", () => {
    expect(problemsOf(() => resolvePolicy({ defaults: { fuel: 10 }, caps: { fuel: 9 } }))).toEqual({
      code: "AIRLOCK_HOST_OPTIONS_INVALID",
      problems: ["limits.defaults.fuel is 10: at most limits.caps.fuel (9) is wanted"],
    });
  });
});

describe("effectiveLimits()", () => {
  const policies = fc.record({ defaults: someLimits, caps: someLimits }).map(({ defaults, caps }) => {
    const lowered = LIMIT_KEYS.flatMap((key) =>
      defaults[key] === undefined ? [] : [[key, Math.min(defaults[key]!, caps[key] ?? defaults[key]!)]],
    );
    return resolvePolicy({ defaults: Object.fromEntries(lowered), caps });
  });

  test("never passes a cap, is never lifted by a request, and is null for callDepth only", () => {
    fc.assert(
      fc.property(policies, someLimits, someLimits, (policy, manifest, request) => {
        const without = effectiveLimits(policy, manifest);
        const limits = effectiveLimits(policy, manifest, request);
        for (const key of LIMIT_KEYS) {
          const cap = policy.caps[key] ?? Number.POSITIVE_INFINITY;
          expect(limits[key] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
            key === "callDepth" ? Number.POSITIVE_INFINITY : cap,
          );
          expect(limits[key] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(without[key] ?? Number.POSITIVE_INFINITY);
          expect(limits[key] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(request[key] ?? Number.POSITIVE_INFINITY);
          if (key !== "callDepth") expect(limits[key]).not.toBeNull();
        }
      }),
    );
  });

  test("is min(cap, manifest ?? default, request ?? none)", () => {
    fc.assert(
      fc.property(policies, someLimits, someLimits, (policy, manifest, request) => {
        const limits = effectiveLimits(policy, manifest, request);
        for (const key of LIMIT_KEYS) {
          const bounds = [policy.caps[key], manifest[key] ?? policy.defaults[key], request[key] ?? null];
          const numbers = bounds.filter((bound) => bound !== null);
          expect(limits[key]).toBe(numbers.length === 0 ? null : Math.min(...numbers));
        }
      }),
    );
  });

  test("takes a null callDepth of a manifest for not named", () => {
    const policy = resolvePolicy({ defaults: { callDepth: 100 } });
    expect(effectiveLimits(policy, { callDepth: null }, { callDepth: null }).callDepth).toBe(100);
  });
});
