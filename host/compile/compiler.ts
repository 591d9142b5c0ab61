import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Checker, CheckReport } from "../admission/admission.ts";
import type { ComponentInfo } from "../component/component.ts";
import { HostError } from "../errors/errors.ts";
import { SCHEDULE, scheduleId } from "../meter/meter.ts";
import { type Artifact, toArtifact } from "./artifact.ts";
import { ArtifactCache, type CacheStats } from "./cache.ts";
import { type EntryPoint, findEntryPoint } from "./entry-point.ts";
import { type ProcessBounds, ThrowAwayProcess } from "./throw-away-process.ts";

/** How components are compiled. */
export interface CompileOptions extends ProcessBounds {
  /** Artifacts kept in memory. */
  readonly cacheEntries: number;
  /** Processes started ahead, 0 or 1. */
  readonly spares: number;
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
  /** What was found in bytes that were checked before, the oldest first. */
  readonly #checked = new Map<string, CheckReport>();
  readonly #open = new Set<ThrowAwayProcess>();
  #spare: ThrowAwayProcess | null = null;
  #closed = false;

  constructor(options: CompileOptions) {
    this.#options = options;
    this.#entry = findEntryPoint(import.meta.url, "compile", "child");
    this.#cache = new ArtifactCache(options.cacheEntries);
  }

  open(bytes: Uint8Array): CompileSession {
    let taken: ThrowAwayProcess | undefined;
    const child = (): ThrowAwayProcess => {
      taken ??= this.#take();
      return taken;
    };
    return {
      check: async (info, schemas) => {
        const key = createHash("sha256").update(bytes).update(JSON.stringify(schemas)).digest("hex");
        const known = this.#checked.get(key);
        if (known !== undefined) return known;
        const coreModules = info.coreModules.map(({ start, end }) => ({ start, end }));
        const reply = await child().ask({ kind: "check", bytes, coreModules, schemas });
        if (reply.kind !== "checked") throw unexpected(reply.kind);
        this.#remember(key, reply.report);
        return reply.report;
      },
      compile: async ({ sha256, info }, exact) => {
        const key = artifactKey(sha256, exact);
        const known = this.#cache.get(key);
        if (known !== undefined) return known;
        const importNames = info.imports.map(({ name }) => name);
        const reply = await child().ask({ kind: "compile", bytes, importNames, exact });
        if (reply.kind !== "compiled") throw unexpected(reply.kind);
        const artifact = await toArtifact(key, sha256, exact, reply.component);
        this.#cache.set(artifact);
        return artifact;
      },
      close: () => {
        if (taken !== undefined) this.#drop(taken);
      },
    };
  }

  stats(): CacheStats {
    return this.#cache.stats();
  }

  close(): void {
    this.#closed = true;
    this.#spare?.kill();
    this.#spare = null;
    for (const child of this.#open) child.kill();
    this.#open.clear();
  }

  /** The spare, or a new process; another spare is started as soon as this one is up. */
  #take(): ThrowAwayProcess {
    if (this.#closed) throw new HostError("AIRLOCK_HOST_CLOSED", "Cannot compile: the host is closed");
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

let transpilerVersion: string | undefined;

function artifactKey(sha256: string, exact: boolean): string {
  transpilerVersion ??= versionOf("@bytecodealliance/jco-transpile");
  const parts = [sha256, scheduleId(SCHEDULE), exact ? "exact" : "plain", transpilerVersion, process.versions.v8];
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

function versionOf(name: string): string {
  // The package exports no package.json, so it is found from the file that it does export.
  const entry = createRequire(import.meta.url).resolve(name);
  const root = entry.slice(0, entry.lastIndexOf(name) + name.length);
  return (JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as { version: string }).version;
}

function unexpected(kind: string): HostError {
  return new HostError("AIRLOCK_COMPILE_FAILED", `Compiling the component failed: its process answered ${kind}`);
}
