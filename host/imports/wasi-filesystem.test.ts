import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeScope, fakeScope, Stopped } from "../tests/wasi/fake-scope.ts";
import { linkImports } from "./link.ts";

interface Stream {
  read(length: bigint): Uint8Array;
}

interface Descriptor {
  openAt(pathFlags: object, name: string, openFlags: object, flags: object): Descriptor;
  read(length: bigint, offset: bigint): [Uint8Array, boolean];
  readViaStream(offset: bigint): Stream;
  readDirectory(): { readDirectoryEntry(): { name: string } | undefined };
  getFlags(): object;
  getType(): string;
  isSameObject(other: Descriptor): boolean;
  metadataHash(): object;
  metadataHashAt(pathFlags: object, name: string): object;
  advise(): void;
  sync(): void;
}

const root = mkdtempSync(path.join(tmpdir(), "airlock-filesystem-"));

beforeAll(() => {
  mkdirSync(path.join(root, "sub"));
  writeFileSync(path.join(root, "file"), "0123456789");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const NAMES = ["wasi:filesystem/types@0.2.4", "wasi:filesystem/preopens@0.2.4"];

function linked(scope: FakeScope) {
  const [types, preopens] = Object.values(
    linkImports(
      NAMES.map((name) => ({ kind: "host", name })),
      scope,
    ),
  ) as [Record<string, (error: object) => unknown>, Record<string, () => [Descriptor, string][]>];
  return { types, directories: preopens["getDirectories"]! };
}

function opened(scope = fakeScope({ root })) {
  const { types, directories } = linked(scope);
  const [descriptor, name] = directories()[0]!;
  const file = descriptor.openAt({}, "file", {}, { read: true });
  return { scope, types, descriptor, name, file };
}

describe("wasi:filesystem", () => {
  test("shows the granted directory as the root, to read only", () => {
    const { name, descriptor, file } = opened();
    expect([name, descriptor.getType(), descriptor.getFlags(), file.getType()]).toEqual([
      "/",
      "directory",
      { read: true },
      "regular-file",
    ]);
  });

  test("reads a part of a file, and streams from a place in it", () => {
    const { file } = opened();
    expect(file.read(3n, 8n)).toEqual([new TextEncoder().encode("89"), true]);
    const stream = file.readViaStream(7n);
    expect(stream.read(2n)).toEqual(new TextEncoder().encode("78"));
    expect(stream.read(0n)).toEqual(new Uint8Array());
    expect(stream.read(2n)).toEqual(new TextEncoder().encode("9"));
    expect(() => stream.read(2n)).toThrow(expect.objectContaining({ tag: "closed" }));
  });

  test("counts what looks into the directory as host calls, and nothing else", () => {
    const { scope, descriptor, file } = opened();
    const before = scope.counters.hostCalls;
    file.getFlags();
    file.advise();
    file.sync();
    descriptor.isSameObject(file);
    expect(scope.counters.hostCalls).toBe(before);
    file.metadataHash();
    file.read(1n, 0n);
    expect(scope.counters.hostCalls).toBe(before + 2);
  });

  test("a listing counts its names as bytes in, and ends", () => {
    const { scope, descriptor } = opened();
    const stream = descriptor.readDirectory();
    const names = [stream.readDirectoryEntry(), stream.readDirectoryEntry(), stream.readDirectoryEntry()];
    expect(names.map((entry) => entry?.name)).toEqual(["file", "sub", undefined]);
    expect(scope.counters.hostBytesIn).toBe(2 * 16 + 4 + 3);
  });

  test("knows the same file by two descriptors", () => {
    const { descriptor, file } = opened();
    const again = descriptor.openAt({}, "./sub/../file", {}, { read: true });
    expect([file.isSameObject(again), file.isSameObject(descriptor)]).toEqual([true, false]);
    expect(file.metadataHash()).toEqual(descriptor.metadataHashAt({}, "file"));
  });

  test("a stream of a file that was replaced fails with a code that can be asked for", () => {
    const { types, file } = opened();
    const stream = file.readViaStream(0n);
    writeFileSync(path.join(root, "other"), "other");
    renameSync(path.join(root, "other"), path.join(root, "file"));
    let thrown: { tag: string; val: object } | undefined;
    try {
      stream.read(1n);
    } catch (error) {
      thrown = error as { tag: string; val: object };
    }
    expect(thrown?.tag).toBe("last-operation-failed");
    expect(types["filesystemErrorCode"]!(thrown!.val)).toBe("no-entry");
  });

  test("ends the run when the granted directory cannot be opened", () => {
    const { directories } = linked(fakeScope({ root: path.join(root, "gone") }));
    expect(directories).toThrow(
      new Stopped({ kind: "trapped", what: "the granted directory cannot be opened: no-entry" }),
    );
  });

  test("shows nothing when nothing was granted", () => {
    expect(linked(fakeScope()).directories()).toEqual([]);
  });
});
