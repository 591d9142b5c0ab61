const MiB = 1024 * 1024;

/**
 * The longest text, in bytes of UTF-8, that a thread with this heap can hold while it is checked: two copies, each of two
 * bytes a character as soon as one character is not Latin-1, and half of the heap is left. V8 ends a thread that runs out of heap
 * bit by bit; one that goes far past it in one allocation takes the process with it.
 */
export function longestTextBytes(heapMegabytes = 512): number {
  return Math.floor((heapMegabytes * MiB) / 8);
}
