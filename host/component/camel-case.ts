/**
 * The name that jco gives a function, a parameter or a field in JavaScript: `parse-URL` becomes `parseUrl`, `x-1b-c`
 * `x1bC`. Validation refuses two fields of one record that would meet here (`x-1` and `x1`).
 */
export function camelCase(name: string): string {
  return name
    .toLowerCase()
    .split("-")
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
}
