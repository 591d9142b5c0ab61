import type { BinaryKind, ComponentInfo } from "../component/component.ts";
import { quote } from "../errors/errors.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { HOST_ABI_VERSIONS } from "./interfaces.ts";
import type { AdmissionPolicy } from "./policy.ts";
import type { Violations } from "./violations.ts";

export function checkEnvelope(
  manifest: Manifest | null,
  bytes: Uint8Array,
  sha256: string,
  policy: AdmissionPolicy,
  violations: Violations,
): void {
  if (bytes.length > policy.maxComponentBytes) {
    violations.add(
      "too_large",
      `the component has ${bytes.length} bytes: at most ${policy.maxComponentBytes} are allowed`,
    );
  }
  if (manifest === null) return;
  if (manifest.sha256 !== sha256) {
    violations.add("checksum_mismatch", `the component's SHA-256 is ${sha256}: the manifest says ${manifest.sha256}`, {
      actual: sha256,
      wanted: manifest.sha256,
    });
  }
  if (!policy.profiles.has(manifest.profile)) {
    const allowed = [...policy.profiles].map((each) => quote(each)).join(", ") || "none";
    violations.add(
      "unsupported_profile",
      `profile is ${quote(manifest.profile)}: the host's policy allows ${allowed} (option allow.profiles)`,
    );
  }
  if (!HOST_ABI_VERSIONS.includes(manifest.hostAbi)) {
    violations.add(
      "unsupported_abi_version",
      `hostAbi is ${quote(manifest.hostAbi)}: the host speaks ${HOST_ABI_VERSIONS.join(", ")}`,
      {
        requested: manifest.hostAbi,
        supported: HOST_ABI_VERSIONS,
      },
    );
  }
}

/** The profile that a file is looked at under: the manifest's, or for a bare file the one that its kind wants. */
export function profileOf(manifest: Manifest | null, kind: BinaryKind): Manifest["profile"] {
  return manifest?.profile ?? (kind === "core-module" ? "core" : "component");
}

/** Adds that the file is not of the kind that its profile wants. `fits` is whether a core module would do as such. */
export function checkKind(
  kind: BinaryKind,
  profile: Manifest["profile"],
  bytes: Uint8Array,
  fits: () => boolean,
  violations: Violations,
): void {
  const wanted = profile === "core" ? "a core module" : "a component";
  if (kind === "unknown") {
    const what = bytes.length === 0 ? "the file is empty" : "the file does not begin like WebAssembly";
    violations.add("malformed_wasm_artifact", `${what}: ${wanted} is wanted`);
    return;
  }
  if ((kind === "core-module") === (profile === "core")) return;
  const hint =
    kind === "component"
      ? 'set profile to "component"'
      : `wrap it with "wasm-tools component new"${fits() ? ', or set profile to "core", which its imports fit' : ""}`;
  violations.add(
    "profile_mismatch",
    `the file is ${kind === "component" ? "a component" : "a core module"}: profile ${quote(profile)} wants ${wanted}; ${hint}`,
    { kind, profile },
  );
}

/** Adds that a component is of the asynchronous generation. */
export function checkGeneration(info: ComponentInfo | null, violations: Violations): void {
  if (info?.usesAsync !== true) return;
  violations.add(
    "engine_feature_missing",
    `the component uses the asynchronous ABI of WASI 0.3 (${info.asyncReasons[0]}): WASI 0.2 is supported`,
  );
}
