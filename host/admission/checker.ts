import type { ComponentInfo } from "../component/component.ts";
import type { JsonSchema } from "../manifest/manifest.ts";

/** What a deep look in a throw-away process found. */
export interface CheckReport {
  /** Why the component does not validate, or null. */
  readonly invalid: string | null;
  /** Why this version of Node cannot run a component that is valid, or null. */
  readonly missingFeature: string | null;
  /** Why generated glue has to carry the component's values, or null when the linker does. */
  readonly unlinkable: string | null;
  /** Schemas that do not compile: field and reason. */
  readonly schemaProblems: readonly { readonly field: string; readonly problem: string }[];
}

/** Validates the component and compiles the package's schemas, where hostile ones can do no harm. */
export type Checker = (
  info: ComponentInfo,
  schemas: readonly { readonly field: string; readonly schema: JsonSchema }[],
) => Promise<CheckReport>;
