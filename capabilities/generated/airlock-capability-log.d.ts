// Made from wit/ by .ci/generate.ts. Do not edit.
declare module 'airlock:capability/log@1.0.0' {
  /**
   * Writes one line. Lines past the limit `logBytes` are dropped and counted; the call never fails.
   */
  export function write(level: Level, message: string): void;
  /**
   * # Variants
   * 
   * ## `"debug"`
   * 
   * ## `"info"`
   * 
   * ## `"warn"`
   * 
   * ## `"error"`
   */
  export type Level = 'debug' | 'info' | 'warn' | 'error';
}
