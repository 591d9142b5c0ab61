import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { encodeHead } from "./object-head.ts";
import { objectStoreConnector } from "./object-store-connector.ts";
import { ask, bodyText, codeOf } from "./test-connector-call.ts";

const PROGRAM = fileURLToPath(new URL("test-object-process.ts", import.meta.url));
const TSX = ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];
const scratch = mkdtempSync(join(tmpdir(), "airlock-object-attacks-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function sha256(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex");
}

let made = 0;
/** A store with one object, and where things are in it. */
async function ground() {
  made += 1;
  const directory = join(scratch, `${made}`);
  const store = objectStoreConnector({ directory });
  await ask(store, "put", { name: "mine", body: Buffer.from("mine").toString("base64") });
  const folder = join(directory, sha256("acme.test"));
  const fileOf = (name: string): string => join(folder, sha256(name));
  const outside = join(scratch, `outside-${made}`);
  writeFileSync(outside, "outside", { mode: 0o600 });
  return { directory, store, folder, fileOf, outside };
}

function object(name: string, body: string): Buffer {
  return Buffer.concat([encodeHead({ name, size: body.length, sha256: sha256(body) }), Buffer.from(body)]);
}

describe("a link", () => {
  it("in the place of an object is not followed, is replaced by a put, and removed by a delete", async () => {
    const { store, fileOf, outside, folder } = await ground();
    for (const target of [outside, fileOf("mine"), join(folder, "nowhere"), "/dev/zero"]) {
      symlinkSync(target, fileOf("planted"));
      expect(await codeOf(ask(store, "get", { name: "planted" }))).toBe("unsafe-storage");
      expect(await codeOf(ask(store, "head", { name: "planted" }))).toBe("unsafe-storage");
      expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [{ name: "mine" }], damaged: 1 } });
      await ask(store, "put", { name: "planted", body: "aGk=" });
      expect(lstatSync(fileOf("planted")).isFile()).toBe(true);
      expect(bodyText(await ask(store, "get", { name: "planted" }))).toBe("hi");
      rmSync(fileOf("planted"));
      symlinkSync(target, fileOf("planted"));
      await ask(store, "delete", { name: "planted" });
      expect(readdirSync(folder)).toEqual([sha256("mine")]);
    }
    expect(readFileSync(outside, "utf8")).toBe("outside");
    expect(bodyText(await ask(store, "get", { name: "mine" }))).toBe("mine");
  });

  it("in the place of a capability's folder is not entered", async () => {
    const { directory, store, folder } = await ground();
    const elsewhere = join(scratch, `elsewhere-${made}`);
    renameSync(folder, elsewhere);
    symlinkSync(elsewhere, folder);
    for (const [operation, payload] of [
      ["put", { name: "x", body: "" }],
      ["get", { name: "mine" }],
      ["head", { name: "mine" }],
      ["list", {}],
      ["delete", { name: "mine" }],
    ] as const) {
      expect(await codeOf(ask(store, operation, payload))).toBe("unsafe-storage");
    }
    expect(readdirSync(elsewhere)).toEqual([sha256("mine")]);
    expect(readdirSync(directory)).toEqual([sha256("acme.test")]);
  });

  it("in the place of the directory is refused, and one that takes its place later is never entered", async () => {
    const { directory, store } = await ground();
    const moved = `${directory}-moved`;
    const trap = join(scratch, `trap-${made}`);
    mkdirSync(trap, { mode: 0o700 });
    renameSync(directory, moved);
    symlinkSync(trap, directory);
    for (const spelled of [directory, `${directory}/`, `${directory}/.`]) {
      expect(() => objectStoreConnector({ directory: spelled })).toThrow(
        expect.objectContaining({ code: "AIRLOCK_GATEWAY_CONNECTOR_INVALID" }),
      );
    }
    expect(bodyText(await ask(store, "get", { name: "mine" }))).toBe("mine");
    await ask(store, "put", { name: "later", body: "" });
    await ask(store, "put", { name: "later", body: "" }, { capabilityId: "acme.other" });
    expect(readdirSync(trap)).toEqual([]);
    expect(readdirSync(moved)).toHaveLength(2);
  });

  it("that is hard, and so a second name for what lies elsewhere, is not read", async () => {
    const { store, fileOf } = await ground();
    const planted = join(scratch, `hard-${made}`);
    writeFileSync(planted, object("hard", "text"), { mode: 0o600 });
    linkSync(planted, fileOf("hard"));
    expect(await codeOf(ask(store, "get", { name: "hard" }))).toBe("unsafe-storage");
    rmSync(planted);
    expect(bodyText(await ask(store, "get", { name: "hard" }))).toBe("text");
  });
});

