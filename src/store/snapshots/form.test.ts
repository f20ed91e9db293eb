import { describe, expect, it } from "vitest";
import { concatBytes } from "../../util/index.ts";
import { sha256 } from "../tree/hash.ts";
import {
  BadSnapshot,
  chunkHashes,
  endItem,
  entryItem,
  heightItem,
  ItemReader,
  snapshotHead,
  tableItem,
} from "./form.ts";

/** The head of an entry, without its key and value. */
function entryHead(keyBytes: number, valueBytes: number): Buffer {
  const head = Buffer.alloc(7);
  head[0] = 3;
  head.writeUInt16BE(keyBytes, 1);
  head.writeUInt32BE(valueBytes, 3);
  return head;
}

const read = (bytes: Uint8Array) => [...new ItemReader().read(bytes)];

describe("items of a chunk", () => {
  const items = [heightItem(7n), tableItem("state/a"), entryItem(Uint8Array.of(1), Uint8Array.of(2, 3)), endItem(1n)];
  const expected = [
    { kind: "height", height: 7n },
    { kind: "table", name: "state/a" },
    { kind: "entry", key: Uint8Array.of(1), value: Uint8Array.of(2, 3) },
    { kind: "end", entries: 1n },
  ];

  it("are read as they were written, in pieces of any size", () => {
    const bytes = concatBytes(...items);
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new ItemReader();
      const found = [];
      for (let at = 0; at < bytes.length; at += size) found.push(...reader.read(bytes.subarray(at, at + size)));
      expect(found, `pieces of ${size}`).toEqual(expected);
      expect(reader.isWhole).toBe(true);
    }
  });

  it("have names of 1 to 100 bytes", () => {
    const longest = "n".repeat(100);
    expect(read(tableItem(longest))).toEqual([{ kind: "table", name: longest }]);
    expect(() => tableItem(`${longest}n`)).toThrow("is too long for a snapshot");
    for (const bytes of [0, 101]) expect(() => read(Uint8Array.of(2, bytes)), `${bytes}`).toThrow(BadSnapshot);
  });

  it("have keys of 1 byte to 1 KiB and values of 1 byte to 64 MiB", () => {
    for (const [key, value] of [
      [1, 1],
      [1024, 64 << 20],
    ] as const)
      expect(read(entryHead(key, value))).toEqual([]);
    for (const key of [0, 1025]) expect(() => read(entryHead(key, 1))).toThrow(`a key has ${key} bytes`);
    for (const value of [0, (64 << 20) + 1]) {
      expect(() => read(entryHead(1, value))).toThrow(`a value has ${value} bytes`);
    }
    const tooLarge = new Uint8Array((64 << 20) + 1);
    expect(() => entryItem(Uint8Array.of(1), tooLarge)).toThrow("is too large for a snapshot");
    expect(entryItem(Uint8Array.of(1), tooLarge.subarray(1)).length).toBe(8 + (64 << 20));
  });

  it("have one of four kinds", () => {
    expect(() => read(Uint8Array.of(4))).toThrow("there is no item of kind 4");
  });
});

describe("the head of a snapshot", () => {
  const hashes = (count: number) => Array(count).fill(sha256(Uint8Array.of(1)));

  it("names 1 to 100,000 chunks by their hashes", () => {
    for (const count of [1, 100_000]) expect(chunkHashes(snapshotHead(1n, hashes(count)))).toHaveLength(count);
    for (const count of [0, 100_001]) {
      expect(() => chunkHashes(snapshotHead(1n, hashes(count)))).toThrow(`it has ${count} chunks`);
    }
  });

  it("holds nothing beside the hashes", () => {
    const head = snapshotHead(1n, hashes(2));
    const longer = concatBytes(head.metadata, Uint8Array.of(0));
    expect(() => chunkHashes({ ...head, metadata: longer, hash: sha256(longer) })).toThrow("do not fit its chunks");
    expect(() => chunkHashes({ ...head, hash: sha256(longer) })).toThrow("not that of its metadata");
    const other = head.metadata.map((byte, at) => (at === 0 ? 0x12 : byte));
    expect(() => chunkHashes({ ...head, metadata: other, hash: sha256(other) })).toThrow("cannot be read");
  });
});
