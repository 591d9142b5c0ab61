import { createHash } from "node:crypto";
import { channel } from "node:diagnostics_channel";
import type { Checker, CheckReport } from "../admission/admission.ts";
import type { ComponentInfo } from "../component/component.ts";
import { HostError } from "../errors/errors.ts";
import { SCHEDULE, scheduleId } from "../meter/meter.ts";
import { type Artifact, type ArtifactSource, toArtifact } from "./artifact.ts";
import { ArtifactCache, type CacheStats } from "./cache.ts";
import { DiskCache, type DiskCacheOptions, type DiskCacheStats } from "./disk-cache.ts";
import { findEntryPoint } from "./entry-point.ts";
import { checkPreparedGlue } from "./glue.ts";
import { identifyMaker, transpilerVersion } from "./maker.ts";
import { Processes } from "./processes.ts";
import type { CompileReply, Variant } from "./protocol.ts";
import type { ProcessBounds, ThrowAwayProcess } from "./throw-away-process.ts";

const lookups = channel("airlock:compile:artifact");

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

/** A component that was admitted, as far as its artifact needs it. */
export interface Compilable {
  readonly sha256: string;
  readonly info: ComponentInfo;
}

/** Work on one component: at most one check, then at most one compilation. */
export interface CompileSession {
  /** What admission asks; it may be handed on alone. */
  readonly check: Checker;
  /**
   * Only for a component that was admitted. Throws AIRLOCK_COMPILE_*, AIRLOCK_METER_* or AIRLOCK_ADMISSION_UNSAFE_NAME. The
   * source holds the component's bytes and no artifact: one that was given up in between is read or compiled again.
   */
  compile(component: Compilable, variant: Variant): Promise<ArtifactSource>;
  /** Ends the process that served this component. */
  close(): void;
}

/** Makes artifacts, each in a process of its own, unless one was kept that is still the same. */
export class Compiler {
  readonly #bound: number;
  readonly #processes: Processes;
  readonly #cache: ArtifactCache;
  readonly #disk: DiskCache | null;
  /** What was found in bytes that were checked before, the oldest first. */
  readonly #checked = new Map<string, CheckReport>();
  /** Artifacts that are on their way: who asks for one of them gets the same. */
  readonly #coming = new Map<string, Promise<Artifact>>();

  /** Throws AIRLOCK_COMPILE_CACHE_UNSAFE. */
  constructor(options: CompileOptions) {
    const entry = findEntryPoint(import.meta.url, "compile", "child");
    this.#bound = options.cacheEntries;
    this.#processes = new Processes(entry, options, options.spares);
    this.#cache = new ArtifactCache(options.cacheEntries);
    this.#disk = options.disk === null ? null : new DiskCache(options.disk, identifyMaker(entry));
  }

  open(bytes: Uint8Array): CompileSession {
    const child = new LazyProcess(this.#processes);
    return {
      check: async (info, schemas) => {
        this.#processes.checkOpen();
        const key = `check\n${sha256Of(bytes)}\n${sha256Of(JSON.stringify(schemas))}`;
        const known = this.#checked.get(key);
        if (known !== undefined) return known;
        const coreModules = info.coreModules.map(({ start, end }) => ({ start, end }));
        const { report } = await this.#answer("checked", key, () =>
          child.get().ask({ kind: "check", bytes, coreModules, schemas }),
        );
        this.#remember(key, report);
        return report;
      },
      compile: async ({ sha256, info }, variant) => {
        const wanted: Wanted = { bytes, sha256, importNames: info.imports.map(({ name }) => name), variant };
        await this.#artifact(wanted, child);
        return this.#sourceOf(wanted);
      },
      close: () => child.end(),
    };
  }

