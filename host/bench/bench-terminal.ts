import { parseArgs } from "node:util";
import { describeMachine, machineLine } from "./machine.ts";

/** What every bench may be told. */
export interface BenchFlags {
  /** Fewer and shorter rounds. */
  readonly quick: boolean;
  /** One JSON object instead of lines. */
  readonly json: boolean;
  /** Everything, also what takes minutes. */
  readonly full: boolean;
}

export function readFlags(): BenchFlags {
  const flag = { type: "boolean", default: false } as const;
  return parseArgs({ options: { quick: flag, json: flag, full: flag } }).values;
}

/** Prints the machine, then what was measured. */
export function print({ json }: BenchFlags, figures: object, lines: readonly string[]): void {
  const machine = describeMachine();
  const text = json ? JSON.stringify({ machine, ...figures }, null, 2) : [machineLine(machine), ...lines].join("\n");
  process.stdout.write(`${text}\n`);
}
