/** Why the capability says no. The host reads `payload`: it is the `failure` of the WIT. */
export class Declined extends Error {
  readonly payload: {
    readonly code: string;
    readonly message: string;
    readonly retryable: false;
    readonly detail: string | null;
  };

  constructor(code: string, message: string, detail?: unknown) {
    super(message);
    this.payload = {
      code,
      message,
      retryable: false,
      detail: detail === undefined ? null : JSON.stringify(detail),
    };
  }
}
