import { type JsonSchema, type Limits, parseJsonText, type ValueCheck } from "../manifest/manifest.ts";

/** A validated event of a run. */
export interface Event {
  readonly type: string;
  readonly version: string;
  /** The payload, a JSON value. */
  readonly payload: unknown;
}

/** A pair of type and version that a manifest declares. */
export interface EventDeclaration {
  readonly type: string;
  readonly version: string;
  /** JSON Schema of the payload; absent: any JSON value. */
  readonly schema?: JsonSchema;
}

/** Why an event was refused: the variant `event-error` of `airlock:capability/events`. */
export type EventRefusal =
  | { readonly tag: "invalid-payload"; readonly val: string }
  | { readonly tag: "undeclared-event" | "not-subscribable" | "too-large" | "budget-exhausted" };

/** An accepted event is handed on as text, for `parseEvents`: so it crosses to the main thread. */
export type EventVerdict =
  | { readonly kind: "accepted"; readonly json: string }
  | { readonly kind: "refused"; readonly refusal: EventRefusal };

/** What the gate needs to know of a capability: a validator per schema comes from the one Ajv of its package. */
export interface EventRules {
  readonly subscribable: boolean;
  readonly declared: readonly EventDeclaration[];
  readonly validatorOf: (schema: JsonSchema) => ValueCheck;
}

/** A declared pair that this run has emitted. */
interface Known {
  /** The text of its events, up to the payload. */
  readonly head: string;
  readonly check: ValueCheck | null;
}

/** The events of texts that a gate has accepted, with commas between them. One text takes a third of what as many would. */
export function parseEvents(json: string): readonly Event[] {
  // Type, version and payload in turn: objects would be three times as much text.
  const items = JSON.parse(`[${json}]`) as readonly unknown[];
  const events: Event[] = [];
  for (let at = 0; at < items.length; at += 3)
    events.push({ type: items[at] as string, version: items[at + 1] as string, payload: items[at + 2] });
  return events;
}

/** Checks the events of one run and counts them against its limits. */
export class EventGate {
  readonly #rules: EventRules;
  readonly #limits: Pick<Limits, "eventCount" | "eventBytes" | "eventTotalBytes">;
  /** By position of the declaration. */
  readonly #known: (Known | undefined)[] = [];
  #accepted = 0;
  #refused = 0;
  #bytes = 0;
  #nestedCount = 0;

  constructor(rules: EventRules, limits: Pick<Limits, "eventCount" | "eventBytes" | "eventTotalBytes">) {
    this.#rules = rules;
    this.#limits = limits;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get refused(): number {
    return this.#refused;
  }

  /** Whether the capability may emit anything. */
  get subscribable(): boolean {
    return this.#rules.subscribable;
  }

  /** How many events, and how many bytes of payload, there may be still. */
  get left(): { readonly count: number; readonly bytes: number } {
    const { eventCount, eventTotalBytes } = this.#limits;
    const count = Math.max(0, eventCount - this.#accepted - this.#nestedCount);
    return { count, bytes: Math.max(0, eventTotalBytes - this.#bytes) };
  }

  /** Counts what a nested run has emitted, which waits for the end of this one like its own. */
  takeNested(count: number, bytes: number): void {
    this.#nestedCount += count;
    this.#bytes += bytes;
  }

  /** Checks in a fixed order, cheapest first, so that a refusal says the same on every run. */
  check(type: string, version: string, payload: string): EventVerdict {
    if (!this.#rules.subscribable) return this.#refuse({ tag: "not-subscribable" });
    const index = this.#rules.declared.findIndex((pair) => pair.type === type && pair.version === version);
    if (index === -1) return this.#refuse({ tag: "undeclared-event" });
    // A string of n code units has at least n bytes, so no more than the limit allows is ever counted.
    const bytes = payload.length > this.#limits.eventBytes ? payload.length : Buffer.byteLength(payload);
    if (bytes > this.#limits.eventBytes) return this.#refuse({ tag: "too-large" });
    const count = this.#accepted + this.#nestedCount;
    if (count >= this.#limits.eventCount || this.#bytes + bytes > this.#limits.eventTotalBytes) {
      return this.#refuse({ tag: "budget-exhausted" });
    }
    const parsed = parseJsonText(payload);
    if (parsed.kind !== "value") return this.#refuse({ tag: "invalid-payload", val: parsed.text });
    const { head, check } = this.#knownAt(index);
    const problem = check === null ? null : check(parsed.value);
    if (problem !== null) return this.#refuse({ tag: "invalid-payload", val: problem });
    this.#accepted++;
    this.#bytes += bytes;
    return { kind: "accepted", json: head + payload };
  }

  /** Counts what could not even be read as an event. */
  refuseUnread(): void {
    this.#refused++;
  }

  #knownAt(index: number): Known {
    let known = this.#known[index];
    if (known === undefined) {
      const { type, version, schema } = this.#rules.declared[index]!;
      const head = `${JSON.stringify(type)},${JSON.stringify(version)},`;
      known = { head, check: schema === undefined ? null : this.#rules.validatorOf(schema) };
      this.#known[index] = known;
    }
    return known;
  }

  #refuse(refusal: EventRefusal): EventVerdict {
    this.#refused++;
    return { kind: "refused", refusal };
  }
}
