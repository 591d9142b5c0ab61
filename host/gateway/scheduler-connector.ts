import { assertNever } from "../errors/errors.ts";
import type { Quota, Store } from "../store/store.ts";
import type { Connector, ConnectorContext, ConnectorRequest, ConnectorResponse } from "./connector.ts";
import { expectOptions, invalidOption, storeOption, wholeOption } from "./connector-options.ts";
import { invalidRequest, payloadFields, unknownOperation } from "./connector-payload.ts";
import { type Due, DueDelivery, MACHINE_CLOCK, type SchedulerClock } from "./due-delivery.ts";
import { timeIn, timeText } from "./due-time.ts";
import { storeFailure } from "./store-failure.ts";
import { checkRoom, contentIn, entriesThatFit, limitIn, nameIn, type StoredContent, shown } from "./stored-payload.ts";

/** Where the schedule is kept, its bounds, and who carries out what is due. */
export interface SchedulerOptions {
  /** Stays the application's: closing the connector does not close it. */
  readonly store: Store;
  /**
   * Carries out what is due once `start` was called. When it is through, the entry is gone; when it throws, or takes longer than the
   * lease, or its process ends, the entry comes again, here or in another process.
   */
  readonly onDue?: (due: Due) => void | Promise<void>;
  /** Default: the clock of the machine. */
  readonly clock?: SchedulerClock;
  /** How far ahead something may be scheduled; default 366 days. */
  readonly mostAheadMs?: number;
  /** Entries of one capability; default 1,000. */
  readonly quotaEntries?: number;
  /** Bytes of ids and contents of one capability; default 1 MiB. */
  readonly quotaBytes?: number;
  /** How long whoever has claimed an entry has for it; default 60,000 ms. */
  readonly leaseMs?: number;
  /** How long what another process has scheduled may wait to be seen; default 1,000 ms. */
  readonly everyMs?: number;
  /** Entries that are carried out at the same time; default 16. */
  readonly atOnce?: number;
}

/** The connector, and the application's side of it. */
export interface SchedulerConnector extends Connector {
  /** Gives what is due to `onDue` from now on. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID where there is none. Idempotent. */
  start(): void;
  /** Claims nothing more, and resolves when all that was claimed has ended. Idempotent; it can be started again. */
  stop(): Promise<void>;
  /**
   * For an application that delivers by itself: claims at most `limit` (1 to 1,000, default 16) of what is due, for all capabilities. Rejects
   * with what the store rejects with.
   */
  claimDue(limit?: number): Promise<readonly Due[]>;
  /** Ends what was claimed. False where the lease was over and somebody else has claimed it, or the capability has cancelled it. */
  settle(due: Pick<Due, "serial" | "attempt">): Promise<boolean>;
  /** As `stop`. */
  close(): Promise<void>;
}

const ID = "scheduler";
const OPERATIONS = ["schedule", "cancel", "list"];
const DAY_MS = 86_400_000;
const KNOWN = ["store", "onDue", "clock", "mostAheadMs", "quotaEntries", "quotaBytes", "leaseMs", "everyMs", "atOnce"];

/**
 * The connector `scheduler`: a capability says that something is due at a time, and the application gets it then. Each capability has
 * a schedule of its own in `store.schedule`, named by its id, which all of its versions share.
 *
 * - `schedule { id, dueAt, body? | value? }`: `scheduled { dueAt }`; `duplicate { dueAt, sameDueAt }` where the id is taken, with the
 *   time that it is taken for; `late { lateMs }` where the time is over and `too-far { mostAheadMs }` where it is too far ahead, and then
 *   nothing was scheduled; `over-quota { entries, bytes, mostEntries, mostBytes }`. An id is free again once its entry was carried out or cancelled.
 * - `cancel { id }`: `cancelled`, `missing`, or `delivering` where the application has it already.
 * - `list { after?, limit? }`: `success { entries: [{ id, dueAt, bytes, attempt }], next }` by due time and id, at most 100; `next`, a
 *   `{ dueAt, id }`, is the `after` to ask with for those that follow, null for none.
 *
 * `dueAt` is ISO 8601 text in UTC or whole milliseconds since 1970; answers have text. An entry is carried out at least once, each claim
 * with its `attempt`, and never before its time; `lateMs` says how long after it. Codes of failures: `invalid-request`, `unknown-operation`,
 * `response-too-large`, `busy` and `full` (both retryable), `unavailable`. Throws AIRLOCK_GATEWAY_CONNECTOR_INVALID.
 */
export function schedulerConnector(options: SchedulerOptions): SchedulerConnector {
  expectOptions(options, "options", KNOWN);
  const {
    store,
    onDue,
    clock = MACHINE_CLOCK,
    mostAheadMs,
    quotaEntries,
    quotaBytes,
    leaseMs,
    everyMs,
    atOnce,
  } = options;
  if (onDue !== undefined && typeof onDue !== "function") throw invalidOption("onDue", onDue, "a function");
  if (![clock?.now, clock?.after, clock?.cancel].every((each) => typeof each === "function"))
    throw invalidOption("clock", clock, "an object with now, after and cancel");
  return new Scheduler({
    store: storeOption(store),
    onDue: onDue ?? null,
    clock,
    mostAheadMs: wholeOption(mostAheadMs, "mostAheadMs", 1, 36_600 * DAY_MS, 366 * DAY_MS),
    quota: {
      entries: wholeOption(quotaEntries, "quotaEntries", 1, Number.MAX_SAFE_INTEGER, 1_000),
      bytes: wholeOption(quotaBytes, "quotaBytes", 1, Number.MAX_SAFE_INTEGER, 1024 * 1024),
    },
    leaseMs: wholeOption(leaseMs, "leaseMs", 1, 366 * DAY_MS, 60_000),
    everyMs: wholeOption(everyMs, "everyMs", 1, DAY_MS, 1_000),
    atOnce: wholeOption(atOnce, "atOnce", 1, 1_000, 16),
  });
}

