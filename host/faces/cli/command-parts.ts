import { Option } from "commander";

/** Carries a command out, and sees to its errors; `path` is the package that it was given. */
export type Act = (json: boolean, path: string | null, command: () => Promise<number>) => Promise<void>;

export const EXIT_CODES = `
Exit codes:
  0  succeeded, or all is well
  1  any other outcome, or something was not proven
  2  bad input: the command line, the input, a file that cannot be read
  3  refused at admission
  4  the host failed`;

export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

export function allowFsOption(): Option {
  return repeatable("--allow-fs <folder>", "a folder from which a package may be granted one to read; may be repeated");
}

export function tierOption(): Option {
  return new Option("--tier <tier>", "how much of an instance is new for each run")
    .choices(["reset", "recycled", "fresh"])
    .default("reset");
}

export function cacheDirOption(): Option {
  return new Option("--cache-dir <folder>", "keep compiled code there for the next time; default: nothing is kept");
}

export function providersOption(): Option {
  return new Option("--providers <file>", "a file of providers; default: ./airlock.providers.json where there is one");
}

export function connectorsOption(): Option {
  return new Option(
    "--connectors <file>",
    "a file of connectors to bind; default: ./airlock.connectors.json where there is one",
  );
}
