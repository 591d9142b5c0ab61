import type { BurnOrder, Burnt } from "./burn.ts";
import { burnOn, type NewerNode } from "./newer-nodes.ts";

/** Flags of V8 under which code runs on one compiler, on the other, or on the one and then the other. */
export const TIERS: Readonly<Record<string, readonly string[]>> = {
  liftoff: ["--liftoff-only"],
  turbofan: ["--no-liftoff"],
  "liftoff for good": ["--liftoff", "--no-wasm-tier-up"],
  both: ["--wasm-tiering-budget=1000"],
};

/** Burns the orders on each tier. */
export function burnOnTiers(node: NewerNode, orders: readonly BurnOrder[]): Record<string, (readonly Burnt[])[]> {
  return Object.fromEntries(
    Object.entries(TIERS).map(([tier, flags]) => [tier, burnOn(node, orders, flags).map(({ calls }) => calls)]),
  );
}
