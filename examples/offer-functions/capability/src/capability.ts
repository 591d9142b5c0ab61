import { type Customer, find, type LookupError } from "acme:crm/lookup@1.0.0";

/** The interface `handler` of the world `offers`. */
export const handler = {
  handle(input: string): string {
    const { names } = JSON.parse(input) as { names: string[] };
    return JSON.stringify(names.map(offerFor));
  },
};

function offerFor(name: string): string {
  try {
    // Asynchronous in the application, a plain call here.
    return offer(find(name));
  } catch (thrown) {
    const { payload } = thrown as { payload?: LookupError };
    if (payload === undefined) throw thrown;
    return payload.tag === "ambiguous" ? `${name}: which of ${payload.val}?` : `${name}: no such customer`;
  }
}

function offer({ id, name, email, balanceCents, tier }: Customer): string {
  const owed = balanceCents < 0 ? `owes ${(-balanceCents / 100).toFixed(2)}` : "owes nothing";
  return `${name} (${id}): ${tier}, ${owed}, ${email ? `mail to ${email}` : "no mail"}`;
}
