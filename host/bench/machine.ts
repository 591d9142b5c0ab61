import { cpus, loadavg } from "node:os";

/** Where a bench ran; figures hold for nowhere else. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  /** Load of the machine in the last minute. */
  readonly load: number;
  readonly node: string;
}

export function describeMachine(): Machine {
  const processors = cpus();
  return { cpu: processors[0]!.model, cores: processors.length, load: loadavg()[0]!, node: process.version };
}

export function machineLine({ cpu, cores, load, node }: Machine): string {
  return `${cpu}, ${cores} cores, load ${load.toFixed(1)}, Node ${node}`;
}
