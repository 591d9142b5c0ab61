import { expect, test } from "vitest";
import { Guest, type LinkHooks } from "./guest.ts";
import { Handles } from "./handles.ts";

test.each([0, 1])("refresh() sees a memory that has grown by %i pages", (pages) => {
  const hooks = {} as LinkHooks;
  const memory = new WebAssembly.Memory({ initial: 0, maximum: 4 });
  const guest = new Guest(hooks, new Handles(0, hooks), memory, null);
  for (const grown of [0, 1, pages]) {
    memory.grow(grown);
    guest.refresh();
    expect(guest.bytes.buffer).toBe(memory.buffer);
    expect(guest.view.buffer).toBe(memory.buffer);
    guest.refresh();
    expect(guest.bytes.buffer).toBe(memory.buffer);
  }
});
