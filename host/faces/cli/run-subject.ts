import { existsSync } from "node:fs";
import { HostError } from "../../errors/errors.ts";
import {
  addProviders,
  type Host,
  type InstallOptions,
  type NamedProviders,
  namedProviders,
  type ProvidersFile,
  readProvidersFile,
} from "../../index.ts";
import { type JsonSchema, readPackage } from "../../manifest/manifest.ts";
import { addingText } from "./command-host.ts";
import { providersPath } from "./providers-path.ts";

/** What `airlock run` is to run. */
export type RunSubject =
  | { readonly kind: "package"; readonly path: string }
  | { readonly kind: "named"; readonly name: string; readonly file: ProvidersFile; readonly named: NamedProviders };

/** A subject that a host has now. */
export interface ReadySubject {
  /** What it is run by. */
  readonly id: string;
  /** Of a pool those of its first candidate, as its owner says that each can serve the same. */
  readonly operations: readonly { readonly name: string; readonly input?: JsonSchema }[];
}

/**
 * What the argument means: with `--providers` a name in that file; else a package, and where there is none a name in the file of this
 * folder. Reads and checks, starts nothing. Throws AIRLOCK_MANIFEST_*, AIRLOCK_PROVIDERS_FILE_*, AIRLOCK_PROVIDERS_MISSING.
 */
export function runSubject(argument: string, providers: string | undefined): RunSubject {
  const path = providersPath(providers);
  if (path === null || (providers === undefined && existsSync(argument))) {
    readPackage(argument);
    return { kind: "package", path: argument };
  }
  const file = readProvidersFile(path);
  return { kind: "named", name: argument, file, named: namedProviders(file, argument) };
}

/** Throws AIRLOCK_CLI_USAGE where the fuel of the subject cannot be profiled, because it burns none. */
export function checkProfiled(subject: RunSubject): void {
  if (subject.kind === "package") return;
  const { pool, providers } = subject.named;
  const [first] = providers;
  if (pool === null && first?.kind === "component") return;
  const what = pool === null ? `${first!.id} is a server` : `${pool} is a pool of servers`;
  throw new HostError("AIRLOCK_CLI_USAGE", `--fuel-profile is for components: ${what}, which burns no fuel`);
}

/** Installs or registers what is to be run. `step` hears what is done. */
export async function readySubject(
  host: Host,
  subject: RunSubject,
  install: InstallOptions,
  step: (text: string) => void,
): Promise<ReadySubject> {
  if (subject.kind === "package") {
    step(`Admitting and compiling ${subject.path}`);
    const { id, signatures } = await host.install(subject.path, install);
    return { id, operations: signatures };
  }
  const { file, name, named } = subject;
  await addProviders(host, file, { only: name, install, adding: (provider) => step(addingText(provider)) });
  const { id, kind } = named.providers[0]!;
  const operations =
    kind === "component"
      ? host.list().find((installed) => installed.id === id)!.signatures
      : (await host.providers.command(id, "capabilities")).operations;
  return { id: named.pool ?? id, operations };
}
