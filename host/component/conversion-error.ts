const MAX_PATH_LENGTH = 400;

/** A value that does not fit its WIT type. `path` says where, such as `$.items[3].name`; it may hold hostile text. */
export class ConversionError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.name = "ConversionError";
    this.path = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
  }
}

/** Where a value stands below another. A linked list: the text is only made when something fails there. */
export interface Place {
  readonly parent: Place | null;
  readonly step: string | number;
}

export const ROOT: Place = { parent: null, step: "$" };

/** Refuses the value at a place. */
export function refuse(place: Place, message: string): never {
  const steps: string[] = [];
  for (let at: Place | null = place; at !== null; at = at.parent) {
    if (at.parent === null) steps.push(String(at.step));
    else if (typeof at.step === "number") steps.push(`[${at.step}]`);
    else steps.push(/^[A-Za-z][\w-]*$/.test(at.step) ? `.${at.step}` : `[${JSON.stringify(at.step)}]`);
  }
  throw new ConversionError(steps.reverse().join(""), message);
}
