import { describe, expect, it } from "vitest";
import type { Artifact } from "./artifact.ts";
import { ArtifactCache } from "./cache.ts";

const artifact = (key: string) => ({ key }) as Artifact;

describe("ArtifactCache", () => {
  it("gives up the artifact unused longest past its bound, and counts", () => {
    const cache = new ArtifactCache(2);
    cache.set(artifact("a"));
    cache.set(artifact("b"));
    expect(cache.get("a")).toEqual({ key: "a" });
    cache.set(artifact("c"));
    expect(cache.get("b")).toBeUndefined();
    expect(cache.get("a")).toEqual({ key: "a" });
    expect(cache.get("c")).toEqual({ key: "c" });
    expect(cache.stats()).toMatchObject({ entries: 2, hits: 3, misses: 1, evictions: 1 });
  });

  it("keeps nothing with a bound of 0", () => {
    const cache = new ArtifactCache(0);
    cache.set(artifact("a"));
    expect(cache.get("a")).toBeUndefined();
    expect(cache.stats()).toMatchObject({ entries: 0, evictions: 1 });
  });
});
