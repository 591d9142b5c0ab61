import type { EmbedderImports } from "../index.ts";

/**
 * What the doctor offers to its guests as an embedding application would. `echo` exists in two versions that answer differently;
 * `unkind` is an application with mistakes in it.
 */
export const OFFERED: EmbedderImports = {
  "doctor:offers/echo@1.0.0": {
    echo: (text: string) => text,
    /** `length` characters. */
    text: (length: number) => "x".repeat(length),
  },
  "doctor:offers/echo@2.0.0": { echo: (text: string) => `${text} from 2.0.0` },
  "doctor:offers/unkind@1.0.0": {
    /** Answers when the run is over, so after its time-out: nobody may hear it. */
    late: (_text: string, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => setImmediate(resolve, "late"))),
    wrongType: () => "not a number",
    throws: () => {
      throw new Error("a secret of the application");
    },
  },
};
