/** The error codes of `wasi:filesystem` that the granted directory answers with. */
export type FilesystemError =
  | "access"
  | "busy"
  | "invalid"
  | "io"
  | "is-directory"
  | "loop"
  | "name-too-long"
  | "no-entry"
  | "not-directory"
  | "not-permitted"
  | "overflow"
  | "read-only";

const BY_ERRNO: Readonly<Record<string, FilesystemError>> = {
  EACCES: "access",
  EISDIR: "is-directory",
  ELOOP: "loop",
  EMFILE: "busy",
  ENFILE: "busy",
  ENAMETOOLONG: "name-too-long",
  ENOENT: "no-entry",
  ENOTDIR: "not-directory",
  EPERM: "not-permitted",
};

/**
 * What a guest is told instead of an error of the system: a code, never its text, which names paths of the host. Anything
 * else that was thrown comes back as it is.
 */
export function filesystemErrorOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !("syscall" in thrown) || !("code" in thrown)) return thrown;
  const code = String(thrown.code);
  return Object.hasOwn(BY_ERRNO, code) ? BY_ERRNO[code] : ("io" satisfies FilesystemError);
}
