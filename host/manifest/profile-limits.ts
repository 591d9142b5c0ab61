import type { LimitKey, LimitPolicy, Limits } from "./limits.ts";
import type { Manifest } from "./shape.ts";

const MiB = 1024 * 1024;

/** What holds for a core module whose manifest names no other: the defaults of the Traverse Host ABI, instantiation included. */
const CORE_DEFAULTS = {
  fuel: 5_000_000,
  setupFuel: 5_000_000,
  memoryBytes: 8 * MiB,
  tableElements: 1_024,
} as const satisfies Partial<Limits>;

/** What that ABI fixes, so that no manifest and no policy goes past it: one module, one memory, 64 KiB of output. */
const CORE_CAPS = { outputBytes: 65_536, memories: 1, coreModules: 1 } as const satisfies Partial<Limits>;

/** Tables that a core module may define. */
export const CORE_TABLES = 8;

/**
 * The policy of a host for packages of one profile. For `core` the defaults of the Traverse Host ABI stand where the host's are higher
 * (a manifest may ask for more, up to the host's caps), and what that ABI fixes is a cap.
 */
export function policyOfProfile(policy: LimitPolicy, profile: Manifest["profile"]): LimitPolicy {
  if (profile === "component") return policy;
  const caps = { ...policy.caps };
  const defaults: { [key in LimitKey]?: number | null } = { ...policy.defaults };
  for (const [key, most] of Object.entries(CORE_CAPS) as [keyof typeof CORE_CAPS, number][]) {
    caps[key] = Math.min(caps[key] ?? most, most);
    defaults[key] = Math.min(policy.defaults[key], most);
  }
  for (const [key, value] of Object.entries(CORE_DEFAULTS) as [keyof typeof CORE_DEFAULTS, number][]) {
    defaults[key] = Math.min(policy.defaults[key], value);
  }
  return Object.freeze({ defaults: Object.freeze(defaults) as Limits, caps: Object.freeze(caps) });
}
