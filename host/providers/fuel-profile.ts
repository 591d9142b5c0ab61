/**
 * Where the fuel of one run went, as data in an outcome. The meter makes it and says what each field means; its form stands here
 * once more because this room knows nothing of Wasm. The compiler compares the two.
 */
export interface FuelProfile {
  readonly phase: "setup" | "run";
  readonly fuel: number;
  readonly frames: readonly {
    readonly name: string;
    readonly kind: "function" | "import" | "host";
    readonly module: string | null;
    readonly index: number | null;
    readonly self: number;
    readonly total: number;
    readonly calls: number;
  }[];
  readonly contexts: readonly {
    readonly frame: number;
    readonly parent: number;
    readonly self: number;
    readonly calls: number;
  }[];
  readonly folded: number;
}
