/**
 * Compilation. In: a component's bytes, checked and then admitted. Out: the way to an `Artifact`, metered and compiled, or a HostError.
 * Holds always: the transpiler, the meter and the first compilation of every function run in a process that serves this one
 * component under limits of time and memory; nothing of the component runs. Not promised: that hot functions are never compiled
 * again later, by V8, in the host; the complexity caps bound that.
 */
export type { Artifact, ArtifactModule, ArtifactSource, Linkage, ResetProof } from "./artifact.ts";
export type { CacheStats } from "./cache.ts";
export { type CompileOptions, Compiler, type CompileSession, type CompileStats } from "./compiler.ts";
export type { DiskCacheOptions, DiskCacheStats } from "./disk-cache.ts";
export { type EntryPoint, findEntryPoint } from "./entry-point.ts";
export { GLUE_HOOKS, GLUE_NAMES } from "./glue.ts";
export type { Variant } from "./protocol.ts";
