// Embedding Airlock: install a package, run it under limits, read its events and its outcome.
// Run with: npm run example (after npm ci); it needs capabilities/redact built, which the script does.
import { createHost } from "airlock";

await using host = await createHost({ threads: 2, limits: { caps: { memoryBytes: 128 * 1024 * 1024 } } });

// Nothing of the component runs before every check has passed; a refusal throws and carries the whole report.
const { id, operations } = await host.install("capabilities/redact/dist");
console.log(`installed ${id}, operations: ${operations.join(", ")}`);

// Events are committed when the run has succeeded.
host.subscribe({ capability: "airlock.redact" }, ({ type, payload }) => console.log("event", type, payload));

const run = host.run(id, { text: "Write to ada@example.org, card 4111 1111 1111 1111." }, { deadlineMs: 5_000 });
const outcome = await run.outcome;
switch (outcome.kind) {
  case "succeeded":
    console.log("output", outcome.output);
    break;
  case "failed":
    console.log("declined", outcome.failure.code, outcome.failure.message);
    break;
  default:
    console.log("ended", outcome.kind);
}
console.log(`fuel ${outcome.usage.fuel} of ${outcome.limits.fuel}, memory ${outcome.usage.peakMemoryBytes} bytes`);

// The same request with a tank that is too small: an outcome, not an exception, and the host goes on.
const stopped = await host.run(id, { text: "ada@example.org" }, { limits: { fuel: 10_000 } }).outcome;
console.log("with 10,000 units of fuel:", stopped.kind);
