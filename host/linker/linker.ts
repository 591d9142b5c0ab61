/**
 * The linker. In: a valid component's bytes, later its core modules and its imports. Out: a `LinkPlan`, plain data, or why there
 * is none; from a plan, a component instance that is called with the values that jco's glue takes and gives.
 * Holds always: nothing is generated, what a guest hands over is checked and paid for before it is copied, names stay data.
 * Not promised: resources that the host shares, the asynchronous ABI.
 */
export { type LinkedInstance, Linker, type LinkInit } from "./link.ts";
export type { CoreItem, LinkPlan, LinkStep } from "./link-plan.ts";
export { type Planned, planLink } from "./plan.ts";
