// The whole pipeline on real data: builds the bundled capabilities, shows what admission says of them, runs them, stops one by
// its fuel, then lets hostile guests try. Run with: npm run demo
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost, type Host, type Outcome } from "airlock";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = join(root, "node_modules");
const airlock = join(root, "dist", "faces", "cli", "main.js");

/** Each of these is stopped by another limit. */
const HOSTILE = [
  "loop-forever",
  "loop-of-fills",
  "recurse-forever",
  "grow-memory",
  "big-table",
  "huge-output",
  "lying-length",
  "emit-flood",
  "log-flood",
  "random-flood",
  "late-host-reply",
  "import-sockets",
  "hostile-export-name",
  "compile-bomb",
];

title("1. Build: TypeScript to components");
for (const name of ["csv-profile", "redact"]) command("build", join(root, "capabilities", name));

title("2. Admission: what a component may reach, before any of it runs");
command("inspect", join(root, "capabilities", "csv-profile", "dist"));

await using host = await createHost({ threads: 2 });
const csvProfile = await host.install(join(root, "capabilities", "csv-profile", "dist"));
const redact = await host.install(join(root, "capabilities", "redact", "dist"));
host.subscribe({}, ({ providerId, type, payload }) =>
  console.log(`  event  ${providerId} ${type} ${JSON.stringify(payload).slice(0, 110)}`),
);

title("3. csv-profile on seattle-weather.csv (package vega-datasets)");
const csv = readFileSync(join(packages, "vega-datasets", "data", "seattle-weather.csv"), "utf8");
const profile = await run(host, csvProfile.id, { csv });
if (profile.kind === "succeeded") showColumns(profile.output);

title("4. redact on a real text (the code of conduct of the package piscina, and a line of ours)");
const conduct = readFileSync(join(packages, "piscina", "CODE_OF_CONDUCT.md"), "utf8");
const text = `${conduct.slice(-700)}\nCall +44 20 7946 0958, pay DE89 3704 0044 0532 0130 00 or card 4111 1111 1111 1111.`;
const redacted = await run(host, redact.id, { text });
if (redacted.kind === "succeeded") console.log(indent((redacted.output as { text: string }).text.slice(-420)));

title("5. The same profile with 5,000,000 units of fuel");
await run(host, csvProfile.id, { csv }, { fuel: 5_000_000 });
await host.close();

title("6. Hostile guests: what stopped each");
process.exitCode = command("doctor", ...HOSTILE.flatMap((name) => ["--guest", name]));

async function run(on: Host, id: string, input: unknown, limits = {}): Promise<Outcome> {
  const outcome = await on.run(id, input, { limits }).outcome;
  const { usage, events } = outcome;
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  console.log(`  ended  ${outcome.kind}${"limit" in outcome ? ` (${outcome.limit})` : ""}`);
  console.log(`  fuel   ${usage.fuel.toLocaleString("en")} of ${outcome.limits.fuel.toLocaleString("en")}`);
  console.log(
    `  memory ${(usage.peakMemoryBytes / 2 ** 20).toFixed(1)} MiB of ${outcome.limits.memoryBytes / 2 ** 20} MiB`,
  );
  console.log(
    `  time   queue ${ms(usage.queueMs)}, setup ${ms(usage.setupMs)}, guest ${ms(usage.guestMs)}, host ${ms(usage.hostMs)}`,
  );
  console.log(`  events ${events.accepted} accepted, ${events.refused} refused`);
  console.log(`  limits ${JSON.stringify(outcome.limits)}`);
  return outcome;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly missing: number;
  readonly distinct: number;
  readonly numbers?: { readonly min: number; readonly max: number; readonly quantiles: { readonly p50: number } };
}

function showColumns(output: unknown): void {
  const { columns } = output as { readonly columns: readonly Column[] };
  console.table(
    columns.map(({ name, type, missing, distinct, numbers }) => ({
      name,
      type,
      missing,
      distinct,
      min: numbers?.min ?? "",
      median: numbers?.quantiles.p50 ?? "",
      max: numbers?.max ?? "",
    })),
  );
}

function command(...args: string[]): number {
  console.log(`$ airlock ${args.map((arg) => arg.replace(`${root}/`, "")).join(" ")}`);
  return spawnSync(process.execPath, [airlock, ...args], { stdio: "inherit" }).status ?? 4;
}

function title(text: string): void {
  console.log(`\n=== ${text}`);
}

function indent(text: string): string {
  return text.replace(/^/gm, "    ");
}
