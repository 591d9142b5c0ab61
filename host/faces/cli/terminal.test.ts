import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { HostError } from "../../errors/errors.ts";
import { tellProblem } from "./problem.ts";
import { Terminal } from "./terminal.ts";

describe("Terminal", () => {
  it("colours a terminal, but no pipe, no dumb terminal and nobody who said NO_COLOR", () => {
    const coloured = (isTTY: boolean, environment: NodeJS.ProcessEnv) =>
      new Terminal(stream(isTTY), stream(isTTY), environment).outPaint.good("x") !== "x";
    expect(coloured(true, {})).toBe(true);
    expect(coloured(false, {})).toBe(false);
    expect(coloured(true, { NO_COLOR: "1" })).toBe(false);
    expect(coloured(true, { TERM: "dumb" })).toBe(false);
  });

  it("takes the live line away before a line and puts it back after it", async () => {
    const err = stream(true);
    const terminal = new Terminal(stream(true), err, {});
    terminal.live("working");
    terminal.note("a line");
    await terminal.flush();
    expect(err.read().toString()).toBe("\r\u001b[Kworking\r\u001b[Ka line\nworking\r\u001b[K");
  });

  it("writes no live line into a pipe and cuts one that would wrap", () => {
    const [pipe, narrow] = [stream(false), stream(true, 5)];
    new Terminal(pipe, pipe, {}).live("working");
    new Terminal(narrow, narrow, {}).live("working");
    expect(pipe.read()).toBeNull();
    expect(narrow.read().toString()).toBe("\r\u001b[Kwork");
  });

  it("streams pieces that are safe to show, keeps characters whole, and begins the next line on its own", () => {
    const out = stream(false);
    const terminal = new Terminal(out, stream(false), {});
    for (const piece of ["a\u001b[2J\tb\n", "", "c\ud83c", "\udf0d", "\ud83c"]) terminal.stream(piece);
    terminal.print("next");
    terminal.print("last");
    expect(out.read().toString()).toBe("a\\u001b[2J\tb\nc\u{1f30d}\\ud83c\nnext\nlast\n");
  });

  it("lets a note begin on its own where text and notes are one terminal", () => {
    const both = stream(true);
    const terminal = new Terminal(both, both, {});
    terminal.stream("text");
    terminal.note("note");
    expect(both.read().toString()).toBe("text\nnote\n");
  });

  it("drops what is left when the reader has gone", async () => {
    const out = stream(false);
    const terminal = new Terminal(out, stream(false), {});
    out.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await new Promise((resolve) => out.once("close", resolve));
    terminal.print("nobody reads this");
    await terminal.flush();
    expect(out.read()).toBeNull();
  });
});

describe("tellProblem()", () => {
  it("says an error in one escaped line, the other problems below, and answers its exit code", () => {
    const { told, exit } = tell(
      new HostError("AIRLOCK_MANIFEST_INVALID", "first\u001b[2J (and 1 more)", {
        details: { problems: ["first", "second\n"] },
      }),
    );
    expect(told).toEqual({ out: "", err: "airlock: first\\u001b[2J (and 1 more)\n  second\\u000a\n" });
    expect(exit).toBe(2);
  });

  it("gives the same as one JSON object", () => {
    const { told, exit } = tell(new HostError("AIRLOCK_COMPILE_FAILED", "no", { details: { big: 1n } }), true);
    expect(told.err).toBe("");
    expect(JSON.parse(told.out)).toEqual({
      error: { code: "AIRLOCK_COMPILE_FAILED", message: "no", details: { big: "1" } },
    });
    expect(exit).toBe(3);
  });

  it("calls what is no HostError a defect of the host, without its stack", () => {
    const { told, exit } = tell(new TypeError("x is\nundefined"));
    expect(told.err).toBe(
      "airlock: Unexpected error: x is undefined\nThis is a defect of Airlock. AIRLOCK_DEBUG=1 shows where it happened.\n",
    );
    expect(exit).toBe(4);
    expect(JSON.parse(tell(new TypeError("x"), true).told.out).error.code).toBe("AIRLOCK_CLI_DEFECT");
  });

  it("leads to the report of a refusal, and nowhere when there is none", () => {
    const refused = (details: object) => {
      const error = new HostError("AIRLOCK_ADMISSION_TOO_LARGE", "no", { details });
      return tell(error, false, false, "my package").told.err;
    };
    expect(refused({ violations: [] })).toBe('airlock: no\nThe whole report: airlock inspect "my package"\n');
    expect(refused({ path: "x", reason: "y" })).toBe("airlock: no\n");
  });

  it("adds the stack when debugging", () => {
    expect(tell(new TypeError("x"), false, true).told.err).toContain("terminal.test.ts");
  });
});

function tell(
  thrown: unknown,
  json = false,
  debug = false,
  path: string | null = null,
): { told: { out: string; err: string }; exit: number } {
  const [out, err] = [stream(false), stream(false)];
  const exit = tellProblem(thrown, new Terminal(out, err, {}), { json, debug, path });
  return { told: { out: String(out.read() ?? ""), err: String(err.read() ?? "") }, exit };
}

function stream(isTTY: boolean, columns = 80): PassThrough & { isTTY: boolean; columns: number } {
  return Object.assign(new PassThrough(), { isTTY, columns });
}
