/**
 * A process on a cache directory, for tests. `secret <directory>` waits for a line, makes 100 directories
 * within it, as other processes may do at the same time, and prints the digest of all secrets; `write <directory>` keeps values
 * of 8 MB under the keys 0 to 9, over and over, until it is killed.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { openCacheDirectory } from "./cache-directory.ts";
import { DiskCache } from "./disk-cache.ts";

const [, , task, directory = ""] = process.argv;

if (task === "secret") {
  process.stdout.write("ready\n");
  await once(process.stdin, "data");
  const hash = createHash("sha256");
  for (let number = 0; number < 100; number++) hash.update(openCacheDirectory(join(directory, `${number}`)).secret);
  process.stdout.write(hash.digest("hex"));
  process.stdin.destroy();
} else {
  const cache = new DiskCache({ directory, bytes: 2 ** 30 }, "test");
  for (let turn = 0; ; turn = (turn + 1) % 10) {
    cache.put(`${turn}`, { bytes: new Uint8Array(2 ** 23).fill(turn) });
    await cache.flush();
  }
}
