import semver from "semver";
import { HostError, nearest, quote } from "../errors/errors.ts";
import type { Connector } from "./connector.ts";

/** How a connector is bound. */
export interface BindOptions {
  /** Ids of the capabilities that get this connector; default: every one whose manifest declares it. */
  readonly capabilities?: readonly string[];
  /** Bytes of a request and of a response, as JSON text with its envelope. From 256 to 16 MiB; default 64 KiB. */
  readonly requestBytes?: number;
  readonly responseBytes?: number;
}

/** A connector that the application has bound. */
export interface BoundConnector {
  readonly id: string;
  readonly version: string;
  readonly description: string | null;
  /** Null: every capability that declares it. */
  readonly capabilities: readonly string[] | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** A binding, as calls find it. */
export interface Binding extends BoundConnector {
  readonly connector: Connector;
}

/** What the Traverse Host ABI allows each way. */
export const DEFAULT_BYTES = 65_536;
const LEAST_BYTES = 256;
const MOST_BYTES = 16 * 1024 * 1024;

const ID = /^[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;

/** The connectors of a host, bound by its application. */
export class Connectors {
  #bindings: Binding[] = [];

  /**
   * From now on capabilities that declare the connector can call it. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID, and
   * AIRLOCK_GATEWAY_CONNECTOR_DUPLICATE for an id and version that are bound for one of these capabilities already.
   */
  bind(connector: Connector, options: BindOptions = {}): void {
    const binding = bindingOf(connector, options);
    const twin = this.#bindings.find((other) => isTwin(binding, other));
    if (twin !== undefined) {
      throw new HostError(
        "AIRLOCK_GATEWAY_CONNECTOR_DUPLICATE",
        `Cannot bind ${nameOf(connector)}: it is bound already for ${twin.capabilities === null ? "all capabilities" : twin.capabilities.map((each) => quote(each)).join(", ")}`,
      );
    }
    this.#bindings = [...this.#bindings, binding];
  }

  /**
   * No call finds the connector any more; those in flight end as they will. `id` is `id` for all its versions, or `id@version`. Throws
   * AIRLOCK_GATEWAY_CONNECTOR_UNKNOWN.
   */
  unbind(id: string): void {
    const left = this.#bindings.filter((each) => each.id !== id && `${each.id}@${each.version}` !== id);
    if (left.length === this.#bindings.length) {
      const bound = this.#bindings.map((each) => quote(`${each.id}@${each.version}`)).join(", ") || "none";
      throw new HostError("AIRLOCK_GATEWAY_CONNECTOR_UNKNOWN", `Cannot unbind ${quote(id)}: bound are ${bound}`);
    }
    this.#bindings = left;
  }

  /** Those that are bound, in the order in which they came. */
  list(): readonly BoundConnector[] {
    return this.#bindings.map(({ connector: _, ...bound }) => bound);
  }

  /** Those that a capability can be given, the newest version first: what is bound for it by name hides what is bound for all. */
  of(connectorId: string, capabilityId: string): readonly Binding[] {
    const bound = this.#bindings.filter(({ id }) => id === connectorId);
    const own = bound.filter(({ capabilities }) => capabilities?.includes(capabilityId));
    const found = own.length > 0 ? own : bound.filter(({ capabilities }) => capabilities === null);
    return found.sort((a, b) => semver.rcompare(a.version, b.version));
  }
}

/** Whether the two would stand for the same in the eyes of one capability. */
function isTwin(a: Binding, b: Binding): boolean {
  if (a.id !== b.id || a.version !== b.version) return false;
  if (a.capabilities === null || b.capabilities === null) return a.capabilities === b.capabilities;
  return a.capabilities.some((each) => b.capabilities?.includes(each));
}

function nameOf({ id, version }: Pick<Connector, "id" | "version">): string {
  return `connector ${quote(`${id}@${version}`, 200)}`;
}

function bindingOf(connector: unknown, options: BindOptions): Binding {
  if (typeof connector !== "object" || connector === null) throw invalid("it is no object with id, version and invoke");
  const { id, version, description, invoke } = connector as Partial<Record<keyof Connector, unknown>>;
  if (typeof id !== "string" || id.length > 128 || !ID.test(id))
    throw invalid(
      `id is ${shown(id)}: a lower-case, dotted name of at most 128 characters, such as "acme.crm", is wanted`,
    );
  if (typeof version !== "string" || semver.valid(version) !== version)
    throw invalid(
      `version of ${quote(id)} is ${shown(version)}: an exact semantic version, such as "1.0.0", is wanted`,
    );
  if (description !== undefined && typeof description !== "string")
    throw invalid(`description of ${quote(id)} is ${shown(description)}: a string is wanted`);
  if (typeof invoke !== "function") throw invalid(`invoke of ${quote(id)} is ${shown(invoke)}: a function is wanted`);
  return {
    connector: connector as Connector,
    id,
    version,
    description: description ?? null,
    ...checkedOptions(id, options),
  };
}

function checkedOptions(
  id: string,
  options: BindOptions,
): Pick<BoundConnector, "capabilities" | "requestBytes" | "responseBytes"> {
  if (typeof options !== "object" || options === null)
    throw invalid(`the binding of ${quote(id)} is ${shown(options)}: an object is wanted`);
  const known = ["capabilities", "requestBytes", "responseBytes"];
  const surplus = Object.keys(options).find((key) => !known.includes(key));
  if (surplus !== undefined) {
    const near = nearest(surplus, known);
    throw invalid(
      `the binding of ${quote(id)} has the unknown option ${quote(surplus, 60)}: ${near === undefined ? `${known.join(", ")} are known` : `did you mean ${quote(near)}?`}`,
    );
  }
  const { capabilities = null } = options;
  if (capabilities !== null && !Array.isArray(capabilities))
    throw invalid(`capabilities of ${quote(id)} is ${shown(capabilities)}: a list of ids without versions is wanted`);
  const wrong = capabilities?.findIndex((each: unknown) => typeof each !== "string" || !ID.test(each)) ?? -1;
  if (capabilities !== null && wrong >= 0)
    throw invalid(
      `capabilities.${wrong} of ${quote(id)} is ${shown(capabilities[wrong])}: the id of a capability, without its version, is wanted`,
    );
  const bytes = (key: "requestBytes" | "responseBytes"): number => {
    const value = options[key] ?? DEFAULT_BYTES;
    if (!Number.isSafeInteger(value) || value < LEAST_BYTES || value > MOST_BYTES)
      throw invalid(
        `${key} of ${quote(id)} is ${shown(value)}: a whole number of bytes from ${LEAST_BYTES} to ${MOST_BYTES} is wanted`,
      );
    return value;
  };
  return {
    capabilities: capabilities === null ? null : Object.freeze([...capabilities]),
    requestBytes: bytes("requestBytes"),
    responseBytes: bytes("responseBytes"),
  };
}

function shown(value: unknown): string {
  if (typeof value === "string") return quote(value, 60);
  return value === null || typeof value !== "object" ? String(value) : "an object";
}

function invalid(what: string): HostError {
  return new HostError("AIRLOCK_GATEWAY_CONNECTOR_INVALID", `Cannot bind the connector: ${what}`);
}