interface ResolvedOptions {
  readonly store: Store;
  readonly onDue: ((due: Due) => void | Promise<void>) | null;
  readonly clock: SchedulerClock;
  readonly mostAheadMs: number;
  readonly quota: Quota;
  readonly leaseMs: number;
  readonly everyMs: number;
  readonly atOnce: number;
}

class Scheduler implements SchedulerConnector {
  readonly id = ID;
  readonly version = "1.0.0";
  readonly description = "Says when something is due, and the application gets it then";
  readonly #options: ResolvedOptions;
  readonly #delivery: DueDelivery;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.#delivery = new DueDelivery(options.store.schedule, options);
  }

  start(): void {
    if (this.#options.onDue === null)
      throw invalidOption("onDue", undefined, "a function to deliver to, or claimDue and settle instead of start,");
    this.#delivery.start(this.#options.onDue);
  }

  async stop(): Promise<void> {
    await this.#delivery.stop();
  }

  async claimDue(limit = 16): Promise<readonly Due[]> {
    return this.#delivery.claimDue(limit);
  }

  async settle(due: Pick<Due, "serial" | "attempt">): Promise<boolean> {
    return this.#delivery.settle(due);
  }

  async close(): Promise<void> {
    await this.stop();
  }

  async invoke(request: ConnectorRequest, context: ConnectorContext): Promise<ConnectorResponse> {
    checkRoom(context);
    try {
      switch (request.operation) {
        case "schedule":
          return await this.#schedule(request, context);
        case "cancel":
          return await this.#cancel(request, context);
        case "list":
          return await this.#list(request, context);
        default:
          throw unknownOperation(request.operation, OPERATIONS);
      }
    } catch (thrown) {
      throw storeFailure(thrown);
    }
  }

  async #schedule(request: ConnectorRequest, { capabilityId }: ConnectorContext): Promise<ConnectorResponse> {
    const fields = payloadFields(request.payload, ["id", "dueAt", "body", "value"]);
    const id = nameIn("id", fields["id"]);
    const dueAt = timeIn("dueAt", fields["dueAt"]);
    const content = contentIn(fields) ?? NOTHING;
    const misfit = this.#misfit(dueAt);
    if (misfit !== null) {
      // Whoever asks again, since an answer was lost, is to hear that it is there and not that it comes too late.
      const twin = await this.#options.store.schedule.find(capabilityId, id);
      return twin === null ? misfit : duplicate(dueAt, twin.dueAt);
    }
    const { quota } = this.#options;
    const added = await this.#options.store.schedule.add(capabilityId, id, { dueAt, ...content }, { quota });
    switch (added.kind) {
      case "scheduled":
        this.#delivery.expect(dueAt);
        return { resultClass: "scheduled", payload: { dueAt: timeText(dueAt) } };
      case "duplicate":
        return duplicate(dueAt, added.dueAt);
      case "over-quota": {
        const { entries: mostEntries, bytes: mostBytes } = quota;
        return { resultClass: "over-quota", payload: { ...added.usage, mostEntries, mostBytes } };
      }
      default:
        return assertNever(added);
    }
  }

  /** What is answered for a time that is over or too far ahead; null for one that will do. */
  #misfit(dueAt: number): ConnectorResponse | null {
    const { clock, mostAheadMs } = this.#options;
    const ahead = dueAt - Math.floor(clock.now());
    if (ahead < 0) return { resultClass: "late", payload: { lateMs: -ahead } };
    return ahead > mostAheadMs ? { resultClass: "too-far", payload: { mostAheadMs } } : null;
  }

  async #cancel(request: ConnectorRequest, { capabilityId }: ConnectorContext): Promise<ConnectorResponse> {
    const id = nameIn("id", payloadFields(request.payload, ["id"])["id"]);
    const now = Math.floor(this.#options.clock.now());
    const { kind } = await this.#options.store.schedule.cancel(capabilityId, id, { now });
    return { resultClass: kind === "claimed" ? "delivering" : kind, payload: {} };
  }

  async #list(request: ConnectorRequest, context: ConnectorContext): Promise<ConnectorResponse> {
    const fields = payloadFields(request.payload, ["after", "limit"]);
    const limit = limitIn(fields["limit"]);
    const page = await this.#options.store.schedule.list(context.capabilityId, { ...afterIn(fields["after"]), limit });
    const all = page.entries.map((entry) => ({ ...entry, dueAt: timeText(entry.dueAt) }));
    const entries = entriesThatFit(all, context, cursorOf);
    const more = page.more || entries.length < all.length;
    return { resultClass: "success", payload: { entries, next: more ? cursorOf(entries.at(-1)!) : null } };
  }
}

const NOTHING: StoredContent = { format: "bytes", body: new Uint8Array(0) };

function duplicate(asked: number, dueAt: number): ConnectorResponse {
  return { resultClass: "duplicate", payload: { dueAt: timeText(dueAt), sameDueAt: asked === dueAt } };
}

function afterIn(after: unknown): { readonly after?: { readonly dueAt: number; readonly id: string } } {
  if (after === undefined || after === null) return {};
  if (typeof after !== "object" || Array.isArray(after))
    throw invalidRequest(`after is ${shown(after)}: the { dueAt, id } of an answer is wanted`);
  const { dueAt, id } = payloadFields(after, ["dueAt", "id"]);
  return { after: { dueAt: timeIn("after.dueAt", dueAt), id: nameIn("after.id", id) } };
}

function cursorOf({ dueAt, id }: { readonly dueAt: string; readonly id: string }): object {
  return { dueAt, id };
}
