import type { OutcomeKind } from "../errors/errors.ts";

/** How a guest is to end. Only what is named is compared. */
export type Expectation =
  /** A violation code of admission, or the code of the HostError that `install` or `run` throws. */
  | { readonly refused: string; readonly message?: string }
  | {
      readonly outcome: OutcomeKind;
      readonly limit?: string;
      readonly phase?: string;
      readonly output?: unknown;
      readonly events?: { readonly accepted: number; readonly refused: number };
      /** Bytes of log lines that were dropped. */
      readonly logDropped?: number;
      /** Part of the text that the outcome carries. */
      readonly message?: string;
    };

/** What the doctor asks of a guest. */
export interface Attempt {
  readonly operation?: string;
  readonly input?: unknown;
  readonly limits?: Readonly<Record<string, number>>;
  readonly deadlineMs?: number;
  /** Milliseconds after which the run is cancelled. */
  readonly cancelAfter?: number;
}

/** The JSON beside a guest. */
export interface Definition {
  /** One sentence for people. */
  readonly description: string;
  /** What the guest is in the suite for: a limit, an admission code, or `ending:<kind>`. */
  readonly proves: string;
  /** Fields of the manifest that differ from what the doctor fills in. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly run: Attempt;
  readonly expect: Expectation;
}

interface Written extends Partial<Definition> {
  /** The expectation from Node 22 on, whose engine runs what Node 20 refuses. */
  readonly expectFromNode22?: Expectation;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": ["description", "proves", "manifest", "run", "expect", "expectFromNode22"],
  run: ["operation", "input", "limits", "deadlineMs", "cancelAfter"],
  expect: ["refused", "outcome", "limit", "phase", "output", "events", "logDropped", "message"],
  expectFromNode22: ["refused", "outcome", "limit", "phase", "output", "events", "logDropped", "message"],
};

/** Reads the JSON beside a guest. The files ship with the package, so a mistake in one is a defect: a plain Error. */
export function parseDefinition(text: string, name: string): Definition {
  const written = JSON.parse(text) as Written & Record<string, unknown>;
  for (const [part, known] of Object.entries(KEYS)) {
    const value = part === "" ? written : (written[part] ?? {});
    const unknown = Object.keys(value).find((key) => !known.includes(key));
    if (unknown !== undefined)
      throw new Error(`Guest ${name}: ${part === "" ? "it" : part} has the unknown key ${JSON.stringify(unknown)}`);
  }
  const { description, proves, manifest = {}, run = {}, expectFromNode22 } = written;
  const newer = Number(process.versions.node.split(".")[0]) >= 22;
  const expect = newer && expectFromNode22 !== undefined ? expectFromNode22 : written.expect;
  if (description === undefined || proves === undefined || expect === undefined)
    throw new Error(`Guest ${name}: description, proves and expect are wanted`);
  return { description, proves, manifest, run, expect };
}
