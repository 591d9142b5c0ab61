import { FLOAT } from "./stack-effects.ts";

/** Assignments are followed through so many scans of a function at most; most need two. */
const MOST_SCANS = 6;

/**
 * Which locals of a function only ever hold what arithmetic of one shape gave, or numbers. Such a local may hold a NaN
 * of any bits as long as it is made canonical where it is read and looked at. A local that may also hold a NaN whose
 * bits are the guest's own is no such local: what is assigned to it is made canonical first.
 */
export class FloatLocals {
  /** True when the last scan assigned nothing new. */
  isStable = false;
  private scans = 0;
  /** A shape, `FLOAT.number` where nothing but numbers is known to be assigned, or `FLOAT.none`. */
  private shapes = new Uint8Array(0);

  /** Starts a function. */
  start(parameters: number, locals: number): void {
    this.shapes = new Uint8Array(locals).fill(FLOAT.number, parameters);
    this.isStable = false;
    this.scans = 0;
  }

  /** Starts one more scan of the function. */
  scan(): void {
    this.isStable = true;
    this.scans++;
    if (this.scans > MOST_SCANS) this.shapes.fill(FLOAT.none);
  }

  /** What reading the local may give. */
  shapeOf(local: number): number {
    return this.shapes[local]!;
  }

  /** Assigns what is of that shape; answers whether the local may hold a NaN of any bits. */
  assign(local: number, shape: number): boolean {
    const before = this.shapes[local]!;
    if (before === shape || before === FLOAT.none) return before !== FLOAT.none;
    if (shape !== FLOAT.number) {
      this.shapes[local] = before === FLOAT.number ? shape : FLOAT.none;
      this.isStable = false;
    }
    return true;
  }
}
