import type { ImportedInterface, ImportScope } from "./scope.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { cliInterfaces } from "./wasi-cli.ts";
import { clockInterfaces } from "./wasi-clocks.ts";
import { filesystemInterfaces } from "./wasi-filesystem.ts";
import { wasiPoll } from "./wasi-poll.ts";
import { randomInterfaces } from "./wasi-random.ts";
import { wasiStreams } from "./wasi-streams.ts";

/**
 * WASI 0.2 for one run, by interface without version. All versions of 0.2 that a component imports share one object: they
 * only ever added to one another. What is not here is refused by admission.
 */
export function wasiInterfaces(scope: ImportScope): Record<string, ImportedInterface> {
  const clock = new VirtualClock(scope);
  const poll = wasiPoll(scope, clock);
  const streams = wasiStreams(scope, poll);
  return {
    ...poll.interfaces,
    ...streams.interfaces,
    ...clockInterfaces(scope, clock, poll),
    ...randomInterfaces(scope),
    ...cliInterfaces(scope, streams),
    ...filesystemInterfaces(scope, streams),
  };
}
