import { Declined } from "./declined.ts";
import type { Emit } from "./profile.ts";

/**
 * Names of the columns, each of them once: a name that was there gets a number, an empty one becomes `column 3`. Tells
 * of `duplicate-header`; declines with `bad-header` when no column has a name.
 */
export function uniqueNames(fields: readonly string[], emit: Emit): readonly string[] {
  const header = fields.map((field) => field.trim());
  if (header.every((name) => name === "")) {
    throw new Declined("bad-header", "No column of the first row has a name; set header to false when there are none");
  }
  const taken = new Set<string>();
  const places = new Map<string, number[]>();
  const names = header.map((written, index) => {
    if (written !== "") places.set(written, [...(places.get(written) ?? []), index]);
    const base = written === "" ? `column ${index + 1}` : clipped(written);
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base} (${number})`;
    taken.add(name);
    return name;
  });
  for (const [name, indexes] of places) {
    if (indexes.length > 1) emit("duplicate-header", { name: clipped(name), columns: indexes });
  }
  return names;
}

function clipped(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}
