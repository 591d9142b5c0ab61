import type { ImportScope } from "./scope.ts";

type Callable = (...args: never[]) => unknown;

/** A function as the guest may call it: only where it may leave, and paid for before anything is done. */
export function guard<F extends Callable>(scope: ImportScope, name: string, price: number, body: F): F {
  const guarded = (...args: Parameters<F>): unknown => {
    scope.enter(name);
    scope.charge(price);
    try {
      return body(...args);
    } finally {
      scope.leave();
    }
  };
  return guarded as F;
}

/** Guards every function of an interface. */
export function guardAll<T extends Record<string, Callable>>(
  scope: ImportScope,
  name: string,
  price: number,
  functions: T,
): T {
  return Object.fromEntries(
    Object.entries(functions).map(([key, body]) => [key, guard(scope, `${name}#${key}`, price, body)]),
  ) as T;
}

/** Guards every method of a resource class, in place. The class is made anew for each run. */
export function guardClass(scope: ImportScope, name: string, price: number, resource: { prototype: object }): void {
  for (const method of Object.getOwnPropertyNames(resource.prototype)) {
    if (method === "constructor") continue;
    const body = (resource.prototype as Record<string, (...args: unknown[]) => unknown>)[method];
    if (typeof body !== "function") continue;
    Object.defineProperty(resource.prototype, method, {
      value(this: object, ...args: unknown[]): unknown {
        scope.enter(`${name}#${method}`);
        scope.charge(price);
        try {
          return body.apply(this, args);
        } finally {
          scope.leave();
        }
      },
    });
  }
}
