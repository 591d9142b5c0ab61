import type { WitResource } from "../component/component.ts";
import type { Codec } from "./codec.ts";
import type { Guest } from "./guest.ts";
import type { Passed } from "./handles.ts";

/** The codec of a handle: in the guest an index, on its way a resource. Only components pass them to one another. */
export function handleCodec(kind: "own" | "borrow", { name }: WitResource): Codec {
  const take = ({ handles }: Guest, index: number): Passed =>
    kind === "own" ? handles.takeOwn(index, name) : handles.lend(index, name);
  const give = ({ handles }: Guest, value: unknown): number =>
    kind === "own" ? handles.addOwn(value as Passed) : handles.addBorrow(value as Passed);
  return {
    size: 4,
    align: 4,
    flat: ["i32"],
    load: (guest, at) => take(guest, guest.view.getUint32(at, true)),
    store: (guest, value, at) => guest.view.setUint32(at, give(guest, value), true),
    lift: (guest, values, at) => take(guest, (values[at] as number) >>> 0),
    lower: (guest, value, into, at) => {
      into[at] = give(guest, value);
    },
  };
}
