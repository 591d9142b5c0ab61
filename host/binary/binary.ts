/**
 * Reading and writing Wasm's binary format. In: bytes from anyone. Out: numbers, names, sections. Holds always: no read
 * leaves the given range, no count is trusted before the bytes that back it are there, an over-long LEB128 is an error.
 * Every error is a `MalformedWasm` with its byte offset; the room that reads turns it into its own code.
 */
export { MalformedWasm, Reader, type Section, splitSections } from "./reader.ts";
export { Writer } from "./writer.ts";
