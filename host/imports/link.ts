import { connectorsInterface } from "./connectors.ts";
import { contextInterface } from "./context.ts";
import { type EmbedderFunction, embedderInterface } from "./embedder.ts";
import { eventsInterface } from "./events.ts";
import { invokeInterface } from "./invoke.ts";
import { logInterface } from "./log.ts";
import type { ImportedInterface, ImportScope } from "./scope.ts";
import { wasiInterfaces } from "./wasi.ts";

/** How one imported interface is served, as admission decided. */
export type InterfaceLink =
  | { readonly kind: "host"; readonly name: string }
  | { readonly kind: "embedder"; readonly name: string; readonly functions: readonly EmbedderFunction[] };

const HOST_INTERFACES: Readonly<Record<string, (scope: ImportScope) => ImportedInterface>> = {
  "airlock:capability/types": () => ({}),
  "airlock:capability/log": logInterface,
  "airlock:capability/context": contextInterface,
  "airlock:capability/events": eventsInterface,
  "airlock:capability/invoke": invokeInterface,
  "airlock:capability/connectors": connectorsInterface,
};

/** Whether what serves an interface remembers nothing of the run: all that it sees is asked of the scope at each call. */
export function isStateless({ kind, name }: InterfaceLink): boolean {
  return kind === "embedder" || Object.hasOwn(HOST_INTERFACES, name.replace(/@.*$/, ""));
}

/** Makes what one run imports: an object per interface, by full name, as the glue looks it up. */
export function linkImports(links: readonly InterfaceLink[], scope: ImportScope): Record<string, ImportedInterface> {
  let wasi: Record<string, ImportedInterface> | undefined;
  return Object.fromEntries(
    links.map((link) => {
      if (link.kind === "embedder") return [link.name, embedderInterface(scope, link.name, link.functions)];
      const name = link.name.replace(/@.*$/, "");
      const make = HOST_INTERFACES[name];
      if (make !== undefined) return [link.name, make(scope)];
      wasi ??= wasiInterfaces(scope);
      const served = wasi[name];
      if (served === undefined) throw new Error(`Admission let in ${link.name}, which nothing serves`);
      return [link.name, served];
    }),
  );
}
