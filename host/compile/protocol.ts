import type { CheckReport } from "../admission/admission.ts";
import type { ErrorRecord } from "../errors/errors.ts";
import type { JsonSchema } from "../manifest/manifest.ts";
import type { MeterReport } from "../meter/meter.ts";
import type { Linkage } from "./artifact.ts";

/** What the throw-away process is asked, in this order: at most one `check`, at most one `compile`, the same bytes. */
export type CompileRequest =
  | {
      readonly kind: "check";
      readonly bytes: Uint8Array;
      /** Byte ranges of the nested core modules. */
      readonly coreModules: readonly { readonly start: number; readonly end: number }[];
      /** JSON Schemas of the package, by the field they stand in. */
      readonly schemas: readonly { readonly field: string; readonly schema: JsonSchema }[];
    }
  | {
      readonly kind: "compile";
      readonly bytes: Uint8Array;
      /** Full names of the interfaces that the component imports. */
      readonly importNames: readonly string[];
      /** Whether the variant that counts frames and makes NaNs canonical is made. */
      readonly exact: boolean;
    };

/** One core module of the component, or one that the transpiler emitted, metered. */
export interface CompiledModule {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly report: MeterReport;
}

/** What `compile` made. */
export interface CompiledComponent {
  readonly linkage: Linkage;
  readonly modules: readonly CompiledModule[];
  /** True when a module needs V8's extended constant expressions, a flag on Node 20. */
  readonly extendedConst: boolean;
}

export type CompileReply =
  | { readonly kind: "ready" }
  | { readonly kind: "checked"; readonly report: CheckReport }
  | { readonly kind: "compiled"; readonly component: CompiledComponent }
  | { readonly kind: "refused"; readonly error: ErrorRecord };
