import { quote } from "../errors/errors.ts";
import type { Manifest } from "./shape.ts";

/**
 * The grants that a manifest asks for and that this version of the host cannot honour, one clause each. It can honour
 * `fs.read`, `imports`, `invoke` and `connectors`. Admission refuses a package for which this list is not empty.
 */
export function unsupportedGrants(manifest: Pick<Manifest, "grants">): readonly string[] {
  const { env, fs, http, tools, models } = manifest.grants;
  const refused: string[] = [];
  const names = (field: string, values: readonly string[] | undefined) => {
    if (values !== undefined && values.length > 0) refused.push(`grants.${field} (${bounded(values)})`);
  };
  names("env", env);
  if (fs?.write !== undefined) refused.push(`grants.fs.write (${quote(fs.write)})`);
  names("http", http);
  names("tools", tools);
  names("models", models);
  return refused;
}

function bounded(values: readonly string[]): string {
  const shown = values.slice(0, 5).map((value) => quote(value, 60));
  return values.length > 5 ? `${shown.join(", ")}, and ${values.length - 5} more` : shown.join(", ");
}
