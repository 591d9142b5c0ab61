// Made from wit/ by .ci/generate.ts. Do not edit.
/** @module Interface airlock:capability/handler@1.0.0 **/
/**
 * Handles one request. `input` is one JSON value as text; so is the answer. The host checks
 * both against the JSON Schemas of the manifest.
 */
export declare function handle(input: string): string;
export type Failure = import('./airlock-capability-types.ts').Failure;
