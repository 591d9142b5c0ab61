import { HostError, isHostError, quote } from "../errors/errors.ts";
import { brief, createSchemaValidator, knownNames, parseJsonText } from "../manifest/manifest.ts";
import { type OllamaDefinition, ollamaProvider } from "./ollama-provider.ts";
import { type OpenAiCompatibleDefinition, openAiCompatibleProvider } from "./openai-compatible-provider.ts";
import type { PoolCatalog } from "./pool-catalog.ts";
import {
  CANDIDATE_FIELDS,
  LIST_FIELDS,
  type ListedKind,
  type ListField,
  type ListFields,
  MOST_ENTRIES,
  POOL_FIELDS,
  POOL_NAME,
  POOL_NAME_WANTED,
  PROVIDER_FIELDS,
} from "./provider-list-schema.ts";

/** What the servers of a list have besides their definition, which is without its key. */
interface ListedServer {
  readonly id: string;
  /** Slots of its own; null for one that stands in the catalog of a pool. */
  readonly slots: { readonly capacity?: number; readonly queue?: number } | null;
  /** The environment variable that holds its key; null for none. */
  readonly apiKeyEnv: string | null;
}

/** A provider as a list names it. */
export type ListedProvider =
  /** The path of a package, as the list has it. */
  | { readonly kind: "component"; readonly package: string }
  | (ListedServer & { readonly kind: "ollama"; readonly definition: OllamaDefinition })
  | (ListedServer & { readonly kind: "openai-compatible"; readonly definition: OpenAiCompatibleDefinition });

/** Providers and pools, as a file names them. Fits `PROVIDER_LIST_SCHEMA`. */
export interface ProviderList {
  readonly providers: readonly ListedProvider[];
  /** By name. */
  readonly pools: Readonly<Record<string, PoolCatalog>>;
}

type Values = Readonly<Record<string, unknown>>;

/** Nobody reads more of them. */
const MOST_PROBLEMS = 50;

/**
 * Reads the text of a list of providers; starts and asks nobody. `where` names the text in messages. Throws AIRLOCK_PROVIDERS_FILE_INVALID:
 * the message is the first problem, `details.problems` has all of them. No message shows a base URL or what stands in `apiKeyEnv`.
 */
export function parseProviderList(text: string, where: string): ProviderList {
  const json = parseJsonText(text.replace(/^\ufeff/, ""));
  if (json.kind !== "value") {
    // Of the text itself nothing is shown: whoever wrote a key into it by mistake finds it in no log.
    throw listRefusal(where, [json.kind === "not-json" ? "it is not JSON" : `it ${json.text}`]);
  }
  const problems = problemsOf(json.value);
  if (problems.length > 0) throw listRefusal(where, problems);
  const { providers, pools = {} } = json.value as { providers: readonly Values[]; pools?: ProviderList["pools"] };
  const catalogued = new Set(
    Object.values(pools).flatMap(({ candidates }) => candidates.map((each) => each.providerId)),
  );
  const list = { providers: providers.map((values) => listed(values, catalogued)), pools };
  const refused = list.providers.flatMap((provider, index) => definitionProblems(provider, `providers.${index}`));
  const conflicting = [...refused, ...slotProblems(list), ...candidateProblems(list)];
  if (conflicting.length > 0) throw listRefusal(where, conflicting);
  return list;
}

/** The error for a list that has problems. */
export function listRefusal(where: string, problems: readonly string[], cause?: unknown): HostError {
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new HostError(
    "AIRLOCK_PROVIDERS_FILE_INVALID",
    `The file of providers ${quote(where)} is refused: ${problems[0]}${more}`,
    { details: { where, problems: problems.slice(0, MOST_PROBLEMS) }, ...(cause === undefined ? {} : { cause }) },
  );
}

function problemsOf(value: unknown): readonly string[] {
  const check = fieldCheck();
  const problems = recordProblems(value, "", LIST_FIELDS, check, ["providers", "pools"]);
  if (!isRecord(value)) return problems;
  const { providers, pools } = value;
  if (isList(providers, 0)) {
    for (const [index, each] of providers.entries())
      problems.push(...providerProblems(each, `providers.${index}`, check));
  } else if (providers !== undefined) problems.push(wrong("providers", providers, LIST_FIELDS["providers"]!));
  if (!isRecord(pools) || Object.keys(pools).length > MOST_ENTRIES) {
    if (pools !== undefined) problems.push(wrong("pools", pools, LIST_FIELDS["pools"]!));
    return problems;
  }
  for (const [name, pool] of Object.entries(pools)) {
    if (!new RegExp(POOL_NAME).test(name)) problems.push(`pools has the name ${quote(name, 60)}: ${POOL_NAME_WANTED}`);
    else problems.push(...poolProblems(pool, `pools.${name}`, check));
  }
  return problems;
}

