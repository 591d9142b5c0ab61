import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AdmissionReport, createHost, type Host, type HostErrorCode, isHostError } from "../../index.ts";
import { corePackage } from "./guest.ts";

const START = '(func (export "_start"))';

/** README has the same table: what another host of this ABI calls a refusal, and what it is here. */
const REFUSALS: readonly {
  readonly theirs: string;
  readonly wat?: string;
  readonly change?: object;
  /** What lies where the module should. */
  readonly bytes?: Uint8Array | null;
  readonly code: HostErrorCode;
  readonly message: string;
  readonly details?: object;
}[] = [
  {
    theirs: "binary_load_failed",
    bytes: null,
    code: "AIRLOCK_ADMISSION_BINARY_LOAD_FAILED",
    message: "there is no such file",
  },
  {
    theirs: "checksum_mismatch",
    change: { sha256: "0".repeat(64) },
    code: "AIRLOCK_ADMISSION_CHECKSUM_MISMATCH",
    message: "the manifest says 0000",
    details: { actual: expect.stringMatching(/^[0-9a-f]{64}$/), wanted: "0".repeat(64) },
  },
  {
    theirs: "malformed_wasm_artifact",
    wat: '(module (func (export "_start") i32.add))',
    code: "AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT",
    message: "does not validate",
  },
  {
    theirs: "unsupported_abi_version",
    change: { hostAbi: "2.0.0" },
    code: "AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION",
    message: 'hostAbi is "2.0.0": the host speaks 1.0.0',
    details: { requested: "2.0.0", supported: ["1.0.0"] },
  },
  {
    theirs: "unauthorized_host_import",
    wat: `(module (import "env" "system" (func)) ${START})`,
    code: "AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT",
    message: 'import "env/system" is refused',
    details: { module: "env", name: "system", rule: expect.any(String) },
  },
];

const ENDINGS = [
  [
    "timeout",
    '(func (export "_start") (loop $again (br $again)))',
    { kind: "out-of-fuel", limit: "fuel", phase: "guest" },
  ],
  [
    "resource_exhausted",
    '(memory 1) (func (export "_start") (drop (memory.grow (i32.const 1000))))',
    { kind: "out-of-memory", limit: "memoryBytes", phase: "guest" },
  ],
  [
    "execution_failed",
    '(func (export "_start") unreachable)',
    { kind: "trapped", trap: { phase: "guest", message: "wasm trap: unreachable" } },
  ],
  ["output_deserialization_failed", START, { kind: "invalid-output", message: expect.stringContaining("The output") }],
] as const;

describe("the errors of the core profile", () => {
  let host: Host;
  let folder: string;

  beforeAll(async () => {
    host = await createHost({ threads: 1, compile: { spares: 0 } });
  });
  afterAll(() => host.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "airlock-core-errors-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(REFUSALS)("$theirs is $code", async ({ wat, change = {}, bytes, code, message, details }) => {
    const { component, manifest } = await corePackage("core.refused", wat ?? `(module ${START})`);
    if (bytes !== null) writeFileSync(join(folder, "module.wasm"), bytes ?? component);
    const { limits: _, ...rest } = manifest;
    writeFileSync(join(folder, "capability.json"), JSON.stringify({ ...rest, component: "module.wasm", ...change }));
    const thrown: unknown = await host.install(folder).then(
      () => null,
      (error: unknown) => error,
    );
    if (!isHostError(thrown)) throw new Error("It was let in");
    expect([thrown.code, thrown.failure]).toEqual([code, "admission_rejected"]);
    expect(thrown.message).toContain(message);
    if (details === undefined) return;
    expect((thrown.details as AdmissionReport).violations[0]!.details).toEqual(details);
  });

  it.each(ENDINGS)("%s is an outcome", async (theirs, body, outcome) => {
    const { id } = await host.install(await corePackage(`core.${theirs.replaceAll("_", "-")}`, `(module ${body})`));
    expect(await host.run(id, null).outcome).toMatchObject(outcome);
  });
});
