// A connector of the application's own: how a guest reaches the outside, with the host between the two.
// Run with: npm run example:connector (after npm ci); it needs the capability beside it built, which the script does.
import { createHost } from "airlock";
import { ratesConnector } from "./rates-connector.ts";

const rates: Readonly<Record<string, number>> = { "EUR-USD": 1.25, "EUR-JPY": 160 };
const connector = ratesConnector(async (from, to) => {
  const rate = rates[`${from}-${to}`];
  // Whatever is thrown that is no ConnectorError stays here: its text may hold an address or a key.
  if (rate === undefined) throw new Error(`no row in https://rates.internal for ${from}-${to}`);
  return rate;
});

await using host = await createHost({ threads: 1, connectors: [{ connector, capabilities: ["acme.prices"] }] });
const { id } = await host.install("examples/write-connector/capability/dist");

for (const currency of ["USD", "JPY", "XXX", "dollars", "see https://evil.example"]) {
  const outcome = await host.run<unknown, string>(id, { euros: 100, currency }).outcome;
  console.log(outcome.kind === "succeeded" ? outcome.output : outcome.kind);
  // What is kept of the call, for a log or a receipt: nothing of what was asked or answered.
  for (const { connectorId, resolvedVersion, resultClass, failureClass } of outcome.connectorCalls ?? [])
    console.log(`  ${connectorId}@${resolvedVersion}: ${failureClass ?? resultClass}`);
}
