import { BodyScan } from "./body-scan.ts";
import { UNTESTED_COST } from "./charge-path.ts";
import type { Costs } from "./costs.ts";
import { REACHED } from "./labels.ts";
import { findLeaves } from "./leaves.ts";
import type { CoreModule } from "./module.ts";
import type { ComplexityCaps } from "./options.ts";
import { MODE, type Plan } from "./plan.ts";
import { Points } from "./points.ts";
import { lastingGlobal } from "./resettable.ts";

/**
 * Finds the points of every function of a module that `WebAssembly.validate` accepted. `unwinds` says that exceptions
 * may pass through it.
 */
export function scanModule(module: CoreModule, costs: Costs, caps: ComplexityCaps, unwinds: boolean): Plan {
  const { count } = module.bodies;
  const points = new Points(256 + (module.bodies.bytes >>> 3));
  const leaves = findLeaves(module, costs);
  const scan = new BodyScan(module, costs, caps, points, unwinds, leaves);
  const firstPoints = new Uint32Array(count + 1);
  const modes = new Uint8Array(count);
  const totals = new Float64Array(count);
  const owed = new Int32Array(count);
  const tested = new Uint8Array(count);
  let rescans = 0;
  for (let index = 0; index < count; index++) {
    firstPoints[index] = points.length;
    scan.walk(index, false);
    if (scan.targets.hasConflict) {
      rescans++;
      points.length = firstPoints[index]!;
      scan.walk(index, true);
    }
    const { path, calls, handlers } = scan;
    const returns = path.labels.reached[0] !== REACHED.not;
    const total = returns ? path.labels.total[0]! : path.trapTotal;
    // A loop, or a line past the longest run, has a test that no call to the host accounts for.
    const isDirect = path.isUniform && path.testsWithin === calls.hostCalls && calls.areExactAt(total);
    const untested = isDirect ? total : path.longestRun;
    modes[index] = isDirect ? (total === 0 ? MODE.free : MODE.direct) : handlers.catches ? MODE.guarded : MODE.cached;
    if (leaves[index]! > 0) modes[index] = MODE.leaf;
    totals[index] = total;
    owed[index] = returns ? path.labels.owed[0]! : -1;
    tested[index] = calls.made || untested > UNTESTED_COST ? 1 : 0;
  }
  firstPoints[count] = points.length;
  // What catches may do so without a tag; once that is seen, every call is to be placed anew.
  if (scan.handlers.found && !unwinds) return scanModule(module, costs, caps, true);
  const { injected } = scan.bulk;
  const lasting = scan.handlers.found ? "exceptions" : (scan.bulk.lasting ?? lastingGlobal(module));
  return { points, firstPoints, modes, totals, owed, tested, injected, rescans, leaves, lasting, unwinds };
}
