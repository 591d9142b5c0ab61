import { emitEvent } from "airlock:capability/events@1.0.0";
import { write } from "airlock:capability/log@1.0.0";
import { type ProfileInput, profile } from "./profile.ts";

const EVENT_VERSION = "1.0.0";

/** The interface `handler` of the world `subscribable`. */
export const handler = {
  handle(input: string): string {
    let refused = 0;
    const output = profile(JSON.parse(input) as ProfileInput, (type, payload) => {
      try {
        emitEvent(type, EVENT_VERSION, JSON.stringify(payload));
      } catch {
        // The profile is worth having without it; past the event budget the host refuses every further one.
        refused++;
      }
    });
    if (refused > 0) write("warn", `${refused} events were refused by the host`);
    return JSON.stringify(output);
  },
};
