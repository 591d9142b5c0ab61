import { describe, expect, test } from "vitest";
import { fakeScope, Stopped } from "../tests/wasi/fake-scope.ts";
import { randomInterfaces } from "./wasi-random.ts";

type Bytes = (length: bigint) => Uint8Array;
const bytesOf = (interfaces: ReturnType<typeof randomInterfaces>): [secure: Bytes, insecure: Bytes] => [
  interfaces["wasi:random/random"]!["getRandomBytes"] as Bytes,
  interfaces["wasi:random/insecure"]!["getInsecureRandomBytes"] as Bytes,
];

describe("wasi:random", () => {
  test("the same seed gives the same bytes, another seed others", () => {
    const draw = (seed: number): string => {
      const [secure, insecure] = bytesOf(randomInterfaces(fakeScope({ seed })));
      return [secure(5n), insecure(5n), secure(5n)].map((bytes) => Buffer.from(bytes).toString("hex")).join();
    };
    expect(draw(1)).toBe(draw(1));
    expect(draw(1)).not.toBe(draw(2));
  });

  test.each([2n ** 64n - 1n, 65_537n])("%d bytes at once end the run, and none is made or paid for", (length) => {
    const scope = fakeScope();
    const [secure] = bytesOf(randomInterfaces(scope));
    const before = scope.fuelLeft();
    expect(() => secure(length)).toThrow(new Stopped({ kind: "over-budget", limit: "randomBytes" }));
    expect(scope.counters.randomBytes).toBe(0);
    expect(before - scope.fuelLeft()).toBe(2_000n);
  });

  test("all interfaces draw on one budget, and the seed is free", () => {
    const scope = fakeScope({ limits: { randomBytes: 24 } });
    const interfaces = randomInterfaces(scope);
    const [secure, insecure] = bytesOf(interfaces);
    const seed = interfaces["wasi:random/insecure-seed"]!["insecureSeed"] as () => [bigint, bigint];
    secure(8n);
    insecure(16n);
    expect(seed()).toEqual(seed());
    const u64 = interfaces["wasi:random/random"]!["getRandomU64"] as () => bigint;
    expect(u64).toThrow(new Stopped({ kind: "over-budget", limit: "randomBytes" }));
  });
});
