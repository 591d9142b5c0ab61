import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";

/** A pool whose task is empty: it gives its text back. What crosses a thread at all cannot be faster. */
export interface Floor {
  readonly name: string;
  call(text: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * The floors: the host's pool is Piscina without `atomics`, and Piscina by itself waits with them. Which of the two is faster
 * depends on the machine and the load; a bench measures both and takes the faster, so that the host is not flattered.
 */
export function openFloors(threads: number): readonly Floor[] {
  return (["sync", "disabled"] as const).map((atomics) => {
    const piscina = new Piscina({
      filename: fileURLToPath(new URL("./floor-task.js", import.meta.url)),
      name: "identity",
      minThreads: threads,
      maxThreads: threads,
      atomics,
      recordTiming: false,
      env: {},
      argv: [],
      execArgv: [],
    });
    return {
      name: `floor, atomics ${atomics}`,
      call: (text) => piscina.run(text) as Promise<string>,
      close: () => piscina.destroy(),
    };
  });
}
