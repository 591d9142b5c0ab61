import { describe, expect, it } from "vitest";
import { Lanes } from "./lanes.ts";
import { StopSignal } from "./stop-signal.ts";

const never = new StopSignal();

describe("Lanes", () => {
  it("take() serves first come first served", async () => {
    const lanes = new Lanes(1, 10);
    const first = (await lanes.take(never))!;
    const order: string[] = [];
    const waiting = ["a", "b"].map(async (name) => {
      const slot = (await lanes.take(never))!;
      order.push(name);
      slot.release();
    });
    first.release();
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b"]);
    expect(lanes.free).toBe(1);
  });

  it("take() gives null to whoever leaves, and the slot to the next", async () => {
    const lanes = new Lanes(1, 10);
    const held = (await lanes.take(never))!;
    const leaver = new StopSignal();
    const left = lanes.take(leaver);
    const stays = lanes.take(never);
    leaver.abort("left");
    expect(await left).toBeNull();
    held.release();
    expect(await stays).not.toBeNull();
    expect(lanes.waiting).toBe(0);
    const stopped = new StopSignal();
    stopped.abort("before");
    expect(await lanes.take(stopped)).toBeNull();
  });

  it("release() twice gives back one slot", async () => {
    const lanes = new Lanes(1, 10);
    const slot = (await lanes.take(never))!;
    slot.release();
    slot.release();
    expect(lanes.free).toBe(1);
  });

  it("checkRoom() throws only when a run would wait and the queue is full", async () => {
    const lanes = new Lanes(1, 1);
    lanes.checkRoom();
    await lanes.take(never);
    lanes.checkRoom();
    void lanes.take(never);
    expect(() => lanes.checkRoom()).toThrow(expect.objectContaining({ code: "AIRLOCK_POOL_QUEUE_FULL" }));
  });
});
