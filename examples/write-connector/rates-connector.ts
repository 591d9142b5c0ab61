import { type Connector, ConnectorError } from "airlock";

/** A connector of the application's own: exchange rates, which it alone knows how to get. */
export function ratesConnector(
  fetchRate: (from: string, to: string, signal: AbortSignal) => Promise<number>,
): Connector {
  return {
    id: "acme.rates",
    version: "1.2.0",
    description: "Exchange rates of today",
    async invoke({ operation, payload }, { signal }) {
      if (operation !== "get") throw new ConnectorError("unknown-operation", `${operation} is not known: get is`);
      // The guest's words: JSON within its bounds, and nothing else is known of them.
      const { from, to } = Object(payload) as { readonly from?: unknown; readonly to?: unknown };
      if (!isCurrency(from) || !isCurrency(to))
        throw new ConnectorError("invalid-request", "from and to are currencies");
      return { resultClass: "success", payload: { from, to, rate: await fetchRate(from, to, signal) } };
    },
  };
}

function isCurrency(value: unknown): value is string {
  return typeof value === "string" && /^[A-Z]{3}$/.test(value);
}
