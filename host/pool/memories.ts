/**
 * How many Wasm memories this process holds: V8 gives each its own address space, and that is a bound of the process, not of one
 * host. So this one counter is shared by all hosts of the process.
 */
export const PROCESS_MEMORIES = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
