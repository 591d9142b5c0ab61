import { createHost, type FileProvider, type Host, type HostOptions } from "../../index.ts";

/** What a command may say of the host that it makes. */
export interface HostFlags {
  readonly allowFs?: readonly string[];
  readonly cacheDir?: string;
}

/** A process started ahead for a second install would only slow down the one there is. */
const ONE_INSTALL = { spares: 0 };

/** A host for one thing at a time. */
export function commandHost({ allowFs = [], cacheDir }: HostFlags, more: HostOptions = {}): Promise<Host> {
  return createHost({
    threads: 1,
    compile: cacheDir === undefined ? ONE_INSTALL : { ...ONE_INSTALL, cacheDirectory: cacheDir },
    allow: { fs: allowFs },
    ...more,
  });
}

/** What the host does while it adds a provider. */
export function addingText(provider: FileProvider): string {
  return provider.kind === "component"
    ? `Admitting and compiling ${provider.package}`
    : `Adding ${provider.kind} ${provider.id}`;
}
