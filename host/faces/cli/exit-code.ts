/**
 * What the process ends with. Outcomes carry theirs in `ENDINGS`, errors in `CODES`; these are the same numbers for what is
 * neither: 0 all well, 1 something ended otherwise, 2 bad input, 3 refused at admission, 4 the host failed.
 */
export const EXIT = Object.freeze({ good: 0, otherwise: 1, badInput: 2, refused: 3, hostFailed: 4 });
