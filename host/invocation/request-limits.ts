import { HostError } from "../errors/errors.ts";
import type { Limits } from "../manifest/manifest.ts";
import type { RunRequest } from "../providers/providers.ts";

/** What of a component is fixed before any run. */
export interface FixedFacts {
  /** Whether the artifact counts calls. */
  readonly countsCallDepth: boolean;
  readonly coreModules: number;
}

/** Refuses a request's limit that this component cannot be held to. Throws AIRLOCK_INVOCATION_REQUEST_INVALID. */
export function checkRequestLimits({ providerId, limits }: RunRequest, facts: FixedFacts): void {
  const refuse = (key: keyof Limits, why: string): never => {
    throw new HostError(
      "AIRLOCK_INVOCATION_REQUEST_INVALID",
      `Cannot run ${providerId}: limits.${key} is ${limits[key]}, ${why}`,
    );
  };
  if (typeof limits.callDepth === "number" && !facts.countsCallDepth) {
    refuse("callDepth", "but calls are counted only where the manifest or the host names a callDepth at installation");
  }
  const { coreModules } = limits;
  if (coreModules !== undefined && coreModules < facts.coreModules) {
    refuse("coreModules", `the component has ${facts.coreModules}`);
  }
}
