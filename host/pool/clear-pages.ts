/** Zeroes what is not zero in the pages of 4 KiB from `at` up to `end`, at least one. */
export type ClearPages = (at: number, end: number) => void;

/** For one memory of 32 bits. Vectors, which nothing in JavaScript offers, look through a memory in two thirds of the time of a comparison. */
export function clearPagesOf(memory: WebAssembly.Memory): ClearPages {
  const { clear } = new WebAssembly.Instance(MODULE, { of: { memory } }).exports;
  return clear as ClearPages;
}

/** `clear-pages.wat`, as a test proves. */
const MODULE = new WebAssembly.Module(
  Buffer.from(
    "AGFzbQEAAAABBgFgAn9/AAIOAQJvZgZtZW1vcnkCAAADAgEABwkBBWNsZWFyAAAKmgEBlwECAX8BewNAIABBgCBqIQL9DAAAAAAA" +
      "AAAAAAAAAAAAAAAhAwNAIAMgAP0ABAAgAP0ABBD9UCAA/QAEICAA/QAEMP1Q/VAgAP0ABEAgAP0ABFD9UCAA/QAEYCAA/QAEcP1Q" +
      "/VD9UP1QIQMgAEGAAWohACAAIAJJDQALIAP9UwRAIABBgCBrQQBBgCD8CwALIAAgAUkNAAsLADUEbmFtZQIbAQAEAAJhdAEDZW5k" +
      "AgdwYWdlRW5kAwRiaXRzAxEBAAIABXBhZ2VzAQVieXRlcw==",
    "base64",
  ),
);
