import { HostError, type HostErrorCode } from "./errors/errors.ts";
import { type BinaryCache, type Manifest, type Package, parseManifest, readPackage } from "./manifest/manifest.ts";

/** A package that is already in memory. */
export interface PackageInMemory {
  readonly manifest: Manifest;
  readonly component: Uint8Array;
}

/** A package that was found, its component not read yet. */
export interface Located {
  readonly manifest: Manifest;
  readonly directory: string | null;
  /** Throws AIRLOCK_ADMISSION_BINARY_LOAD_FAILED and AIRLOCK_ADMISSION_TOO_LARGE. */
  readonly load: () => Uint8Array;
}

/** What an inspection reports, though it cannot read the component. */
export const UNREADABLE: Readonly<Partial<Record<HostErrorCode, "binary_load_failed" | "too_large">>> = {
  AIRLOCK_ADMISSION_BINARY_LOAD_FAILED: "binary_load_failed",
  AIRLOCK_ADMISSION_TOO_LARGE: "too_large",
};

/** Finds a package by its path, or takes the one in memory. Throws AIRLOCK_MANIFEST_*. */
export function locatePackage(
  source: string | PackageInMemory,
  maxComponentBytes: number,
  binaries: BinaryCache,
): Located {
  if (typeof source !== "string") {
    // Whatever the types say, this came from outside: a manifest counts when it was parsed.
    const manifest = parseManifest(JSON.stringify(source.manifest) ?? "", "manifest");
    if (!(source.component instanceof Uint8Array)) throw notBytes(source.component);
    // A copy of its own: what is hashed is what is compiled, whatever the caller does meanwhile.
    return { manifest, directory: null, load: () => source.component.slice() };
  }
  const { manifest, directory }: Package = readPackage(source);
  const { component, sha256 } = manifest;
  return { manifest, directory, load: () => binaries.read(directory, component, maxComponentBytes, sha256) };
}

function notBytes(component: unknown): HostError {
  return new HostError(
    "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED",
    `Cannot install: component is of type ${typeof component}, a Uint8Array is wanted`,
  );
}