  stats(): CompileStats {
    return { ...this.#cache.stats(), disk: this.#disk?.stats() ?? null };
  }

  /** Ends all processes, and resolves when what is being kept on disk is kept. */
  async close(): Promise<void> {
    this.#processes.close();
    await this.#disk?.flush();
  }

  #sourceOf(wanted: Wanted): ArtifactSource {
    return {
      componentSha256: wanted.sha256,
      scheduleId: scheduleId(SCHEDULE),
      variant: wanted.variant,
      load: async () => {
        const child = new LazyProcess(this.#processes);
        try {
          return await this.#artifact(wanted, child);
        } finally {
          child.end();
        }
      },
    };
  }

  /** From memory, from the disk or from the process, whichever has it first. */
  async #artifact(wanted: Wanted, child: LazyProcess): Promise<Artifact> {
    this.#processes.checkOpen();
    const key = artifactKey(wanted.sha256, wanted.variant);
    const known = this.#cache.get(key);
    if (known !== undefined) {
      if (lookups.hasSubscribers) lookups.publish({ componentSha256: wanted.sha256, from: "memory" });
      return known;
    }
    let coming = this.#coming.get(key);
    if (coming === undefined) {
      coming = this.#make(key, wanted, child).finally(() => this.#coming.delete(key));
      this.#coming.set(key, coming);
    }
    return coming;
  }

  async #make(key: string, { bytes, sha256, importNames, variant }: Wanted, child: LazyProcess): Promise<Artifact> {
    let isKept = true;
    const { component } = await this.#answer("compiled", key, () => {
      isKept = false;
      return child.get().ask({ kind: "compile", bytes, importNames, variant });
    });
    if (lookups.hasSubscribers) lookups.publish({ componentSha256: sha256, from: isKept ? "disk" : "process" });
    const artifact = await toArtifact(key, sha256, variant, component);
    this.#cache.set(artifact);
    return artifact;
  }

  /** From the disk, or else asked of a process, whose answer is then kept. A refusal is not: it may have been for want of time. */
  async #answer<Kind extends CompileReply["kind"]>(
    kind: Kind,
    key: string,
    ask: () => Promise<CompileReply>,
  ): Promise<CompileReply & { kind: Kind }> {
    // Authentic, and written under this very key by this very code: it is what `ask` answered then.
    const kept = (await this.#disk?.get(key, checkKept)) as CompileReply | undefined;
    const reply = kept ?? (await ask());
    if (reply.kind !== kind) throw unexpected(reply.kind);
    if (kept === undefined) this.#disk?.put(key, reply);
    return reply as CompileReply & { kind: Kind };
  }

  #remember(key: string, report: CheckReport): void {
    this.#checked.set(key, report);
    for (const oldest of this.#checked.keys()) {
      if (this.#checked.size <= this.#bound) return;
      this.#checked.delete(oldest);
    }
  }
}

/** All that a compilation starts from. */
interface Wanted {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly importNames: readonly string[];
  readonly variant: Variant;
}

/** A process for one component, taken when it is first needed. */
class LazyProcess {
  readonly #processes: Processes;
  #taken: ThrowAwayProcess | null = null;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  get(): ThrowAwayProcess {
    this.#taken ??= this.#processes.take();
    return this.#taken;
  }

  end(): void {
    if (this.#taken !== null) this.#processes.drop(this.#taken);
  }
}

/** Not even a file that is authentic may bring code that uses other names than generated glue does. */
function checkKept(value: unknown): void {
  const reply = value as CompileReply;
  if (reply.kind === "compiled" && reply.component.linkage.kind === "glue")
    checkPreparedGlue(reply.component.linkage.source);
}

function artifactKey(sha256: string, { exact, profile }: Variant): string {
  const variant = `${exact ? "exact" : "plain"}${profile ? " profile" : ""}`;
  const parts = [sha256, scheduleId(SCHEDULE), variant, transpilerVersion(), process.versions.v8];
  return sha256Of(parts.join("\n"));
}

function sha256Of(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function unexpected(kind: string): HostError {
  return new HostError("AIRLOCK_COMPILE_FAILED", `Compiling the component failed: its process answered ${kind}`);
}
