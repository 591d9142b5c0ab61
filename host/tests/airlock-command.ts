import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The command as a person starts it: from the sources through tsx, or from dist/ in the project `built`. */
const COMMAND =
  process.env["AIRLOCK_TESTS_ON"] === "dist"
    ? [join(root, "dist/faces/cli/main.js")]
    : [
        "--import",
        pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href,
        join(root, "host/faces/cli/main.ts"),
      ];

/** How the command ended. */
export interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function airlock(...args: string[]): Promise<Answer> {
  return ended(start(...args));
}

export function airlockWith(stdin: string, ...args: string[]): Promise<Answer> {
  const child = start(...args);
  child.stdin.end(stdin);
  return ended(child);
}

/** In another folder, with more in its environment. */
export function airlockIn(folder: string, more: Readonly<Record<string, string>>, ...args: string[]): Promise<Answer> {
  const env = { ...process.env, ...more };
  return ended(spawn(process.execPath, [...COMMAND, ...args], { cwd: folder, env, timeout: 50_000 }));
}

export function start(...args: string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...COMMAND, ...args], { timeout: 50_000 });
}

export function ended(child: ChildProcessWithoutNullStreams): Promise<Answer> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk) => stdout.push(chunk));
  child.stderr.on("data", (chunk) => stderr.push(chunk));
  return new Promise((resolve) => {
    child.on("close", (status) => {
      resolve({ status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}
