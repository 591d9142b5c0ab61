// The program that newer versions of Node run: orders come in on stdin, reports go out on stdout.
import { readFileSync } from "node:fs";
import { type BurnOrder, burn } from "./burn.ts";

const orders = JSON.parse(readFileSync(0, "utf8")) as readonly BurnOrder[];
process.stdout.write(JSON.stringify(burn(orders)));
