/** Thrown within the planner for what the linker does not carry. Names in the text are hostile: they are quoted. */
export class Unlinkable extends Error {}

export function unlinkable(reason: string): never {
  throw new Unlinkable(reason);
}
