import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { runCommandLine } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

/** What needs no guest; host/tests/cli.test.ts has the command as a process. */

describe("runCommandLine()", () => {
  it("prints its help without arguments, and a help with examples for each command", async () => {
    const help = await commandLine();
    expect(help).toMatchObject({ exit: 0, err: "", out: expect.stringContaining("\nExamples:\n") });
    for (const command of ["inspect", "run", "providers", "build", "meter", "doctor"]) {
      expect(help.out).toContain(`  ${command} `);
      for (const args of [
        [command, "--help"],
        ["help", command],
      ]) {
        expect(await commandLine(...args)).toMatchObject({
          exit: 0,
          err: "",
          out: expect.stringMatching(new RegExp(`^Usage: airlock ${command} [^]*\nExamples:\n  airlock ${command}`)),
        });
      }
    }
    const below = await commandLine("providers", "command", "--help");
    expect(below.out).toMatch(/^Usage: airlock providers command (?:.|\n)*\nExamples:\n {2}airlock providers command /);
    expect((await commandLine("run", "--help")).out).toMatch(/^ {2}fuel +2,000,000,000 {2}Instructions/m);
  });

  it.each([
    [["inspct", "x"], "Unknown command 'inspct': did you mean \"inspect\"?"],
    [["xyzzy"], "Unknown command 'xyzzy'; airlock --help shows what there is"],
    [["run", "x", "--jsn"], "Unknown option '--jsn': did you mean \"--json\"?"],
    [["--jsn"], "Unknown option '--jsn'; airlock --help shows what there is"],
    [["run"], "Missing required argument 'package'; airlock run --help shows what there is"],
    [["run", "x", "y"], /^Too many arguments for 'run'\. Expected 1 argument but got 2; airlock run --help/],
    [
      ["run", "x", "--limit"],
      "Option '-l, --limit <key=value>' argument missing; airlock run --help shows what there is",
    ],
    [
      ["run", "x", "-i", "a", "--value", "1"],
      /^Option '-i, --input <file>' cannot be used with option '--value <json>'/,
    ],
    [
      ["run", "x", "--tier", "warm"],
      "Option '--tier <tier>' argument 'warm' is invalid. Allowed choices are reset, recycled, fresh",
    ],
    [["run", "x", "--limit", "fule=1"], 'limits has the unknown limit "fule": did you mean "fuel"?'],
    [["run", "x", "--limit", "fuel=-1"], /^limits.fuel is -1: a whole number of fuel from 1 to /],
    [["run", "x", "--limit", "fuel=lots"], /^--limit fuel is "lots": 2000000, .* is wanted$/],
    [["run", "x", "--limit", "fuel"], '--limit is "fuel": key=value is wanted, such as fuel=2e9'],
    [["run", "x", "--deadline", "-1s"], '--deadline is "-1s": a time above 0 is wanted'],
    [["run", "x\u001b[2J"], 'Cannot read the package "x\\u001b[2J": there is no such file'],
    [["\u001b[2J"], /^Unknown command '\\u001b\[2J'/],
    [["inspect", "no-such.wasm"], 'Cannot read the package "no-such.wasm": there is no such file'],
    [["inspect", "host"], /^Cannot read the manifest ".*": there is no such file$/],
    [["build", "host"], /^Cannot read the manifest ".*": there is no such file$/],
    [["meter", "no-such.wasm"], 'Cannot read the file "no-such.wasm": there is no such file'],
    [["meter", "host"], /^Cannot read the component ".*": it is a folder, a regular file is wanted$/],
    [["providers"], /^There is no airlock\.providers\.json in this folder: name a file with --providers; /],
    [["providers", "comand", "x", "y"], /^Too many arguments for 'providers'\..*: did you mean "command"\?$/],
    [["providers", "command", "x"], /^Missing required argument 'command'; airlock providers command --help shows/],
    [["providers", "command", "x", "y", "--jsn"], "Unknown option '--jsn': did you mean \"--json\"?"],
    [["providers", "command", "x", "y", "--provider", "z"], /did you mean "--providers"\?$/],
    [["run", "x", "--providers", "none.json"], 'Cannot read the file of providers "none.json": there is no such file'],
    [["run", "x", "--providers", "host"], /^Cannot read the file of providers "host": it is a folder, /],
    [["doctor", "--guest", "loop-forevr"], 'There is no guest "loop-forevr": did you mean "loop-forever"?'],
  ])("%j is bad input, said in one line", async (args, message) => {
    const { exit, out, err } = await commandLine(...args);
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(err).toMatch(/^airlock: [^\n]+\n$/);
    const said = err.slice("airlock: ".length, -1);
    if (typeof message === "string") expect(said).toBe(message);
    else expect(said).toMatch(message);
  });

  it("says errors as one JSON object with --json", async () => {
    const usage = await commandLine("run", "--json");
    expect(usage).toMatchObject({ exit: 2, err: "" });
    expect(JSON.parse(usage.out)).toEqual({
      error: { code: "AIRLOCK_CLI_USAGE", message: expect.stringContaining("'package'"), details: null },
    });
    const missing = await commandLine("run", "no-such", "--json");
    expect(JSON.parse(missing.out).error).toMatchObject({ code: "AIRLOCK_MANIFEST_UNREADABLE" });
  });
});

async function commandLine(...argv: string[]): Promise<{ exit: number; out: string; err: string }> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const exit = await runCommandLine(argv, new Terminal(out, err, {}), false);
  return { exit, out: String(out.read() ?? ""), err: String(err.read() ?? "") };
}
