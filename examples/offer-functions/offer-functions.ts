// Offering functions of the application to guests: a typed interface in WIT, asynchronous here and a plain call there.
// Run with: npm run example:offer (after npm ci); it needs the capability beside it built, which the script does.
import { setTimeout } from "node:timers/promises";
import { createHost, type HostFunctionContext, type RunOptions, WitError } from "airlock";

/** The record `customer`: camelCase keys, a bigint for u64 and s64, undefined for an option that is none. */
interface Customer {
  readonly id: bigint;
  readonly name: string;
  readonly email: string | undefined;
  readonly balanceCents: bigint;
  readonly tier: "standard" | "gold";
}

const customers: readonly Customer[] = [
  { id: 7n, name: "Ada Lovelace", email: "ada@example.org", balanceCents: 0n, tier: "gold" },
  { id: 8n, name: "Charles Babbage", email: undefined, balanceCents: -170_000n, tier: "standard" },
  { id: 9n, name: "John Smith", email: undefined, balanceCents: 0n, tier: "standard" },
  { id: 10n, name: "John Smith", email: "js@example.org", balanceCents: 0n, tier: "standard" },
];

/** The function `find` of the interface: its own parameters, then what the host knows of the call. */
async function find(name: string, { signal }: HostFunctionContext): Promise<Customer> {
  signal.addEventListener("abort", () => console.log(`  find  nobody waits for ${name} any more`));
  // A database, perhaps; whatever it is, it should end with the signal.
  await setTimeout(name === "Slow Joe" ? 60_000 : 5, undefined, { signal });
  const [customer, ...others] = customers.filter((each) => each.name === name);
  // The error value of the WIT `result`. Any other error ends the run, and its text stays here.
  if (customer === undefined) throw new WitError({ tag: "not-found" });
  if (others.length > 0) throw new WitError({ tag: "ambiguous", val: others.length + 1 });
  return customer;
}

// The interface is offered by its full name; a guest gets it when its manifest asks for it under grants.imports.
await using host = await createHost({ threads: 1, imports: { "acme:crm/lookup@1.0.0": { find } } });
const { id } = await host.install("examples/offer-functions/capability/dist");

await offer("Values, and error values that the guest handles:", [
  "Ada Lovelace",
  "Charles Babbage",
  "John Smith",
  "Nobody",
]);
await offer("A lookup that is slower than the run's deadline:", ["Slow Joe"], { deadlineMs: 1_500 });
await offer("More calls than the limit:", ["Ada Lovelace", "Ada Lovelace", "Ada Lovelace"], {
  limits: { hostCalls: 2 },
});

async function offer(title: string, names: readonly string[], options: RunOptions = {}): Promise<void> {
  console.log(title);
  const outcome = await host.run<unknown, string[]>(id, { names }, options).outcome;
  if (outcome.kind === "succeeded") for (const line of outcome.output) console.log(`  guest ${line}`);
  const { hostCalls, hostBytesIn, hostBytesOut, fuelExact } = outcome.usage;
  console.log(`  ended ${outcome.kind}${"limit" in outcome ? ` (${outcome.limit})` : ""}`);
  // A call that was refused is counted. A thread that had to be ended takes its count of bytes with it.
  const bytes = fuelExact ? `, bytes to the guest ${hostBytesIn}, from it ${hostBytesOut}` : "";
  console.log(`  host calls ${hostCalls}${bytes}`);
}
