// Made from wit/ by .ci/generate.ts. Do not edit.
declare module 'airlock:capability/context@1.0.0' {
  /**
   * The request that is being handled.
   */
  export function current(): Invocation;
  /**
   * Units of fuel that are left, this call's own price already paid.
   */
  export function fuelLeft(): number;
  /**
   * The effective limits of this run, as a JSON object.
   */
  export function limits(): string;
  /**
   * The request that is being handled.
   */
  export interface Invocation {
    /**
     * Names this run, and nothing else.
     */
    runId: string,
    /**
     * The manifest's `id`.
     */
    capabilityId: string,
    /**
     * The manifest's `version`.
     */
    capabilityVersion: string,
    /**
     * The operation that was asked for.
     */
    operation: string,
    /**
     * Which attempt at a durable task this is, if it is one.
     */
    attempt?: number | null,
  }
}
