// The part of the WebAssembly JavaScript API that the host uses; @types/node declares only Module, and the DOM's
// declarations would bring a browser's globals with them. Source: https://webassembly.github.io/spec/js-api/

declare namespace WebAssembly {
  type ImportValue = ((...args: never[]) => unknown) | Global | Memory | Table | number | bigint;
  type ModuleImports = Record<string, unknown>;
  type Imports = Record<string, ModuleImports>;
  type Exports = Record<string, unknown>;

  class Module {
    constructor(bytes: Uint8Array);
    static exports(module: Module): { name: string; kind: string }[];
    static imports(module: Module): { module: string; name: string; kind: string }[];
  }

  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  class Table {
    constructor(descriptor: { element: string; initial: number; maximum?: number });
    readonly length: number;
  }

  class Global<T = bigint | number> {
    constructor(descriptor: { value: string; mutable?: boolean }, value?: T);
    value: T;
  }

  class RuntimeError extends Error {}

  class Exception {}

  function validate(bytes: Uint8Array): boolean;
  function compile(bytes: Uint8Array): Promise<Module>;
}
