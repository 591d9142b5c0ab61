/** Characters of a name. Each is one byte, and none of them needs an escape in JSON. */
export const LONGEST_NAME = 512;

const NAME = /^[A-Za-z0-9._@+=-]+(?:\/[A-Za-z0-9._@+=-]+)*$/;

/** Whether an object can have this name: in levels apart by slashes, none of them empty, `.` or `..`. */
export function isObjectName(name: unknown): name is string {
  if (typeof name !== "string" || name.length > LONGEST_NAME || !NAME.test(name)) return false;
  return name.split("/").every((level) => level !== "." && level !== "..");
}
