import { cpus, loadavg, totalmem } from "node:os";
import { HostError } from "../errors/errors.ts";
import { compareSubjects } from "./comparison.ts";
import { GcWatch } from "./gc-watch.ts";
import { Load } from "./load.ts";
import type { BenchGround, MeasuredHost } from "./measured-host.ts";
import { type BenchOptions, type ResolvedBench, resolveBench } from "./options.ts";
import type { BenchResults, Machine, SubjectResult } from "./results.ts";
import { summarize } from "./statistics.ts";
import { Subject } from "./subject.ts";

/** A subject with its loads. */
interface Measured {
  readonly subject: Subject;
  readonly loads: readonly Load[];
}

/**
 * Measures a package, or two in turn. Each round has new hosts: admission, compilation and the first call on them; warm-up; then
 * each load. With two packages their order alternates from round to round, and within each load in the way A B B A, so that
 * what else the machine does meets both alike. Throws AIRLOCK_MEASURE_OPTIONS_INVALID, AIRLOCK_MEASURE_CASE_FAILED, and
 * what `install` and `run` throw.
 */
export async function bench(ground: BenchGround, options: BenchOptions): Promise<BenchResults> {
  const plan = resolveBench(options);
  const machine = describeMachine();
  const startedAt = new Date();
  const beganAt = performance.now();
  const all = plan.sources.map((source): Measured => {
    const subject = new Subject(source);
    return { subject, loads: plan.concurrency.map((concurrency) => new Load(subject, concurrency)) };
  });
  const step = stepCounter(plan);
  const gc = new GcWatch();
  try {
    for (let round = 0; round < plan.rounds; round++) {
      const order = round % 2 === 0 ? all : all.toReversed();
      await carryOutRound(ground, plan, order, gc, (text) => step(`round ${round + 1} of ${plan.rounds}: ${text}`));
    }
  } finally {
    gc.close();
  }
  step("done");
  const subjects = all.map(subjectResult);
  return {
    format: "airlock-bench",
    formatVersion: 1,
    startedAt: startedAt.toISOString(),
    elapsedMs: performance.now() - beganAt,
    machine,
    settings: {
      rounds: plan.rounds,
      durationMs: plan.durationMs,
      warmUpMs: plan.warmUpMs,
      concurrency: plan.concurrency,
      cold: plan.cold,
      tier: ground.tier,
      threads: ground.threads,
    },
    subjects,
    comparison: subjects.length === 2 ? compareSubjects(subjects[0]!, subjects[1]!) : null,
  };
}

async function carryOutRound(
  ground: BenchGround,
  plan: ResolvedBench,
  order: readonly Measured[],
  gc: GcWatch,
  step: (text: string) => void,
): Promise<void> {
  const { signal } = plan;
  const hosts = new Map<Measured, MeasuredHost>();
  try {
    for (const measured of order) {
      signal?.throwIfAborted();
      step("install and first call");
      const host = ground.makeHost();
      hosts.set(measured, host);
      // Examples of a manifest, too, are those of the package that came first, for both.
      const known = order.find(({ subject }) => subject.cases.length > 0)?.subject.cases ?? null;
      await measured.subject.begin(host, plan.cases ?? known);
    }
    for (const [{ subject }, host] of hosts) {
      step("warm-up");
      await warmUp(subject, host, plan);
    }
    for (const [index, concurrency] of plan.concurrency.entries()) {
      const slices = order.length === 1 ? order : [...order, ...order.toReversed()];
      for (const measured of slices) {
        step(`${concurrency} in flight`);
        const durationMs = (plan.durationMs * order.length) / slices.length;
        await measured.loads[index]!.slice(hosts.get(measured)!, durationMs, gc, signal);
      }
      for (const { loads } of order) loads[index]!.endRound();
    }
  } finally {
    await Promise.all([...hosts.values()].map((host) => host.close()));
  }
  if (!plan.cold) return;
  for (const { subject } of order) {
    signal?.throwIfAborted();
    step("cold start");
    await startCold(ground, subject);
  }
}

/** Not a call more than the time allows, but each case once: it must be known to end as it should before anything is measured. */
async function warmUp(subject: Subject, host: MeasuredHost, { warmUpMs, concurrency, signal }: ResolvedBench) {
  const until = performance.now() + warmUpMs;
  for (const each of subject.cases) await subject.call(host, each);
  let next = 0;
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      signal?.throwIfAborted();
      await subject.call(host, subject.cases[next++ % subject.cases.length]!);
    }
  };
  await Promise.all(Array.from({ length: concurrency.at(-1)! }, call));
}

async function startCold(ground: BenchGround, subject: Subject): Promise<void> {
  const [{ operation, input }] = subject.cases as [Subject["cases"][number]];
  const { ms, kind } = await ground.coldStart({ source: subject.source, operation, input });
  const expected = subject.facts[0]!.outcome;
  if (kind !== expected) {
    throw new HostError(
      "AIRLOCK_MEASURE_CASE_FAILED",
      `Cannot measure ${subject.install.id}: in a process of its own it ended ${kind}, ${expected} is wanted`,
    );
  }
  subject.coldStartMs.push(ms);
}

function subjectResult({ subject, loads }: Measured): SubjectResult {
  const { install, source, evidence } = subject;
  return {
    name: install.id,
    title: install.manifest.title ?? null,
    source: typeof source === "string" ? source : null,
    componentSha256: evidence.componentSha256,
    scheduleId: evidence.scheduleId,
    admissionMs: summarize(subject.admissionMs),
    compileMs: summarize(subject.compileMs),
    firstCallMs: summarize(subject.firstCallMs),
    coldStartMs: subject.coldStartMs.length === 0 ? null : summarize(subject.coldStartMs),
    cases: subject.facts,
    loads: loads.map((load) => load.result()),
  };
}

function stepCounter({ rounds, sources, concurrency, cold, onProgress }: ResolvedBench): (text: string) => void {
  const subjects = sources.length;
  const slices = subjects === 1 ? 1 : 2 * subjects;
  const total = rounds * (subjects * (cold ? 3 : 2) + concurrency.length * slices);
  let done = 0;
  return (text) => onProgress({ done: Math.min(done++, total), total, text });
}

function describeMachine(): Machine {
  const processors = cpus();
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    platform: process.platform,
    arch: process.arch,
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryBytes: totalmem(),
    load: loadavg()[0]!,
  };
}
