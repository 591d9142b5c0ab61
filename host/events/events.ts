/**
 * Events. In: what a guest hands to `emit-event`. Out: a valid `Event`, or the reason for a refusal in the words of the
 * WIT interface. Holds always: a declared pair of type and version, a payload that is JSON within depth, size, count and
 * schema; a refusal costs the guest nothing but the call. Not promised: delivery, which comes after success.
 */
export {
  type Event,
  type EventDeclaration,
  EventGate,
  type EventRefusal,
  type EventVerdict,
  parseEvents,
} from "./event-gate.ts";
