import { createHash } from "node:crypto";
import type { Checker, CheckReport } from "../admission/admission.ts";
import type { ComponentInfo } from "../component/component.ts";
import { HostError } from "../errors/errors.ts";
import { SCHEDULE, scheduleId } from "../meter/meter.ts";
import { type Artifact, toArtifact } from "./artifact.ts";
import { ArtifactCache, type CacheStats } from "./cache.ts";
import { DiskCache, type DiskCacheOptions, type DiskCacheStats } from "./disk-cache.ts";
import { type EntryPoint, findEntryPoint } from "./entry-point.ts";
import { identifyMaker, transpilerVersion } from "./maker.ts";
import type { CompileReply } from "./protocol.ts";
import { type ProcessBounds, ThrowAwayProcess } from "./throw-away-process.ts";

/** How components are compiled. */
export interface CompileOptions extends ProcessBounds {
  /** Artifacts kept in memory. */
  readonly cacheEntries: number;
  /** Processes started ahead, 0 or 1. */
  readonly spares: number;
  /** Null keeps nothing on disk. */
  readonly disk: DiskCacheOptions | null;
}

/** Counters of both caches. */
export interface CompileStats extends CacheStats {
  /** Null without a cache directory. */
  readonly disk: DiskCacheStats | null;
}

/** Work on one component: at most one check, then at most one compilation. */
export interface CompileSession {
  /** What admission asks; it may be handed on alone. */
  readonly check: Checker;
  /** Only for a component that was admitted. Throws AIRLOCK_COMPILE_*, AIRLOCK_METER_* or AIRLOCK_ADMISSION_UNSAFE_NAME. */
  compile(component: { readonly sha256: string; readonly info: ComponentInfo }, exact: boolean): Promise<Artifact>;
  /** Ends the process that served this component. */
  close(): void;
}

/** Makes artifacts, each in a process of its own; one more may be started ahead, so that an install does not wait for a start. */
export class Compiler {
  readonly #options: CompileOptions;
  readonly #entry: EntryPoint;
  readonly #cache: ArtifactCache;
  readonly #disk: DiskCache | null;
  /** What was found in bytes that were checked before, the oldest first. */
  readonly #checked = new Map<string, CheckReport>();
  readonly #open = new Set<ThrowAwayProcess>();
  #spare: ThrowAwayProcess | null = null;
  #closed = false;

  /** Throws AIRLOCK_COMPILE_CACHE_UNSAFE. */
  constructor(options: CompileOptions) {
    this.#options = options;
    this.#entry = findEntryPoint(import.meta.url, "compile", "child");
    this.#cache = new ArtifactCache(options.cacheEntries);
    this.#disk = options.disk === null ? null : new DiskCache(options.disk, identifyMaker(this.#entry));
  }

  open(bytes: Uint8Array): CompileSession {
    let taken: ThrowAwayProcess | undefined;
    const child = (): ThrowAwayProcess => {
      taken ??= this.#take();
      return taken;
    };
    return {
      check: async (info, schemas) => {
        this.#checkOpen();
        const key = `check\n${sha256Of(bytes)}\n${sha256Of(JSON.stringify(schemas))}`;
        const known = this.#checked.get(key);
        if (known !== undefined) return known;
        const coreModules = info.coreModules.map(({ start, end }) => ({ start, end }));
        const { report } = await this.#answer("checked", key, () =>
          child().ask({ kind: "check", bytes, coreModules, schemas }),
        );
        this.#remember(key, report);
        return report;
      },
      compile: async ({ sha256, info }, exact) => {
        this.#checkOpen();
        const key = artifactKey(sha256, exact);
        const known = this.#cache.get(key);
        if (known !== undefined) return known;
        const importNames = info.imports.map(({ name }) => name);
        const { component } = await this.#answer("compiled", key, () =>
          child().ask({ kind: "compile", bytes, importNames, exact }),
        );
        const artifact = await toArtifact(key, sha256, exact, component);
        this.#cache.set(artifact);
        return artifact;
      },
      close: () => {
        if (taken !== undefined) this.#drop(taken);
      },
    };
  }

  stats(): CompileStats {
    return { ...this.#cache.stats(), disk: this.#disk?.stats() ?? null };
  }

  /** Ends all processes, and resolves when what is being kept on disk is kept. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#spare?.kill();
    this.#spare = null;
    for (const child of this.#open) child.kill();
    this.#open.clear();
    await this.#disk?.flush();
  }

  /** From the disk, or else asked of a process, whose answer is then kept. A refusal is not: it may have been for want of time. */
  async #answer<Kind extends CompileReply["kind"]>(
    kind: Kind,
    key: string,
    ask: () => Promise<CompileReply>,
  ): Promise<CompileReply & { kind: Kind }> {
    // Authentic, and written under this very key by this very code: it is what `ask` answered then.
    const kept = (await this.#disk?.get(key)) as CompileReply | undefined;
    const reply = kept ?? (await ask());
    if (reply.kind !== kind) throw unexpected(reply.kind);
    if (kept === undefined) this.#disk?.put(key, reply);
    return reply as CompileReply & { kind: Kind };
  }

  #checkOpen(): void {
    if (this.#closed) throw new HostError("AIRLOCK_HOST_CLOSED", "Cannot compile: the host is closed");
  }

  /** The spare, or a new process; another spare is started as soon as this one is up. */
  #take(): ThrowAwayProcess {
    this.#checkOpen();
    const taken = this.#spare?.alive ? this.#spare : this.#start();
    this.#spare = null;
    this.#open.add(taken);
    // Two starts at once would slow down the one that is waited for.
    void taken.started().then(() => {
      if (this.#options.spares > 0 && !this.#closed && this.#spare === null) this.#spare = this.#start();
    });
    return taken;
  }

  #remember(key: string, report: CheckReport): void {
    this.#checked.set(key, report);
    for (const oldest of this.#checked.keys()) {
      if (this.#checked.size <= this.#options.cacheEntries) return;
      this.#checked.delete(oldest);
    }
  }

  #start(): ThrowAwayProcess {
    return new ThrowAwayProcess(this.#entry, this.#options);
  }

  #drop(child: ThrowAwayProcess): void {
    child.kill();
    this.#open.delete(child);
  }
}

function artifactKey(sha256: string, exact: boolean): string {
  const parts = [sha256, scheduleId(SCHEDULE), exact ? "exact" : "plain", transpilerVersion(), process.versions.v8];
  return sha256Of(parts.join("\n"));
}

function sha256Of(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function unexpected(kind: string): HostError {
  return new HostError("AIRLOCK_COMPILE_FAILED", `Compiling the component failed: its process answered ${kind}`);
}
