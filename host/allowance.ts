import { realpathSync, statSync } from "node:fs";
import { quote } from "./errors/errors.ts";
import { expectFields, invalidOption } from "./option-checks.ts";

/** What a manifest may ask for. */
export interface Allowance {
  /** Directories from which a capability may be granted one to read; default: none. */
  readonly fs?: readonly string[];
  /** Ids of the capabilities that others may be granted to call; default: all that are installed. */
  readonly invoke?: readonly string[];
  /** Profiles that are let in at all; default: both. */
  readonly profiles?: readonly Profile[];
}

type Profile = (typeof PROFILES)[number];

/** The same, checked. */
export interface ResolvedAllowance {
  /** Links resolved. */
  readonly readableDirectories: readonly string[];
  /** Null: all. */
  readonly invocable: ReadonlySet<string> | null;
  readonly profiles: readonly Profile[];
}

const PROFILES = ["component", "core"] as const;

/** Throws AIRLOCK_HOST_OPTIONS_INVALID. */
export function resolveAllowance(allow: Allowance): ResolvedAllowance {
  expectFields(allow, "allow", ["fs", "invoke", "profiles"]);
  return {
    readableDirectories: directories(allow.fs ?? []),
    invocable: allow.invoke === undefined ? null : ids(allow.invoke),
    profiles: profiles(allow.profiles ?? PROFILES),
  };
}

function directories(given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw invalidOption("allow.fs", given, "a list of directories");
  return given.map((directory: unknown) => {
    try {
      const real = realpathSync(directory as string);
      if (statSync(real).isDirectory()) return real;
    } catch {
      // Falls through to the refusal.
    }
    throw invalidOption("allow.fs", directory, "an existing directory");
  });
}

function ids(given: unknown): ReadonlySet<string> {
  if (!Array.isArray(given)) throw invalidOption("allow.invoke", given, "a list of ids");
  for (const id of given) {
    if (typeof id !== "string" || id === "" || id.includes("@")) {
      throw invalidOption("allow.invoke", id, "the id of a capability, without a version,");
    }
  }
  return new Set(given as string[]);
}

function profiles(allowed: unknown): readonly Profile[] {
  const isProfile = (each: unknown): each is Profile => PROFILES.some((profile) => profile === each);
  if (Array.isArray(allowed) && allowed.every(isProfile)) return Object.freeze([...allowed]);
  throw invalidOption("allow.profiles", allowed, `a list of ${PROFILES.map((each) => quote(each)).join(" and ")}`);
}
