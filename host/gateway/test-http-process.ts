/** A process that asks `localhost` at the port of its argument over the connector `http`, for tests, and prints the body. */
import { httpConnector } from "./http-connector.ts";
import { ask, bodyText } from "./test-connector-call.ts";

const port = Number(process.argv[2]);
const connector = httpConnector({ hosts: [{ host: "localhost", port, insecure: true, allowPrivate: true }] });
process.stdout.write(bodyText(await ask(connector, "get", { host: "localhost" })));
