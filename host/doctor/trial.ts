import { isHostError, messageOf } from "../errors/errors.ts";
import type { Host } from "../host.ts";
import type { AdmissionReport, Outcome } from "../index.ts";
import { parseManifest } from "../manifest/manifest.ts";
import type { Guest } from "./guest.ts";
import { difference, type Observed, observe } from "./observed.ts";

/** A guest that was handed to the host, and what the host said. */
export interface Admission {
  readonly guest: Guest;
  readonly ms: number;
  /** Null when it was refused. */
  readonly id: string | null;
  readonly refusal: Observed;
}

/** What became of one guest. */
export interface Trial {
  readonly got: Observed;
  /** Milliseconds of the first run, or of the refusal. */
  readonly ms: number;
  /** Units of fuel that a run burns; null where that is only a lower bound, or nothing ran. */
  readonly fuel: number | null;
  /** What is wrong, in one line, or null. */
  readonly problem: string | null;
}

/** Hands a guest to the host. Never rejects. */
export async function admitGuest(host: Host, guest: Guest): Promise<Admission> {
  const startedAt = performance.now();
  try {
    const manifest = parseManifest(guest.manifestText, guest.name);
    const { id } = await host.install({ manifest, component: guest.component });
    return { guest, ms: performance.now() - startedAt, id, refusal: {} };
  } catch (thrown) {
    return { guest, ms: performance.now() - startedAt, id: null, refusal: refusedWith(thrown) };
  }
}

/**
 * Runs the guest twice on the host's tier (the second time what the first left behind may serve it) and once on memories of
 * its own, and after the first run `control`, a guest that answers: whatever a guest did, its thread (or the one that took its place) serves the next run, and
 * the same guest ends the same way again and burns the same fuel.
 */
export async function tryGuest(
  host: Host,
  admission: Admission,
  control: () => Promise<string | null>,
): Promise<Trial> {
  const { guest, id } = admission;
  if (id === null) return judge(guest, admission.refusal, admission.ms, null);
  try {
    const first = await runOnce(host, id, guest, false);
    const poisoned = await control();
    if (poisoned !== null) return { ...first, problem: `the next run on the thread fails: ${poisoned}` };
    if (first.problem !== null) return first;
    for (const again of AGAIN) {
      const other = await runOnce(host, id, guest, again.fresh);
      if (other.problem !== null) return { ...other, problem: `${again.where} ${other.problem}` };
      if (other.fuel === first.fuel) continue;
      return { ...first, problem: `it burns ${first.fuel} units of fuel, and ${other.fuel} ${again.where}` };
    }
    return first;
  } finally {
    host.uninstall(id);
  }
}

/** How a guest is run after the first time. */
const AGAIN = [
  { fresh: false, where: "when it runs again" },
  { fresh: true, where: "on fresh memories" },
];

async function runOnce(host: Host, id: string, guest: Guest, fresh: boolean): Promise<Trial> {
  const { operation, input = null, limits, deadlineMs, cancelAfter } = guest.run;
  const startedAt = performance.now();
  let outcome: Outcome;
  try {
    const run = host.run(id, input, {
      ...(operation === undefined ? {} : { operation }),
      ...(limits === undefined ? {} : { limits }),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(fresh ? { tier: "fresh" } : {}),
    });
    const timer = cancelAfter === undefined ? undefined : setTimeout(() => run.cancel("the doctor"), cancelAfter);
    outcome = await run.outcome;
    clearTimeout(timer);
  } catch (thrown) {
    return judge(guest, refusedWith(thrown), performance.now() - startedAt, null);
  }
  const { fuel, fuelExact, totalMs } = outcome.usage;
  return judge(guest, observe(outcome), totalMs, fuelExact ? fuel : null);
}

function judge(guest: Guest, got: Observed, ms: number, fuel: number | null): Trial {
  return { got, ms, fuel, problem: difference(guest.expect, got) };
}

/** A refusal by its violation, else by the error's own code. What is no HostError is a defect of the host, and said so. */
function refusedWith(thrown: unknown): Observed {
  if (!isHostError(thrown)) return { refused: "no HostError", message: messageOf(thrown) };
  const violations = (thrown.details as Partial<AdmissionReport> | undefined)?.violations;
  return { refused: violations?.[0]?.code ?? thrown.code, message: thrown.message };
}
