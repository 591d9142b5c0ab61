/** Why `path` does not name a file inside the package, or null when it does. */
export function packagePathProblem(path: string): string | null {
  if (path.includes("\0")) return "a path without a null character is wanted";
  if (path.includes("\\")) return "a path with forward slashes is wanted";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "a path relative to the package is wanted";
  const parts = path.split("/");
  if (parts.includes("..")) return 'a path inside the package, without "..", is wanted';
  if (parts.some((part) => part === "" || part === ".")) return 'a path without empty or "." parts is wanted';
  return null;
}

/** Why `path` cannot be the folder of a grant, or null: absolute, or inside the package. */
export function grantPathProblem(path: string): string | null {
  if (path.includes("\0")) return "a path without a null character is wanted";
  if (path.split(/[/\\]/).includes("..")) return 'a path without ".." is wanted';
  return null;
}
