/**
 * A process on a cache directory, for tests. `secret <directory>` prints the digest of the secret; `write <directory>` keeps values
 * of 8 MB under the keys 0 to 9, over and over, until it is killed.
 */
import { createHash } from "node:crypto";
import { openCacheDirectory } from "./cache-directory.ts";
import { DiskCache } from "./disk-cache.ts";

const [, , task, directory = ""] = process.argv;

if (task === "secret") {
  process.stdout.write(createHash("sha256").update(openCacheDirectory(directory).secret).digest("hex"));
} else {
  const cache = new DiskCache({ directory, bytes: 2 ** 30 }, "test");
  for (let turn = 0; ; turn = (turn + 1) % 10) {
    cache.put(`${turn}`, { bytes: new Uint8Array(2 ** 23).fill(turn) });
    await cache.flush();
  }
}
