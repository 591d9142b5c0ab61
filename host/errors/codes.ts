import type { FailureCode } from "./endings.ts";

/** What the one table says of an error code. */
export interface CodeEntry {
  /** HTTP status that a face over HTTP answers with. */
  readonly status: number;
  /** Exit code of the command line: 2 bad input, 3 refused at admission, 4 the host failed. */
  readonly exit: 2 | 3 | 4;
  /** Whether the same call can succeed later without a change by the caller. */
  readonly retry: boolean;
  /** The provider-neutral word for it. */
  readonly failure: FailureCode;
  /** What the code means, in one clause. */
  readonly text: string;
}

const refused = (text: string): CodeEntry => ({
  status: 422,
  exit: 3,
  retry: false,
  failure: "admission_rejected",
  text,
});
const badInput = (text: string): CodeEntry => ({
  status: 400,
  exit: 2,
  retry: false,
  failure: "invalid_request",
  text,
});

/** Every error code of the host. A code is never reused and never changes its meaning. */
export const CODES = {
  AIRLOCK_MANIFEST_UNREADABLE: badInput("the manifest or package cannot be read"),
  AIRLOCK_MANIFEST_INVALID: badInput("a field of the manifest is missing, unknown or has a wrong value"),
  AIRLOCK_MANIFEST_ARTIFACT_TYPE: refused(
    "the manifest is of a native capability where a Wasm one is wanted, or the reverse",
  ),

  AIRLOCK_METER_MALFORMED: refused("the core module does not decode or does not validate"),
  AIRLOCK_METER_UNSUPPORTED: refused("the core module uses an instruction or feature that is not metered"),
  AIRLOCK_METER_RESERVED_NAME: refused("the core module uses an import or export name that the meter reserves"),
  AIRLOCK_METER_TOO_COMPLEX: refused("the core module is past a complexity cap or a limit of the engine"),

  AIRLOCK_COMPONENT_MALFORMED: refused("the bytes are not a component that decodes"),
  AIRLOCK_COMPONENT_UNSUPPORTED: refused("the component uses a feature of the component model that is not supported"),

  AIRLOCK_ADMISSION_BINARY_LOAD_FAILED: refused("the component file cannot be read safely"),
  AIRLOCK_ADMISSION_TOO_LARGE: refused("the component is larger than the cap"),
  AIRLOCK_ADMISSION_CHECKSUM_MISMATCH: refused("the bytes do not have the digest that the manifest names"),
  AIRLOCK_ADMISSION_MALFORMED_WASM_ARTIFACT: refused("the component or one of its core modules is not valid"),
  AIRLOCK_ADMISSION_UNSUPPORTED_PROFILE: refused("the host's policy does not run the profile"),
  AIRLOCK_ADMISSION_PROFILE_MISMATCH: refused("the bytes are of another kind than the profile says"),
  AIRLOCK_ADMISSION_UNSUPPORTED_ABI_VERSION: refused("the host ABI version is not supported"),
  AIRLOCK_ADMISSION_UNSAFE_NAME: refused("a name in the component could become code in the host"),
  AIRLOCK_ADMISSION_TOO_COMPLEX: refused("the component is past a complexity cap"),
  AIRLOCK_ADMISSION_UNAUTHORIZED_HOST_IMPORT: refused("the component imports what it was not granted"),
  AIRLOCK_ADMISSION_IMPORT_LIST_MISMATCH: refused("the manifest's import list is not the component's"),
  AIRLOCK_ADMISSION_MISSING_EXPORT: refused("the component exports no way in that the host can call"),
  AIRLOCK_ADMISSION_INVALID_SCHEMA: refused("a JSON Schema of the package is not acceptable"),
  AIRLOCK_ADMISSION_LIMIT_UNENFORCEABLE: refused("a limit cannot be held for this component"),
  AIRLOCK_ADMISSION_GRANT_DENIED: refused("a grant of the manifest is not allowed by the host's policy"),
  AIRLOCK_ADMISSION_ENGINE_FEATURE_MISSING: refused("this version of Node lacks a feature that the component uses"),

  AIRLOCK_COMPILE_FAILED: refused("the component passed the checks but could not be compiled"),
  AIRLOCK_COMPILE_TIMED_OUT: refused("compiling the component took longer than allowed"),
  AIRLOCK_COMPILE_CACHE_UNSAFE: badInput("other users could have written to the cache directory, or read its secret"),

  AIRLOCK_HOST_OPTIONS_INVALID: badInput("an option of createHost or install is unknown or has a wrong value"),
  AIRLOCK_HOST_CLOSED: {
    status: 503,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "the host is closed",
  },

  AIRLOCK_PROVIDERS_MISSING: {
    status: 404,
    exit: 2,
    retry: false,
    failure: "provider_missing",
    text: "no such capability is installed",
  },
  AIRLOCK_PROVIDERS_DUPLICATE: badInput("a capability of that id and version is already installed"),
  AIRLOCK_PROVIDERS_UNAVAILABLE: {
    status: 503,
    exit: 4,
    retry: true,
    failure: "provider_unavailable",
    text: "no provider that could serve the run is connected",
  },
  AIRLOCK_PROVIDERS_START_FAILED: {
    status: 502,
    exit: 4,
    retry: true,
    failure: "provider_unavailable",
    text: "a provider could not be started",
  },
  AIRLOCK_PROVIDERS_CHECK_FAILED: {
    status: 502,
    exit: 4,
    retry: true,
    failure: "provider_failed",
    text: "a provider failed as it checked a request",
  },
  AIRLOCK_PROVIDERS_CATALOG_INVALID: badInput("the catalog of a provider pool has a wrong value"),
  AIRLOCK_PROVIDERS_DEFINITION_INVALID: badInput("the definition of a native provider has a wrong value"),
  AIRLOCK_PROVIDERS_FILE_UNREADABLE: badInput("the file of providers cannot be read"),
  AIRLOCK_PROVIDERS_FILE_INVALID: badInput("a field of the file of providers is missing, unknown or has a wrong value"),
  AIRLOCK_PROVIDERS_KEY_MISSING: badInput("the environment variable that holds a provider's key is not set"),
  AIRLOCK_PROVIDERS_GATE_INVALID: badInput("a bound or the target of a stream gate has a wrong value"),
  AIRLOCK_PROVIDERS_EVENTS_TAKEN: {
    status: 409,
    exit: 2,
    retry: false,
    failure: "invalid_request",
    text: "the events of the run cannot be read from their beginning any more",
  },
  AIRLOCK_PROVIDERS_CAPACITY_INVALID: {
    status: 400,
    exit: 2,
    retry: false,
    failure: "invalid_capacity",
    text: "the capacity of a native executor is out of its range",
  },
  AIRLOCK_PROVIDERS_COMMAND_NOT_ALLOWED: {
    status: 403,
    exit: 2,
    retry: false,
    failure: "command_not_allowed",
    text: "the command, or what it asks for, is not on the list",
  },
  AIRLOCK_PROVIDERS_COMMAND_UNSUPPORTED: {
    status: 501,
    exit: 2,
    retry: false,
    failure: "command_unsupported",
    text: "the provider does not have the command",
  },
  AIRLOCK_PROVIDERS_COMMAND_INVALID: badInput(
    "an argument of a provider command is missing, unknown or has a wrong value",
  ),
  AIRLOCK_PROVIDERS_COMMAND_FAILED: {
    status: 502,
    exit: 4,
    retry: true,
    failure: "provider_failed",
    text: "the provider could not answer the command",
  },

  AIRLOCK_GATEWAY_CONNECTOR_INVALID: badInput("a connector, or how it is bound, has a wrong value"),
  AIRLOCK_GATEWAY_CONNECTOR_DUPLICATE: {
    status: 409,
    exit: 2,
    retry: false,
    failure: "invalid_request",
    text: "the connector is bound already for the capability",
  },
  AIRLOCK_GATEWAY_CONNECTOR_UNKNOWN: {
    status: 404,
    exit: 2,
    retry: false,
    failure: "invalid_request",
    text: "no such connector is bound",
  },
  AIRLOCK_GATEWAY_FILE_UNREADABLE: badInput("the file of connectors cannot be read"),
  AIRLOCK_GATEWAY_FILE_INVALID: badInput("a field of the file of connectors is missing, unknown or has a wrong value"),
  AIRLOCK_GATEWAY_VALUE_MISSING: badInput("an environment variable that the file of connectors names is not set"),

  AIRLOCK_STORE_OPTIONS_INVALID: badInput("an option of openStore, or an argument of a store, has a wrong value"),
  AIRLOCK_STORE_UNSAFE: badInput("other users could have read or written the store, or a link leads out of it"),
  AIRLOCK_STORE_DRIVER_MISSING: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "the package that drives the store is not installed, or cannot be loaded",
  },
  AIRLOCK_STORE_CORRUPT: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_failed",
    text: "the store's file is damaged, or is no store",
  },
  AIRLOCK_STORE_NEWER: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "a newer version of this program has written the store",
  },
  AIRLOCK_STORE_UNAVAILABLE: {
    status: 503,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "the file system does not let the store be read or written",
  },
  AIRLOCK_STORE_BUSY: {
    status: 503,
    exit: 4,
    retry: true,
    failure: "provider_unavailable",
    text: "other processes have kept the store locked for too long; nothing was written",
  },
  AIRLOCK_STORE_FULL: {
    status: 507,
    exit: 4,
    retry: true,
    failure: "provider_unavailable",
    text: "the disk is full, or the store has as many bytes as it may have; nothing was written",
  },
  AIRLOCK_STORE_CLOSED: {
    status: 503,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "the store is closed",
  },

  AIRLOCK_INVOCATION_REQUEST_INVALID: badInput("an argument of run is missing or has a wrong value"),
  AIRLOCK_INVOCATION_OPERATION_UNKNOWN: badInput("the capability has no such operation"),
  AIRLOCK_INVOCATION_INPUT_TOO_LARGE: {
    status: 413,
    exit: 2,
    retry: false,
    failure: "invalid_request",
    text: "the input is larger than inputBytes",
  },
  AIRLOCK_INVOCATION_RUN_ID_TAKEN: {
    status: 409,
    exit: 2,
    retry: false,
    failure: "invalid_request",
    text: "a run with that id is in flight",
  },
  AIRLOCK_INVOCATION_RUN_UNKNOWN: {
    status: 404,
    exit: 2,
    retry: false,
    failure: "invalid_request",
    text: "no run with that id is in flight",
  },

  AIRLOCK_POOL_QUEUE_FULL: {
    status: 429,
    exit: 4,
    retry: true,
    failure: "queue_full",
    text: "as many runs wait as the queue holds",
  },
  AIRLOCK_POOL_WORKER_MISSING: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "the worker file cannot be found",
  },

  AIRLOCK_TOOLCHAIN_BUILD_FAILED: badInput("the capability's source could not be built"),
  AIRLOCK_TOOLCHAIN_MISSING: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_unavailable",
    text: "a build-time package is not installed",
  },

  AIRLOCK_MEASURE_OPTIONS_INVALID: badInput("an option of bench is missing, unknown or has a wrong value"),
  AIRLOCK_MEASURE_CASES_INVALID: badInput("a folder of cases or one of its files cannot be read"),
  AIRLOCK_MEASURE_CASE_FAILED: badInput("a measured call did not end as its case says, or as the calls before it"),
  AIRLOCK_MEASURE_BASELINE_INVALID: badInput("a baseline cannot be read, or has nothing in common with the results"),
  AIRLOCK_MEASURE_COLD_START_FAILED: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_failed",
    text: "a process that was started to be timed ended without an answer",
  },

  AIRLOCK_CLI_USAGE: badInput("an argument or option of the command line is missing, unknown or has a wrong value"),
  AIRLOCK_CLI_INPUT_UNREADABLE: badInput("the input of a run cannot be read, or is not what the options say"),
  AIRLOCK_CLI_DEFECT: {
    status: 500,
    exit: 4,
    retry: false,
    failure: "provider_failed",
    text: "something was thrown that is no error of the host",
  },
} as const satisfies Record<string, CodeEntry>;

/** The stable name of an error. */
export type HostErrorCode = keyof typeof CODES;
