import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { HostError } from "../errors/errors.ts";
import type { EntryPoint } from "./entry-point.ts";
import type { CompileReply, CompileRequest } from "./protocol.ts";

/** Bounds on one throw-away process. */
export interface ProcessBounds {
  /** Milliseconds for one answer, the process being there; one that takes longer is killed. */
  readonly timeoutMs: number;
  /** Resident bytes; a process that holds more is killed (watched on Linux, elsewhere V8's heap limit alone holds). */
  readonly memoryBytes: number;
}

const WATCH_INTERVAL_MS = 50;
const START_TIMEOUT_MS = 60_000;
const HEAP_MEGABYTES = 1024;

/** A child process that serves one component and is then killed, whatever it answered. */
export class ThrowAwayProcess {
  readonly #child: ChildProcess;
  readonly #bounds: ProcessBounds;
  readonly #ready: Promise<void>;
  #markReady: () => void = () => {};
  #waiting: { resolve(reply: CompileReply): void; reject(error: Error): void } | null = null;
  #dead: string | null = null;

  constructor(entry: EntryPoint, bounds: ProcessBounds) {
    this.#bounds = bounds;
    this.#ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
    this.#child = fork(entry.file, [], {
      execArgv: [...entry.execArgv, `--max-old-space-size=${HEAP_MEGABYTES}`],
      // Nothing of the host's environment: the process reads hostile bytes.
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("message", (reply: CompileReply) => this.#receive(reply));
    this.#child.on("error", (error) => this.#die(error.message));
    this.#child.on("exit", (code, signal) =>
      this.#die(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`),
    );
    this.#setRef(false);
  }

  get alive(): boolean {
    return this.#dead === null;
  }

  /** Asks once and waits within the bounds. Throws AIRLOCK_COMPILE_TIMED_OUT, AIRLOCK_COMPILE_FAILED or what the process refused with. */
  async ask(request: CompileRequest): Promise<CompileReply> {
    if (this.#waiting !== null) throw new Error("One question at a time");
    this.#setRef(true);
    let watch: NodeJS.Timeout | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<CompileReply>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        if (this.#dead !== null) return this.#die(this.#dead);
        timer = setTimeout(() => this.#stop(notStarted()), START_TIMEOUT_MS);
        watch = setInterval(() => this.#watchMemory(), WATCH_INTERVAL_MS);
        // The component answers for its own time, not for how long a busy machine takes to start a process.
        void this.#ready.then(() => {
          if (this.#waiting === null) return;
          clearTimeout(timer);
          timer = setTimeout(() => this.#stop(timedOut(this.#bounds.timeoutMs)), this.#bounds.timeoutMs);
          this.#child.send(request, (error) => {
            if (error) this.#die(error.message);
          });
        });
      });
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      this.#waiting = null;
      this.#setRef(false);
    }
  }

  /** Resolves when the process has started, or has died. */
  started(): Promise<void> {
    return this.#ready;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #receive(reply: CompileReply): void {
    if (reply.kind === "ready") this.#markReady();
    else if (reply.kind === "refused") this.#waiting?.reject(HostError.fromRecord(reply.error));
    else this.#waiting?.resolve(reply);
  }

  #watchMemory(): void {
    const resident = residentBytes(this.#child.pid);
    if (resident > this.#bounds.memoryBytes) this.#stop(tooMuchMemory(resident, this.#bounds.memoryBytes));
  }

  #stop(error: HostError): void {
    this.#waiting?.reject(error);
    this.kill();
  }

  #die(why: string): void {
    this.#dead ??= why;
    this.#markReady();
    this.#waiting?.reject(
      new HostError("AIRLOCK_COMPILE_FAILED", `Compiling the component failed: its process is gone, ${why}`),
    );
  }

  /** An idle spare must not keep the application alive. */
  #setRef(on: boolean): void {
    if (on) {
      this.#child.ref();
      this.#child.channel?.ref();
    } else {
      this.#child.unref();
      this.#child.channel?.unref();
    }
  }
}

function residentBytes(pid: number | undefined): number {
  if (process.platform !== "linux" || pid === undefined) return 0;
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096;
  } catch {
    return 0;
  }
}

function notStarted(): HostError {
  return new HostError(
    "AIRLOCK_COMPILE_FAILED",
    `Compiling the component failed: its process did not start within ${START_TIMEOUT_MS} ms`,
  );
}

function timedOut(timeoutMs: number): HostError {
  return new HostError(
    "AIRLOCK_COMPILE_TIMED_OUT",
    `Compiling the component took more than ${timeoutMs} ms: it was stopped; simplify the component or raise compile.timeoutMs`,
  );
}

function tooMuchMemory(resident: number, bound: number): HostError {
  return new HostError(
    "AIRLOCK_COMPILE_FAILED",
    `Compiling the component took ${resident} bytes of memory: it was stopped at ${bound}; simplify the component or raise compile.memoryBytes`,
  );
}
