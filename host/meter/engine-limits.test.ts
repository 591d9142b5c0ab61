import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { REFUSED } from "./meter.ts";
import type { BurnOrder, BurnReport } from "./testing/burn.ts";
import { assembleText, PLENTY } from "./testing/guest.ts";

/** Less than the counters allow, and more than what the process itself needs. */
const PAGES = 500;
const ELEMENTS = 500;

/** Each function notes what a guest would see if the growth were answered; so would the handler. */
const GUEST = `(module (import "host" "note" (func $note (param i32) (result i32)))
  (memory (export "m") 1) (table $t 1 funcref)
  (func $memory (param i32) local.get 0 memory.grow call $note drop)
  (func $table (param i32) ref.null func local.get 0 table.grow $t call $note drop)
  (func (export "memory") (param i32) try local.get 0 call $memory catch_all i32.const -2 call $note drop end)
  (func (export "table") (param i32) try local.get 0 call $table catch_all i32.const -2 call $note drop end))`;

/** Burns the orders in a process whose engine has little to give. */
function burnOnPoorEngine(orders: readonly BurnOrder[]): BurnReport[] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const program = fileURLToPath(new URL("testing/burn-main.ts", import.meta.url));
  const flags = [`--wasm-max-mem-pages=${PAGES}`, `--wasm-max-table-size=${ELEMENTS}`, "--import", tsx];
  const input = JSON.stringify(orders);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program], { input, encoding: "utf8" });
  if (status !== 0) throw new Error(`The process ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as BurnReport[];
}

test("growth within every limit that the engine cannot give traps: the guest never sees -1, and no handler sees the trap", async () => {
  const bytes = Buffer.from(await assembleText(GUEST)).toString("base64");
  const grow = (what: string, most: number): BurnOrder => ({
    bytes,
    calls: [
      [what, most - 1],
      [what, 1],
    ],
  });
  const reports = burnOnPoorEngine([grow("memory", PAGES), grow("table", ELEMENTS)]);
  const [pages, elements] = [Number(PLENTY.pages), Number(PLENTY.elements)];
  const endings = (left: readonly [pages: number, elements: number]) => [
    { ending: "returned", notes: [{ argument: 1 }], left: [...left, REFUSED.none] },
    { ending: "trapped", notes: [], left: [...left, REFUSED.engine] },
  ];
  expect(reports).toMatchObject([
    { calls: endings([pages - PAGES + 1, elements]) },
    { calls: endings([pages, elements - ELEMENTS + 1]) },
  ]);
});
