// AssemblyScript: objects under its incremental garbage collector, a map, sorting by a closure, strings.

class Point {
  constructor(public x: f64, public y: f64) {}

  add(other: Point): Point {
    return new Point(this.x + other.x, this.y + other.y);
  }
}

function objects(count: i32): f64 {
  let sum = new Point(0, 0);
  const step = new Point(1, 0.5);
  for (let i = 0; i < count; i++) sum = sum.add(step);
  return sum.x + sum.y;
}

function maps(count: i32): i32 {
  const map = new Map<i32, i32>();
  for (let i = 0; i < count; i++) {
    const key = (i * 7919) & 2047;
    map.set(key, map.has(key) ? map.get(key) + 1 : 1);
  }
  const keys = map.keys();
  let sum = 0;
  for (let i = 0; i < keys.length; i++) sum += map.get(keys[i]);
  return sum;
}

function sorts(count: i32): i32 {
  let hash = 0;
  for (let k = 0; k < count; k++) {
    const values = new Array<i32>(2000);
    let state: u32 = k + 1;
    for (let i = 0; i < 2000; i++) {
      state = state * 1664525 + 1013904223;
      values[i] = state as i32;
    }
    values.sort((a, b) => (a > b ? 1 : 0) - (a < b ? 1 : 0));
    hash = hash * 31 + values[1000];
  }
  return hash;
}

function strings(count: i32): i32 {
  let hash = 0;
  for (let i = 0; i < count; i++) {
    let text = "a" + i.toString();
    for (let j = 0; j < 5; j++) text = text + "," + (i * j).toString();
    const parts = text.split(",");
    hash = hash * 31 + parts.length + parts[parts.length - 1].length + text.indexOf("3");
  }
  return hash;
}

export function run(count: i32): i32 {
  return (objects(count * 4000) as i32) ^ maps(count * 2000) ^ sorts(count / 4) ^ strings(count * 60);
}
