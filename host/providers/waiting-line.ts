/** A place in a line. Who holds it can leave from anywhere in constant time. */
export interface Place<T> {
  readonly value: T;
  readonly priority: number;
  /** Grows with each arrival, over all lines of a pool. */
  readonly order: number;
}

interface Node<T> extends Place<T> {
  previous: Node<T> | null;
  next: Node<T> | null;
  lane: Lane<T> | null;
}

interface Lane<T> {
  readonly priority: number;
  first: Node<T> | null;
  last: Node<T> | null;
}

/** First come first served within a priority, the highest priority first. */
export class WaitingLine<T> {
  /** Never empty ones, the highest priority first. */
  readonly #lanes: Lane<T>[] = [];

  /** Who is next; null when nobody waits. */
  get first(): Place<T> | null {
    return this.#lanes[0]?.first ?? null;
  }

  join(value: T, priority: number, order: number): Place<T> {
    const lane = this.#lane(priority);
    const node: Node<T> = { value, priority, order, previous: lane.last, next: null, lane };
    if (lane.last === null) lane.first = node;
    else lane.last.next = node;
    lane.last = node;
    return node;
  }

  /** False for a place that was left before. */
  leave(place: Place<T>): boolean {
    const node = place as Node<T>;
    const { lane, previous, next } = node;
    if (lane === null) return false;
    if (previous === null) lane.first = next;
    else previous.next = next;
    if (next === null) lane.last = previous;
    else next.previous = previous;
    node.lane = null;
    node.previous = null;
    node.next = null;
    if (lane.first === null) this.#lanes.splice(this.#lanes.indexOf(lane), 1);
    return true;
  }

  /** Everyone who waits, in their order. */
  values(): T[] {
    const all: T[] = [];
    for (const lane of this.#lanes) for (let node = lane.first; node !== null; node = node.next) all.push(node.value);
    return all;
  }

  #lane(priority: number): Lane<T> {
    let index = 0;
    while (index < this.#lanes.length && this.#lanes[index]!.priority > priority) index++;
    const found = this.#lanes[index];
    if (found?.priority === priority) return found;
    const lane: Lane<T> = { priority, first: null, last: null };
    this.#lanes.splice(index, 0, lane);
    return lane;
  }
}