function providerProblems(value: unknown, path: string, check: FieldCheck): readonly string[] {
  if (!isRecord(value)) return [`${path} is ${brief(value)}: an object is wanted`];
  const kinds = Object.keys(PROVIDER_FIELDS);
  const { kind, ...values } = value;
  if (kind === undefined) return [`${path}.kind is missing: one of ${kinds.join(", ")} is wanted`];
  if (typeof kind === "string" && kinds.includes(kind)) {
    return recordProblems(values, path, PROVIDER_FIELDS[kind as ListedKind], check);
  }
  const hint = typeof kind === "string" ? knownNames(kind, kinds) : `known are ${kinds.join(", ")}`;
  return [`${path}.kind is ${brief(kind)}: ${hint}`];
}

function poolProblems(value: unknown, path: string, check: FieldCheck): readonly string[] {
  const problems = recordProblems(value, path, POOL_FIELDS, check, ["candidates"]);
  const candidates = isRecord(value) ? value["candidates"] : undefined;
  if (candidates === undefined) return problems;
  if (!isList(candidates, 1)) {
    return [...problems, wrong(`${path}.candidates`, candidates, POOL_FIELDS["candidates"]!)];
  }
  return [
    ...problems,
    ...candidates.flatMap((each, index) =>
      recordProblems(each, `${path}.candidates.${index}`, CANDIDATE_FIELDS, check),
    ),
  ];
}

/** `elsewhere` are fields whose values are looked at by the caller. */
function recordProblems(
  value: unknown,
  path: string,
  fields: ListFields,
  check: FieldCheck,
  elsewhere: readonly string[] = [],
): string[] {
  const prefix = path === "" ? "" : `${path}.`;
  if (!isRecord(value)) return [`${path === "" ? "it" : path} is ${brief(value)}: an object is wanted`];
  const problems: string[] = [];
  for (const [name, each] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const hint = knownNames(name, Object.keys(fields));
      problems.push(`${path === "" ? "it" : path} has the unknown field ${quote(name, 60)}: ${hint}`);
    } else if (!elsewhere.includes(name) && !check(field, each)) problems.push(wrong(prefix + name, each, field));
  }
  for (const [name, { required, wanted }] of Object.entries(fields)) {
    if (required === true && !Object.hasOwn(value, name)) problems.push(`${prefix}${name} is missing: ${wanted}`);
  }
  return problems;
}

type FieldCheck = (field: ListField, value: unknown) => boolean;

/** One schema validator for all fields, each compiled when it is met. */
function fieldCheck(): FieldCheck {
  const validator = createSchemaValidator();
  const compiled = new Map<ListField, (value: unknown) => string | null>();
  return (field, value) => {
    const fits = compiled.get(field) ?? validator.compile(field.schema);
    compiled.set(field, fits);
    return fits(value) === null;
  };
}

function wrong(path: string, value: unknown, { wanted, hidden }: ListField): string {
  return hidden === true ? `${path} has a value that is not shown: ${wanted}` : `${path} is ${brief(value)}: ${wanted}`;
}

function listed(values: Values, catalogued: ReadonlySet<string>): ListedProvider {
  if (values["kind"] === "component") return { kind: "component", package: values["package"] as string };
  const { kind, capacity, queue, apiKeyEnv = null, ...definition } = values;
  const id = definition["id"] as string;
  const own = { ...(capacity === undefined ? {} : { capacity }), ...(queue === undefined ? {} : { queue }) };
  const slots = catalogued.has(id) && Object.keys(own).length === 0 ? null : own;
  return { kind, id, definition, slots, apiKeyEnv } as unknown as ListedProvider;
}

/** What only the provider itself knows to be wrong. */
function definitionProblems(provider: ListedProvider, path: string): readonly string[] {
  try {
    if (provider.kind === "ollama") ollamaProvider(provider.definition);
    if (provider.kind === "openai-compatible") openAiCompatibleProvider(provider.definition);
    return [];
  } catch (error) {
    if (!isHostError(error)) throw error;
    return [`${path}: ${error.message}`];
  }
}

/** A provider whose slots are a pool's has none of its own. */
function slotProblems({ providers, pools }: ProviderList): readonly string[] {
  return Object.entries(pools).flatMap(([name, { candidates }]) =>
    candidates.flatMap(({ providerId }) => {
      const at = providers.findIndex((each) => each.kind !== "component" && each.id === providerId);
      const found = providers[at];
      if (found === undefined || found.kind === "component" || found.slots === null) return [];
      const [key] = Object.keys(found.slots);
      return [`providers.${at}.${key} is given, but its slots are those of pools.${name}: remove it here`];
    }),
  );
}

/** Each candidate once; whether it is there is known when the packages were looked at. */
function candidateProblems({ pools }: ProviderList): readonly string[] {
  const seen = new Map<string, string>();
  return Object.entries(pools).flatMap(([name, { candidates }]) =>
    candidates.flatMap(({ providerId }, index) => {
      const path = `pools.${name}.candidates.${index}`;
      const first = seen.get(providerId);
      if (first !== undefined) return [`${path} is ${quote(providerId)} again: ${first} has it already`];
      seen.set(providerId, path);
      return [];
    }),
  );
}

function isList(value: unknown, least: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length >= least && value.length <= MOST_ENTRIES;
}

function isRecord(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
