import { decodeCoreModule, kindOf } from "../component/component.ts";
import { HostError, isHostError, quote } from "../errors/errors.ts";
import { decideCoreImports } from "./core-abi.ts";
import { HOST_ABI_VERSIONS } from "./interfaces.ts";

/** What a core module asks of the host. */
export interface HostAbiReport {
  readonly abiVersion: string;
  /** Sorted by module, then by name; each pair once. */
  readonly imports: readonly { readonly module: string; readonly name: string }[];
}

/** The versions of the Traverse Host ABI that this host speaks. */
export function supportedHostAbiVersions(): readonly string[] {
  return HOST_ABI_VERSIONS;
}

/**
 * Checks that a core module asks for nothing but the Traverse Host ABI of that version, and lists what it imports. Compiles and runs
 * nothing; whether its function bodies validate, `install` and `inspect` say. Throws
 * - AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT for bytes that do not decode,
 * - AIRLOCK_ADMISSION_PROFILE_MISMATCH for a component,
 * - AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION with `{ requested, supported }`,
 * - AIRLOCK_ADMISSION_TOO_COMPLEX for a feature that the decoder does not know, or a cap that is passed,
 * - AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT with `{ module, name, rule }` of the first in that order, which is hostile text.
 */
export function verifyHostAbi(bytes: Uint8Array, version: string): HostAbiReport {
  const artifact = decoded(bytes);
  if (!HOST_ABI_VERSIONS.includes(version)) {
    throw new HostError(
      "AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION",
      `Cannot verify the module: host ABI ${typeof version === "string" ? quote(version, 40) : typeof version} is asked for, the host speaks ${HOST_ABI_VERSIONS.join(", ")}`,
      { details: { requested: version, supported: HOST_ABI_VERSIONS } },
    );
  }
  const decisions = [...decideCoreImports(artifact)].sort((a, b) => compare(a.import, b.import));
  const refused = decisions.find(({ class: kind }) => kind === "refused");
  if (refused !== undefined) {
    throw new HostError(
      "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT",
      `Cannot verify the module: import ${quote(refused.name)} is refused: ${refused.rule}`,
      { details: { ...refused.import, rule: refused.rule } },
    );
  }
  return { abiVersion: version, imports: decisions.map((each) => each.import) };
}

function decoded(bytes: Uint8Array): ReturnType<typeof decodeCoreModule> {
  if (!(bytes instanceof Uint8Array)) throw malformed(`it is of type ${typeof bytes}, a Uint8Array is wanted`);
  if (kindOf(bytes) === "component") {
    throw new HostError(
      "AIRLOCK_ADMISSION_PROFILE_MISMATCH",
      "Cannot verify the module: it is a component, a core module is wanted",
      { details: { kind: "component", profile: "core" } },
    );
  }
  try {
    return decodeCoreModule(bytes);
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    if (thrown.code !== "AIRLOCK_COMPONENT_UNSUPPORTED") throw malformed(thrown.message, thrown);
    throw new HostError("AIRLOCK_ADMISSION_TOO_COMPLEX", `Cannot verify the module: ${thrown.message}`, {
      details: thrown.details,
      cause: thrown,
    });
  }
}

function malformed(problem: string, cause?: HostError): HostError {
  const more = cause === undefined ? {} : { details: cause.details, cause };
  return new HostError("AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT", `Cannot verify the module: ${problem}`, more);
}

function compare(a: { module: string; name: string }, b: { module: string; name: string }): number {
  if (a.module !== b.module) return a.module < b.module ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
