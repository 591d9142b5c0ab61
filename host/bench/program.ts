/** The WIT of the program; it imports nothing. */
export const PROGRAM_WIT = "package airlock:bench;\nworld program { export run: func(x: string) -> string; }\n";

/** Objects, strings, closures, sorting, exceptions and regular expressions, some milliseconds of them. */
export const PROGRAM = `export function run(x) {
  const counts = {};
  for (let i = 0; i < +x; i++) counts["k" + (i % 97)] = (counts["k" + (i % 97)] || 0) + i;
  const points = Array.from({ length: +x / 10 }, (_, i) => ({ x: (i * 7919) % 1013, y: i }));
  points.sort((a, b) => a.x - b.x || a.y - b.y);
  let sum = 0;
  for (const { x, y } of points) sum = (sum * 31 + x * y) % 1000003;
  let caught = 0;
  for (let i = 0; i < 20; i++) try { JSON.parse("{bad"); } catch (error) { caught += error.name.length; }
  const text = JSON.stringify(points.slice(0, 50)).replace(/"x":(\\d+)/g, (_, digits) => digits + "x");
  return Object.keys(counts).sort().map((k) => k + counts[k]).join() + sum + caught + text.length;
}`;

export const PROGRAM_ARGUMENT = "6000";
