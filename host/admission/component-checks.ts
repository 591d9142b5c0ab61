import {
  type ComponentInfo,
  type CoreArtifact,
  checkNames,
  decodeComponent,
  decodeCoreModule,
} from "../component/component.ts";
import { isHostError, quote } from "../errors/errors.ts";
import type { Limits, Manifest } from "../manifest/manifest.ts";
import { checkCoreOperations } from "./core-checks.ts";
import type { Violations } from "./violations.ts";
import type { WayIn } from "./way-in.ts";

export function decode(bytes: Uint8Array, violations: Violations): ComponentInfo | null {
  return decoded(() => decodeComponent(bytes), violations);
}

export function decodeCore(bytes: Uint8Array, violations: Violations): CoreArtifact | null {
  return decoded(() => decodeCoreModule(bytes), violations);
}

function decoded<T>(read: () => T, violations: Violations): T | null {
  try {
    return read();
  } catch (thrown) {
    if (!isHostError(thrown)) throw thrown;
    const code = thrown.code === "AIRLOCK_COMPONENT_UNSUPPORTED" ? "too_complex" : "malformed_wasm_artifact";
    violations.add(code, thrown.message);
    return null;
  }
}

export function checkNameGate(info: ComponentInfo, violations: Violations): void {
  for (const { name, where, path, reason } of checkNames(info).slice(0, 20)) {
    const wanted = {
      characters: "only letters, digits and _$.-:/@#|[]<>=+,() are allowed",
      length: "at most 256 characters are allowed",
      prototype: "it is not allowed",
    }[reason];
    violations.add("unsafe_name", `${where} ${quote(name)} in ${path} could become code in the host: ${wanted}`);
  }
}

/** A memory that the host does not make is out of its sight: how large it is at the start, it can neither refuse nor count. */
export function checkMemories(info: ComponentInfo, violations: Violations): void {
  for (const { path, hostMakesMemory } of info.coreModules) {
    if (hostMakesMemory) continue;
    violations.add(
      "limit_unenforceable",
      `memoryBytes cannot be held: ${path} has several memories, or one with 64 bits or pages of another size; a core module with one plain memory is wanted`,
    );
  }
}

export function checkComplexity(info: ComponentInfo, limits: Limits, violations: Violations): void {
  const modules = info.coreModules.length;
  if (modules > limits.coreModules)
    violations.add(
      "too_complex",
      `the component holds ${modules} core modules: coreModules allows ${limits.coreModules}`,
    );
  const memories = info.coreModules.reduce((sum, module) => sum + module.memories, 0);
  if (memories > limits.memories)
    violations.add("too_complex", `the component defines ${memories} memories: memories allows ${limits.memories}`);
  for (const { path, largestBodyBytes, mostLocals, functions } of info.coreModules) {
    if (largestBodyBytes > COMPLEXITY.bodyBytes)
      violations.add(
        "too_complex",
        `${path} has a function body of ${largestBodyBytes} bytes: at most ${COMPLEXITY.bodyBytes} are allowed`,
      );
    if (mostLocals > COMPLEXITY.locals)
      violations.add(
        "too_complex",
        `${path} has a function with ${mostLocals} locals: at most ${COMPLEXITY.locals} are allowed`,
      );
    if (functions > COMPLEXITY.functions)
      violations.add(
        "too_complex",
        `${path} defines ${functions} functions: at most ${COMPLEXITY.functions} are allowed`,
      );
  }
  // The transpiler writes every use of a type out in full, so a type that doubles itself 60 times would never end.
  if (info.largestTypeNodes > COMPLEXITY.typeNodes) {
    violations.add(
      "too_complex",
      `a type of the component, written out, has ${info.largestTypeNodes} parts: at most ${COMPLEXITY.typeNodes} are allowed`,
    );
  }
  if (info.instances > COMPLEXITY.instances) {
    violations.add(
      "too_complex",
      `the component makes ${info.instances} instances: at most ${COMPLEXITY.instances} are allowed`,
    );
  }
  if (info.hasComponentStart)
    violations.add("too_complex", "a component in it has a start function: only core modules may");
  for (const name of info.canonBuiltins)
    violations.add(
      "too_complex",
      `it uses the canonical built-in ${quote(name)}: lift, lower and resource.new, drop and rep are allowed`,
    );
}

/** Names of a component that one sentence lists; it can have a hundred thousand, and a manifest can miss each of 256. */
const SHOWN_NAMES = 10;

/** The meter's own caps, checked early so that they are reported with everything else. */
const COMPLEXITY = {
  bodyBytes: 512 * 1024,
  locals: 2_000,
  functions: 100_000,
  typeNodes: 2_000,
  instances: 1_000,
} as const;

export function checkOperations(wayIn: WayIn, manifest: Manifest, violations: Violations): void {
  if (wayIn.kind === "core") {
    checkCoreOperations(manifest, violations);
    return;
  }
  if (wayIn.kind === "handler") {
    if (manifest.operations.length === 0)
      violations.add("missing_export", "the manifest declares no operation: a handler needs at least one");
    return;
  }
  const exported = new Set(wayIn.operations.map(({ name }) => name));
  const shown = [...exported].slice(0, SHOWN_NAMES).map((name) => quote(name));
  if (shown.length < exported.size) shown.push(`${exported.size - shown.length} more`);
  for (const { name } of manifest.operations) {
    if (!exported.has(name))
      violations.add(
        "missing_export",
        `the manifest declares operation ${quote(name)}: the component exports ${shown.join(", ")}`,
      );
  }
}
