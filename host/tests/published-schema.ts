import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { root } from "./airlock-command.ts";

/** Whether a value fits the JSON Schema that package.json exports under `./name`. */
export function schemaCheck(name: string): (value: unknown) => boolean {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const path = (exports[`./${name}`] as string).replace("./dist/", "host/");
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(join(root, path), "utf8")));
  return (value) => validate(value);
}