describe("a directory that others may enter", () => {
  it.each([0o755, 0o770, 0o701])("with the mode %i is refused", (mode) => {
    const directory = join(scratch, `mode-${mode}`);
    mkdirSync(directory);
    chmodSync(directory, mode);
    expect(() => objectStoreConnector({ directory })).toThrow(/other users must not have any access/);
  });

  it("is not used where it is a capability's folder", async () => {
    const { store, folder } = await ground();
    chmodSync(folder, 0o777);
    expect(await codeOf(ask(store, "get", { name: "mine" }))).toBe("unsafe-storage");
    expect(await codeOf(ask(store, "put", { name: "x", body: "" }))).toBe("unsafe-storage");
  });
});

describe("what was planted in the place of an object", () => {
  it("hangs nobody: a FIFO, a socket, a directory", async () => {
    const { store, fileOf } = await ground();
    execFileSync("mkfifo", ["-m", "600", fileOf("fifo")]);
    mkdirSync(fileOf("directory"));
    writeFileSync(join(fileOf("directory"), "x"), "");
    const server = createServer().listen({ path: join(scratch, "s") });
    await once(server, "listening");
    renameSync(join(scratch, "s"), fileOf("socket"));
    for (const name of ["fifo", "socket", "directory"]) {
      expect(await codeOf(ask(store, "get", { name }))).toBe("unsafe-storage");
      expect(await codeOf(ask(store, "head", { name }))).toBe("unsafe-storage");
    }
    expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [{ name: "mine" }], damaged: 3 } });
    expect(await codeOf(ask(store, "put", { name: "directory", body: "" }))).toBe("unsafe-storage");
    expect(await codeOf(ask(store, "delete", { name: "directory" }))).toBe("unsafe-storage");
    await ask(store, "put", { name: "fifo", body: "aGk=" });
    expect(bodyText(await ask(store, "get", { name: "fifo" }))).toBe("hi");
    server.close();
  });

  it("is found out when it is a changed, a cut, a longer, a swapped or another file", async () => {
    const { store, fileOf } = await ground();
    await ask(store, "put", { name: "other", body: Buffer.from("other").toString("base64") });
    const whole = readFileSync(fileOf("mine"));
    const huge = encodeHead({ name: "mine", size: 2 ** 40, sha256: sha256("") });
    const lengthy = Buffer.from(whole);
    lengthy.writeUInt32BE(2 ** 32 - 1, 16);
    const forms: Record<string, Buffer> = {
      empty: Buffer.alloc(0),
      text: Buffer.from("mine"),
      cut: whole.subarray(0, -1),
      longer: Buffer.concat([whole, Buffer.from("x")]),
      swapped: readFileSync(fileOf("other")),
      "with another name": object("Mine", "mine"),
      "with a name that is none": object("https://example.com/", "mine"),
      "with a huge size": huge,
      "with a long head": lengthy,
    };
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 1;
      forms[`changed at ${at}`] = changed;
    }
    for (const [form, bytes] of Object.entries(forms)) {
      writeFileSync(fileOf("mine"), bytes);
      expect(await codeOf(ask(store, "get", { name: "mine" })), form).toBe("digest-mismatch");
      expect(await codeOf(ask(store, "get", { name: "mine", offset: 0, length: 0 })), form).toBe("digest-mismatch");
    }
    writeFileSync(fileOf("mine"), huge);
    truncateSync(fileOf("mine"), huge.length + 2 ** 40);
    expect(await codeOf(ask(store, "get", { name: "mine" }))).toBe("object-too-large");
    expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [{ name: "other" }], damaged: 1 } });
    writeFileSync(fileOf("mine"), object("https://example.com/", "mine"));
    expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [{ name: "other" }], damaged: 1 } });
    writeFileSync(fileOf("mine"), readFileSync(fileOf("other")));
    expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [{ name: "other" }], damaged: 1 } });
    writeFileSync(fileOf("mine"), whole);
    expect(bodyText(await ask(store, "get", { name: "mine" }))).toBe("mine");
  });

  it("counts against the bounds, and more of it than is looked through takes no put", async () => {
    const { directory, folder } = await ground();
    const store = objectStoreConnector({ directory, maxTotalBytes: 1_000, maxObjects: 5 });
    writeFileSync(join(folder, "stray"), Buffer.alloc(1_000));
    expect(await codeOf(ask(store, "put", { name: "x", body: "" }))).toBe("storage-full");
    rmSync(join(folder, "stray"));
    for (let number = 0; number < 1_040; number++) writeFileSync(join(folder, `stray-${number}`), "");
    expect(await codeOf(ask(store, "put", { name: "x", body: "" }))).toBe("storage-full");
    expect(await codeOf(ask(store, "list", {}))).toBe("storage-full");
  });

  it("is removed when it is a draft of a process that is long gone, and no other draft is", async () => {
    const { store, folder } = await ground();
    for (const name of [".draft-old", ".draft-new"]) writeFileSync(join(folder, name), "x");
    utimesSync(join(folder, ".draft-old"), 0, 0);
    await ask(store, "put", { name: "x", body: "" });
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([".draft-new"]);
  });
});

