import { emitEvent } from "airlock:capability/events@1.0.0";
import { write } from "airlock:capability/log@1.0.0";
import { type RedactInput, redact } from "./redact.ts";

const EVENT_VERSION = "1.0.0";

/** The interface `handler` of the world `subscribable`. */
export const handler = {
  handle(input: string): string {
    const output = redact(JSON.parse(input) as RedactInput, (type, payload) => {
      try {
        emitEvent(type, EVENT_VERSION, JSON.stringify(payload));
      } catch {
        // The masked text is worth having without it.
        write("warn", `The host refused the event ${type}`);
      }
    });
    return JSON.stringify(output);
  },
};
