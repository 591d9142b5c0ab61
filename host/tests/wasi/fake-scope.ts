import { EventGate } from "../../events/events.ts";
import type { ImportEnding, ImportScope } from "../../imports/imports.ts";
import { effectiveLimits, type Limits, resolvePolicy } from "../../manifest/manifest.ts";

/** Thrown where a real run would leave the guest. */
export class Stopped extends Error {
  readonly ending: ImportEnding | { readonly kind: "out-of-fuel" };

  constructor(ending: Stopped["ending"]) {
    super(JSON.stringify(ending));
    this.ending = ending;
  }
}

/** A run without a worker: what was logged, whether the guest is outside, and a way to end it. */
export interface FakeScope extends ImportScope {
  readonly lines: [level: string, message: string][];
  readonly entered: string[];
  /** Burns fuel as a guest would. */
  burn(units: number): void;
  finish(): void;
}

const NO_EVENTS = {
  subscribable: false,
  declared: [],
  validatorOf: () => {
    throw new Error("No schema here");
  },
};

/** Makes a scope with the default limits but for `limits`, and a directory if `root` names one. */
export function fakeScope({
  limits: named = {},
  root = null,
  seed = 1,
  input = "",
  rules = NO_EVENTS,
}: {
  limits?: Partial<Limits>;
  root?: string | null;
  seed?: number;
  input?: string;
  rules?: ConstructorParameters<typeof EventGate>[0];
} = {}): FakeScope {
  const limits = effectiveLimits(resolvePolicy(), named);
  const start = BigInt(limits.fuel);
  let left = start;
  const finishers: (() => void)[] = [];
  const scope: FakeScope = {
    invocation: { runId: "run-1", capabilityId: "test.wasi", capabilityVersion: "1.0.0", operation: "handle" },
    input,
    limits,
    counters: {
      hostCalls: 0,
      hostBytesIn: 0,
      hostBytesOut: 0,
      logBytes: 0,
      logDropped: 0,
      randomBytes: 0,
      handles: 0,
    },
    events: new EventGate(rules, limits),
    seed: new Uint8Array(32).fill(seed),
    filesystem: root === null ? null : { root },
    lines: [],
    entered: [],
    fuelLeft: () => left,
    fuelAtStart: () => start,
    memoryLeft: () => limits.memoryBytes,
    chargeNested: (units) => scope.charge(units),
    charge(units) {
      left -= BigInt(units);
      if (left < 0n) throw new Stopped({ kind: "out-of-fuel" });
    },
    burn: (units) => scope.charge(units),
    stop(ending) {
      throw new Stopped(ending);
    },
    publish() {},
    log: (level, message) => scope.lines.push([level, message]),
    askHost: () => ({ kind: "broken", message: "Nobody is here" }),
    atEnd: (finish) => finishers.push(finish),
    finish() {
      for (const finish of finishers.splice(0)) finish();
    },
    enter: (name) => scope.entered.push(name),
    leave() {},
  };
  return scope;
}
