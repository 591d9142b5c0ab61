import semver from "semver";
import { HostError, nearest, quote } from "../errors/errors.ts";
import type { Provider } from "./provider.ts";

/** The providers of a host, by `id@version`. */
export class ProviderRegistry<P extends { readonly id: string } = Provider> {
  readonly #providers = new Map<string, P>();
  /** The newest version by bare id, once it was asked for. */
  readonly #newest = new Map<string, P>();
  /** The newest version inside of a range, by bare id and range, once it was asked for. */
  readonly #within = new Map<string, P>();

  /** Throws AIRLOCK_PROVIDERS_DUPLICATE. */
  add(provider: P): void {
    if (this.#providers.has(provider.id)) {
      throw new HostError(
        "AIRLOCK_PROVIDERS_DUPLICATE",
        `Cannot install ${quote(provider.id)}: it is installed already; uninstall it first or raise the version`,
      );
    }
    this.#providers.set(provider.id, provider);
    this.#forgetNewest();
  }

  /** By `id@version`, or by the bare id: the newest installed version. Throws AIRLOCK_PROVIDERS_MISSING. */
  resolve(id: string): P {
    const found = this.find(id);
    if (found !== undefined) return found;
    const near = nearest(id, [...this.#providers.keys()]);
    const hint = near === undefined ? "install it first" : `did you mean ${quote(near)}?`;
    throw new HostError("AIRLOCK_PROVIDERS_MISSING", `No capability ${quote(id)} is installed: ${hint}`);
  }

  /** As `resolve`, but undefined for what is not there. */
  find(id: string): P | undefined {
    const known = this.#providers.get(id) ?? this.#newest.get(id);
    if (known !== undefined || id.includes("@")) return known;
    return this.#remember(this.#newest, id, id, () => true);
  }

  /**
   * The newest version of a bare id inside of a semver range; undefined when there is none. A pre-release is inside only of a range that
   * names one of the same version, as everywhere.
   */
  newestWithin(id: string, range: string): P | undefined {
    const key = `${id} ${range}`;
    return (
      this.#within.get(key) ?? this.#remember(this.#within, key, id, (version) => semver.satisfies(version, range))
    );
  }

  /** Removes one version. Throws AIRLOCK_PROVIDERS_MISSING. */
  remove(id: string): P {
    const provider = this.resolve(id);
    this.#providers.delete(provider.id);
    this.#forgetNewest();
    return provider;
  }

  list(): readonly P[] {
    return [...this.#providers.values()];
  }

  #remember(known: Map<string, P>, key: string, id: string, fits: (version: string) => boolean): P | undefined {
    let newest: P | undefined;
    for (const provider of this.#providers.values()) {
      if (provider.id.slice(0, provider.id.lastIndexOf("@")) !== id || !fits(versionOf(provider))) continue;
      if (newest === undefined || semver.gt(versionOf(provider), versionOf(newest))) newest = provider;
    }
    if (newest !== undefined) known.set(key, newest);
    return newest;
  }

  #forgetNewest(): void {
    this.#newest.clear();
    this.#within.clear();
  }
}

function versionOf(provider: { readonly id: string }): string {
  return provider.id.slice(provider.id.lastIndexOf("@") + 1);
}
