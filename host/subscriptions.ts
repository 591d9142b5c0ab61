import { channel } from "node:diagnostics_channel";
import type { CapabilityEvent, NestedEvents } from "./providers/providers.ts";

/** An event of a run that has succeeded. */
export interface CommittedEvent extends CapabilityEvent {
  readonly runId: string;
  /** `id@version` of the capability that emitted it. */
  readonly providerId: string;
}

/** Which events a subscriber wants; what is left out matches everything. */
export interface EventFilter {
  /** A capability's bare id, or its `id@version`. */
  readonly capability?: string;
  readonly type?: string;
  readonly version?: string;
}

/** A subscription; closing it twice is fine. */
export interface Subscription {
  close(): void;
}

const failures = channel("airlock:host:subscriber-failed");

/** Who wants to hear of committed events. A subscriber that throws hurts nobody else: its error goes to the diagnostics channel. */
export class Subscriptions {
  readonly #all = new Set<{ readonly filter: EventFilter; readonly listener: (event: CommittedEvent) => void }>();

  add(filter: EventFilter, listener: (event: CommittedEvent) => void): Subscription {
    const entry = { filter, listener };
    this.#all.add(entry);
    return { close: () => void this.#all.delete(entry) };
  }

  commit(event: CommittedEvent): void {
    for (const { filter, listener } of this.#all) {
      if (!matches(filter, event)) continue;
      try {
        listener(event);
      } catch (error) {
        failures.publish({ error, event });
      }
    }
  }

  /** The events of a run that has succeeded, and of those that it asked for, in the order in which they were said. */
  commitAll({ runId, providerId, events }: Pick<NestedEvents, "runId" | "providerId" | "events">): void {
    for (const event of events) {
      if ("events" in event) {
        this.commitAll(event);
        continue;
      }
      // Field by field: a copy by spread costs as much as all the rest of an event.
      const { type, version, payload } = event;
      this.commit({ type, version, payload, runId, providerId });
    }
  }

  clear(): void {
    this.#all.clear();
  }
}

function matches(filter: EventFilter, event: CommittedEvent): boolean {
  const { capability, type, version } = filter;
  if (
    capability !== undefined &&
    capability !== event.providerId &&
    capability !== event.providerId.replace(/@[^@]*$/, "")
  )
    return false;
  return (type === undefined || type === event.type) && (version === undefined || version === event.version);
}
