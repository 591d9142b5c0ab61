import { guardAll } from "./guard.ts";
import { LineLog } from "./line-log.ts";
import { PRICES } from "./prices.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";
import { CLOSED, type WasiStreams } from "./wasi-streams.ts";

/**
 * `wasi:cli` by interface, with nothing in it: no environment, no arguments, no directory, closed input, no terminal.
 * Output goes to the run's log. `exit` ends the run, never the process.
 */
export function cliInterfaces(scope: ImportScope, streams: WasiStreams): Record<string, ImportedInterface> {
  const output = new LineLog(scope, "info");
  const errors = new LineLog(scope, "error");
  const nothing = {
    read(): never {
      throw CLOSED;
    },
  };
  const exit = (): never => scope.stop({ kind: "trapped", what: "exit called" });
  const guarded = <T extends Record<string, (...args: never[]) => unknown>>(name: string, functions: T) => ({
    [name]: guardAll(scope, name, PRICES.local, functions),
  });
  return {
    ...guarded("wasi:cli/environment", {
      getEnvironment: () => [],
      getArguments: () => [],
      initialCwd: () => undefined,
    }),
    ...guarded("wasi:cli/exit", { exit, exitWithCode: exit }),
    ...guarded("wasi:cli/stdin", { getStdin: () => streams.inputStream(nothing) }),
    ...guarded("wasi:cli/stdout", { getStdout: () => streams.outputStream(output) }),
    ...guarded("wasi:cli/stderr", { getStderr: () => streams.outputStream(errors) }),
    "wasi:cli/terminal-input": { TerminalInput: class TerminalInput {} },
    "wasi:cli/terminal-output": { TerminalOutput: class TerminalOutput {} },
    ...guarded("wasi:cli/terminal-stdin", { getTerminalStdin: () => undefined }),
    ...guarded("wasi:cli/terminal-stdout", { getTerminalStdout: () => undefined }),
    ...guarded("wasi:cli/terminal-stderr", { getTerminalStderr: () => undefined }),
  };
}
