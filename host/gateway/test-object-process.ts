/**
 * A process on an object store, for tests: `<directory> <letter>` puts a megabyte of the letter under one name, over and over, until it is
 * killed, and says so after the first; `<directory> <letter> once` says that it begins, and puts four megabytes once.
 */
import { objectStoreConnector } from "./object-store-connector.ts";
import { ask } from "./test-connector-call.ts";

const [, , directory = "", letter = "", once] = process.argv;
const store = objectStoreConnector({ directory });
const body = Buffer.alloc(once === undefined ? 2 ** 20 : 2 ** 22, letter).toString("base64");
if (once !== undefined) process.stdout.write("begins\n");
await ask(store, "put", { name: "same", body });
if (once === undefined) process.stdout.write("has put\n");
while (once === undefined) await ask(store, "put", { name: "same", body });
