/**
 * From source to package. In: a folder with a source manifest, a TypeScript or JavaScript entry, perhaps WIT of its own.
 * Out: a folder with `component.wasm` and a complete `capability.json`. Holds always: a package is written whole or not
 * at all, its digest and import list are the component's own, and the same sources and tools give the same bytes when
 * `reproducible` says so. Not promised: types are checked (run the compiler for that) or the capability works (run its
 * cases).
 */
export { type BuildOptions, type BuildProgress, type BuildResult, buildCapability } from "./build.ts";
