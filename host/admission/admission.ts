/**
 * Admission: the decision to let a component in. In: a manifest (or none, to inspect), the bytes, the host's policy. Out: an
 * `Admission`, or a report with every violation. Holds always: all checks run on the one buffer that was read, nothing of
 * the component runs, no generated code exists before the name gate has passed, every limit asked for can be held. Not
 * promised: that the component does what its manifest says.
 */
export { type AdmissionRequest, type Admitted, admit, inspectComponent, inspectUnreadable } from "./admit.ts";
export type { Checker, CheckReport } from "./checker.ts";
export { type HostAbiReport, supportedHostAbiVersions, verifyHostAbi } from "./host-abi.ts";
export { type GrantedImports, HOST_ABI_VERSIONS, type ImportDecision, type InterfaceClass } from "./interfaces.ts";
export type { AdmissionPolicy } from "./policy.ts";
export type { AdmissionReport } from "./report.ts";
export { errorCodeOf, refusal, VIOLATION_CODES, type Violation, type ViolationCode } from "./violations.ts";
export { CORE_OPERATION, type WayIn } from "./way-in.ts";
