/** What the host does with an interface that a component imports. */
export type InterfaceClass =
  /** Part of the host ABI. */
  | "host"
  /** Only types, nothing to call. */
  | "types"
  /** Linked to a granted resource. */
  | "real"
  /** Linked, but holds nothing. */
  | "empty"
  /** Linked to a clock or a random source that the input alone decides. */
  | "virtual"
  /** Given by the embedding application. */
  | "embedder"
  | "refused";

/** The decision on one import, and the rule that made it. */
export interface ImportDecision {
  readonly name: string;
  readonly class: InterfaceClass;
  readonly rule: string;
}

/** The host ABI versions that this host speaks. */
export const HOST_ABI_VERSIONS: readonly string[] = Object.freeze(["1.0.0"]);

/** What a component may reach beyond the host ABI: what its manifest asks for and the host's policy allows. */
export interface GrantedImports {
  readonly filesystem: boolean;
  readonly embedder: ReadonlySet<string>;
  /** Whether it may call any other capability. */
  readonly invoke: boolean;
  /** Whether it may call any connector. */
  readonly connects: boolean;
}

/** The interface through which a capability calls others. */
export const INVOKE = "airlock:capability/invoke@1.0.0";

/** The interface through which a capability reaches the application's connectors. */
export const CONNECTORS = "airlock:capability/connectors@1.0.0";

const AIRLOCK_INTERFACES: Readonly<Record<string, InterfaceClass>> = {
  types: "types",
  log: "host",
  context: "host",
  events: "host",
  invoke: "host",
  connectors: "host",
};

const FILESYSTEM = new Set(["wasi:filesystem/types", "wasi:filesystem/preopens"]);

const WASI_INTERFACES: Readonly<Record<string, InterfaceClass>> = {
  "wasi:cli/environment": "empty",
  "wasi:cli/exit": "empty",
  "wasi:cli/stdin": "empty",
  "wasi:cli/stdout": "empty",
  "wasi:cli/stderr": "empty",
  "wasi:cli/terminal-input": "empty",
  "wasi:cli/terminal-output": "empty",
  "wasi:cli/terminal-stdin": "empty",
  "wasi:cli/terminal-stdout": "empty",
  "wasi:cli/terminal-stderr": "empty",
  "wasi:io/error": "empty",
  "wasi:io/poll": "empty",
  "wasi:io/streams": "empty",
  "wasi:filesystem/types": "empty",
  "wasi:filesystem/preopens": "empty",
  "wasi:clocks/wall-clock": "virtual",
  "wasi:clocks/monotonic-clock": "virtual",
  "wasi:random/random": "virtual",
  "wasi:random/insecure": "virtual",
  "wasi:random/insecure-seed": "virtual",
};

/** Decides on one import by its full name. Everything that no rule names is refused. */
export function decideImport(name: string, granted: GrantedImports): ImportDecision {
  if (granted.embedder.has(name))
    return { name, class: "embedder", rule: "granted by name in grants.imports and offered by the application" };
  const match = /^([a-z0-9-]+:[a-z0-9-]+)\/([a-z0-9-]+)@(.+)$/.exec(name);
  if (match === null) return refuse(name, "an import is an interface with a version, as in wasi:cli/exit@0.2.0");
  const [, packageName, interfaceName, version] = match as unknown as [string, string, string, string];
  if (packageName === "airlock:capability") return decideAirlock(name, interfaceName, version, granted);
  const wasi = WASI_INTERFACES[`${packageName}/${interfaceName}`];
  if (wasi !== undefined) {
    if (!/^0\.2\.\d{1,3}$/.test(version)) return refuse(name, `WASI 0.2 is supported, not ${version}`);
    if (FILESYSTEM.has(`${packageName}/${interfaceName}`) && granted.filesystem) {
      return { name, class: "real", rule: "grants.fs is granted: one directory, read only" };
    }
    return {
      name,
      class: wasi,
      rule: wasi === "empty" ? "linked, holds nothing" : "virtual, decided by the input alone",
    };
  }
  if (packageName === "wasi:sockets") return refuse(name, "sockets are refused in host ABI 1.0.0");
  if (packageName === "wasi:http") return refuse(name, "outgoing HTTP is not granted by this version");
  return refuse(name, "no rule allows it: an interface of the application is granted by name in grants.imports");
}

function decideAirlock(name: string, interfaceName: string, version: string, granted: GrantedImports): ImportDecision {
  // The name comes from the component: `constructor` is found on every object.
  const known = Object.hasOwn(AIRLOCK_INTERFACES, interfaceName) ? AIRLOCK_INTERFACES[interfaceName] : undefined;
  if (known === undefined) return refuse(name, "the host ABI has no such interface to import");
  if (!HOST_ABI_VERSIONS.includes(version))
    return refuse(name, `the host ABI is ${HOST_ABI_VERSIONS.join(", ")}, not ${version}`);
  if (name === INVOKE) {
    if (!granted.invoke) return refuse(name, "grants.invoke names no capability that it may call");
    return { name, class: known, rule: "grants.invoke names the capabilities that it may call" };
  }
  if (name === CONNECTORS) {
    if (!granted.connects) return refuse(name, "grants.connectors names no connector that it may call");
    return { name, class: known, rule: "grants.connectors names the connectors that it may call" };
  }
  return { name, class: known, rule: known === "types" ? "types only" : "host ABI 1.0.0" };
}

function refuse(name: string, rule: string): ImportDecision {
  return { name, class: "refused", rule };
}