describe("several processes", () => {
  async function writer(directory: string, letter: string): Promise<ChildProcess> {
    const child = spawn(process.execPath, [...TSX, PROGRAM, directory, letter], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout!, "data");
    return child;
  }

  it("that write the same name leave one of their objects, whole, at every moment, also when they are killed in the middle", async () => {
    const directory = join(scratch, "processes");
    const store = objectStoreConnector({ directory });
    const children = await Promise.all([writer(directory, "a"), writer(directory, "b")]);
    const seen = new Set<string>();
    try {
      for (let turn = 0; turn < 50 || seen.size < 2; turn++) {
        const text = bodyText(await ask(store, "get", { name: "same" }, { responseBytes: 2 ** 21 }));
        expect(text).toHaveLength(2 ** 20);
        expect(text === text[0]!.repeat(text.length)).toBe(true);
        seen.add(text[0]!);
      }
    } finally {
      const gone = children.map((child) => once(child, "exit"));
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(gone);
    }
    expect([...seen].sort()).toEqual(["a", "b"]);
    expect(bodyText(await ask(store, "get", { name: "same" }, { responseBytes: 2 ** 21 }))).toMatch(/^(a+|b+)$/);
    expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [{ name: "same" }], damaged: 0 } });
  });

  it("leave no half object where one is killed in the middle of its first put", async () => {
    for (let turn = 0; turn < 5; turn++) {
      const directory = join(scratch, `killed-${turn}`);
      const child = spawn(process.execPath, [...TSX, PROGRAM, directory, "c", "once"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const gone = once(child, "exit");
      await once(child.stdout!, "data");
      const folder = join(directory, sha256("acme.test"));
      // Until the draft is there: then the put is in its middle, or just over.
      while (child.exitCode === null && !(existsSync(folder) && readdirSync(folder).length > 0))
        await new Promise(setImmediate);
      child.kill("SIGKILL");
      await gone;
      const store = objectStoreConnector({ directory });
      const found = await ask(store, "get", { name: "same" }, { responseBytes: 2 ** 24 });
      if (found.resultClass === "success") expect(bodyText(found)).toMatch(/^c{4194304}$/);
      else expect(await ask(store, "list", {})).toMatchObject({ payload: { objects: [], damaged: 0 } });
      await ask(store, "put", { name: "same", body: "" });
      await store.close?.();
    }
  });
});
