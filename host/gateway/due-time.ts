import { invalidRequest } from "./connector-payload.ts";
import { shown } from "./stored-payload.ts";

/** What a Date can be, in milliseconds. */
const MOST_TIME = 8.64e15;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** Milliseconds since the epoch, from such or from ISO 8601 text in UTC. Throws a ConnectorError, `invalid-request`. */
export function timeIn(field: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && Math.abs(value) <= MOST_TIME) return value;
  if (typeof value === "string" && ISO.test(value)) {
    const time = Date.parse(value);
    // Date takes the 30th of February for the 2nd of March.
    if (!Number.isNaN(time) && timeText(time).slice(0, 19) === value.slice(0, 19)) return time;
  }
  throw invalidRequest(
    `${field} is ${shown(value)}: a time such as "2030-01-31T08:00:00Z", or whole milliseconds since 1970, is wanted`,
  );
}

export function timeText(time: number): string {
  return new Date(time).toISOString();
}
