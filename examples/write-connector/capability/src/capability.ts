import { type ConnectorError, invoke } from "airlock:capability/connectors@1.0.0";

/** The interface `handler` of the world `capability`. */
export const handler = {
  handle(input: string): string {
    const { euros, currency } = JSON.parse(input) as { euros: number; currency: string };
    return JSON.stringify(converted(euros, currency));
  },
};

function converted(euros: number, currency: string): string {
  try {
    const { payload } = invoke("acme.rates", "get", JSON.stringify({ from: "EUR", to: currency }));
    const { rate } = JSON.parse(payload) as { rate: number };
    return `${euros} EUR are ${euros * rate} ${currency}`;
  } catch (thrown) {
    const { payload } = thrown as { payload?: ConnectorError };
    if (payload === undefined) throw thrown;
    if (payload.tag !== "execution-failed") return `${payload.tag}: ${payload.val}`;
    return `${payload.tag}: ${payload.val.code}, ${payload.val.message}`;
  }
}
