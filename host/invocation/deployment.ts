import type { Admitted } from "../admission/admission.ts";
import { camelCase } from "../component/component.ts";
import type { InterfaceLink } from "../imports/imports.ts";

/** How each import of an admitted component is served, as admission decided. */
export function describeLinks(admitted: Admitted): readonly InterfaceLink[] {
  const externs = new Map(admitted.info.imports.map((extern) => [extern.name, extern]));
  return admitted.imports.flatMap(({ name, class: kind }): readonly InterfaceLink[] => {
    const extern = externs.get(name);
    // The functions of a core module are always all there, and looked up by it.
    if (extern?.sort !== "instance") return [];
    if (kind !== "embedder") return [{ kind: "host", name }];
    const functions = extern.funcs.map((func) => ({
      name: func.name,
      key: camelCase(func.name),
      fallible: func.type.result?.kind === "result",
    }));
    return [{ kind: "embedder", name, functions }];
  });
}
