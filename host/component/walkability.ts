import { typeText } from "./type-text.ts";
import { type FuncType, isPlain, NUMERIC_KINDS, TypeSearch, type WitType } from "./wit-type.ts";

/**
 * Whether a value can cross without the glue looping over elements whose number the guest chooses. `lists` says if it
 * holds numeric lists, which the glue copies at once. `typeName` is hostile text.
 */
export type Walkability =
  | { readonly ok: true; readonly lists: "none" | "typed-array" }
  | { readonly ok: false; readonly reason: "element-loop" | "not-plain"; readonly typeName: string };

/** What a signature asks of the host. */
export type SignatureClass = "plain" | "needs-walk" | "refused";

/** Where a function stands: its results are lifted out of the guest when it exports, its parameters when it imports. */
export type Side = "export" | "import";

/** What the questions below have found so far. One for all signatures of a component makes them cost its types once. */
export class SignatureSearch {
  readonly foreign = new TypeSearch((type) => !isPlain(type));
  readonly looped = new TypeSearch((type) => type.kind === "list" && !isTypedArray(type));
  readonly typedArray = new TypeSearch(isTypedArray);
}

/**
 * Guest to host. Scalars, strings, records, tuples, variants, options, results, enums, flags and lists of numbers are
 * ok; every other list is lifted by a loop that a guest can make as long as its memory is large, outside its fuel.
 */
export function liftWalkability(type: WitType, search = new SignatureSearch()): Walkability {
  const plain = lowerWalkability(type, search);
  const looped = plain.ok ? search.looped.find(type) : null;
  return looped === null ? plain : { ok: false, reason: "element-loop", typeName: typeText(looped) };
}

/** Host to guest: any plain type is ok, since the host bounds what it lowers. */
export function lowerWalkability(type: WitType, search = new SignatureSearch()): Walkability {
  const foreign = search.foreign.find(type);
  if (foreign !== null) return { ok: false, reason: "not-plain", typeName: typeText(foreign) };
  return { ok: true, lists: search.typedArray.find(type) === null ? "none" : "typed-array" };
}

/** The class of a whole signature, and the type that is why: null when it is plain. */
export function flatSignature(
  type: FuncType,
  side: Side,
  search = new SignatureSearch(),
): { readonly signature: SignatureClass; readonly typeName: string | null } {
  if (type.async) return { signature: "refused", typeName: "async func" };
  const params = type.params.map((param) => param.type);
  const results = type.result === null ? [] : [type.result];
  const [lifted, lowered] = side === "export" ? [results, params] : [params, results];
  const verdicts = [
    ...lowered.map((each) => lowerWalkability(each, search)),
    ...lifted.map((each) => liftWalkability(each, search)),
  ].filter((verdict) => !verdict.ok);
  const refused = verdicts.find((verdict) => verdict.reason === "not-plain");
  if (refused !== undefined) return { signature: "refused", typeName: refused.typeName };
  const [walked] = verdicts;
  return walked === undefined
    ? { signature: "plain", typeName: null }
    : { signature: "needs-walk", typeName: walked.typeName };
}

/** A list that jco copies through a typed array. A fixed-length list it lifts by a loop, whatever its elements. */
function isTypedArray(type: WitType): boolean {
  return type.kind === "list" && type.length === null && NUMERIC_KINDS.has(type.element.kind);
}
