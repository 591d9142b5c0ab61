import type { ComponentInfo } from "../component/component.ts";
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
  if (manifest.profile !== "component") {
    violations.add(
      "unsupported_profile",
      `profile is ${quote(manifest.profile)}: this version of the host runs "component"`,
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

export function checkKind(
  kind: string,
  info: ComponentInfo | null,
  bytes: Uint8Array,
  manifest: Manifest | null,
  violations: Violations,
): void {
  if (kind === "component") {
    if (info?.usesAsync) {
      violations.add(
        "engine_feature_missing",
        `the component uses the asynchronous ABI of WASI 0.3 (${info.asyncReasons[0]}): WASI 0.2 is supported`,
      );
    }
    return;
  }
  if (kind === "core-module") {
    violations.add(
      "profile_mismatch",
      `the file is a core module: profile ${quote(manifest?.profile ?? "component")} wants a component; wrap it with "wasm-tools component new"`,
    );
    return;
  }
  const what = bytes.length === 0 ? "the file is empty" : "the file does not begin like WebAssembly";
  violations.add("malformed_wasm_artifact", `${what}: a component is wanted`);
}
