import { type BurnOrder, type Burnt, burn } from "./burn.ts";
import { burnOn, type NewerNode } from "./newer-nodes.ts";

/** Flags of V8 under which code runs on one compiler, on the other, or on the one and then the other. */
export const TIERS: Readonly<Record<string, readonly string[]>> = {
  liftoff: ["--liftoff-only"],
  turbofan: ["--no-liftoff"],
  "liftoff for good": ["--liftoff", "--no-wasm-tier-up"],
  both: ["--wasm-tiering-budget=1000"],
};

/** Burns the orders on each tier of that version, and `here`, in the process that runs the tests. */
export function burnOnTiers(node: NewerNode, orders: readonly BurnOrder[]): Record<string, (readonly Burnt[])[]> {
  const tiers = Object.entries(TIERS).map(([tier, flags]) => [tier, burnOn(node, orders, flags)] as const);
  // By way of JSON, like the others.
  const here = JSON.parse(JSON.stringify(burn(orders))) as ReturnType<typeof burn>;
  const reports = [...tiers, ["here", here] as const];
  return Object.fromEntries(reports.map(([tier, each]) => [tier, each.map(({ calls }) => calls)]));
}
