import { realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { quote } from "../errors/errors.ts";
import type { ConnectorGrant, InvokeGrant, LimitPolicy, Manifest } from "../manifest/manifest.ts";
import { unsupportedGrants } from "../manifest/manifest.ts";
import type { GrantedImports } from "./interfaces.ts";
import type { Violations } from "./violations.ts";

/** What the embedding application allows. Everything else is denied. */
export interface AdmissionPolicy {
  readonly limits: LimitPolicy;
  /** Bytes of a component. */
  readonly maxComponentBytes: number;
  readonly profiles: ReadonlySet<Manifest["profile"]>;
  /** Full names of the interfaces that the application offers. */
  readonly embedderInterfaces: ReadonlySet<string>;
  /** Ids of the capabilities that others may be granted to call; null: all that are installed. */
  readonly invocable: ReadonlySet<string> | null;
  /** Directories (links resolved) from which a capability may be granted one to read. */
  readonly readableDirectories: readonly string[];
  /** Why no directory can be granted on this machine, or null. */
  readonly filesystemProblem: string | null;
}

/** What a manifest asks for and gets. */
export interface Granted extends GrantedImports {
  /** The capabilities that it may call. */
  readonly callees: readonly InvokeGrant[];
  /** The connectors that it may call, where the application binds them. */
  readonly connectors: readonly ConnectorGrant[];
  /** The granted directory, links resolved, or null. */
  readonly directory: string | null;
}

/** Decides on the grants of a manifest. A grant that is not given is a violation, never a silent absence. */
export function decideGrants(
  manifest: Manifest | null,
  directory: string | null,
  policy: AdmissionPolicy,
  violations: Violations,
): Granted {
  if (manifest === null) {
    const none = { filesystem: false, embedder: new Set<string>(), invoke: false, connects: false };
    return { ...none, directory: null, callees: [], connectors: [] };
  }
  for (const grant of unsupportedGrants(manifest)) {
    violations.add("grant_denied", `${grant} cannot be honoured by this version of the host`);
  }
  const embedder = new Set<string>();
  for (const name of manifest.grants.imports ?? []) {
    if (policy.embedderInterfaces.has(name)) embedder.add(name);
    else
      violations.add(
        "grant_denied",
        `grants.imports asks for ${quote(name)}: the application offers ${listed(policy.embedderInterfaces)}`,
      );
  }
  const { invocable } = policy;
  const callees = (manifest.grants.invoke ?? []).filter(({ id }) => {
    if (invocable === null || invocable.has(id)) return true;
    violations.add(
      "grant_denied",
      `grants.invoke asks for ${quote(id)}: the host's policy allows ${listed(invocable)} (option allow.invoke)`,
    );
    return false;
  });
  const asked = manifest.grants.fs?.read;
  const granted = asked === undefined ? null : grantedDirectory(asked, directory, policy, violations);
  // Which of them are bound is asked at each call: the application may bind and unbind while the capability is installed.
  const connectors = manifest.grants.connectors ?? [];
  return {
    directory: granted,
    filesystem: granted !== null,
    embedder,
    invoke: callees.length > 0,
    callees,
    connects: connectors.length > 0,
    connectors,
  };
}

function grantedDirectory(
  asked: string,
  packageDirectory: string | null,
  policy: AdmissionPolicy,
  violations: Violations,
): string | null {
  if (policy.filesystemProblem !== null) {
    violations.add("grant_denied", `grants.fs.read cannot be honoured: ${policy.filesystemProblem}`);
    return null;
  }
  let real: string;
  try {
    real = realpathSync(resolve(packageDirectory ?? ".", asked));
    if (!statSync(real).isDirectory()) throw new Error("not a directory");
  } catch {
    violations.add("grant_denied", `grants.fs.read names ${quote(asked)}: an existing directory is wanted`);
    return null;
  }
  if (policy.readableDirectories.some((allowed) => contains(allowed, real))) return real;
  violations.add(
    "grant_denied",
    `grants.fs.read asks for ${quote(real)}: the host's policy allows ${listed(policy.readableDirectories)} (option allow.fs)`,
  );
  return null;
}

function contains(allowed: string, real: string): boolean {
  const way = relative(allowed, real);
  return way === "" || (!isAbsolute(way) && way !== ".." && !way.startsWith("../") && !way.startsWith("..\\"));
}

function listed(names: Iterable<string>): string {
  const all = [...names].map((name) => quote(name));
  return all.length === 0 ? "none" : all.join(", ");
}
