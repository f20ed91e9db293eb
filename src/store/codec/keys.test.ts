import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareBytes, toHex } from "../../util/index.ts";
import {
  addressKey,
  bytesKey,
  decodeKey,
  encodeKey,
  mappedKey,
  restKey,
  stringKey,
  tupleKey,
  uint8Key,
  uint32Key,
  uint64Key,
} from "../index.ts";

function seeded(): { seed: number } {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  return { seed };
}

const address = fc.uint8Array({ minLength: 1, maxLength: 32 });
const text = fc.string({ unit: "grapheme", maxLength: 12 }).filter((s) => !s.includes("\0"));
const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });
const u32 = fc.nat({ max: 0xffff_ffff });

const wide = tupleKey(addressKey, stringKey, uint64Key, uint32Key, uint8Key, bytesKey, restKey);
const wideKey = fc.tuple(address, text, u64, u32, fc.nat({ max: 255 }), fc.uint8Array(), fc.uint8Array());

describe("key codecs", () => {
  test("decode what they encode", () => {
    fc.assert(
      fc.property(wideKey, (key) => {
        const decoded = decodeKey(wide, encodeKey(wide, key));
        expect(decoded.map(shown)).toEqual(key.map(shown));
      }),
      seeded(),
    );
  });

  test("keep the order of numbers, of texts by their bytes, and of tuples part by part", () => {
    const order = <K>(codec: Parameters<typeof encodeKey<K>>[0], a: K, b: K) =>
      Math.sign(compareBytes(encodeKey(codec, a), encodeKey(codec, b)));
    fc.assert(
      fc.property(u64, u64, u32, u32, text, text, (a, b, c, d, e, f) => {
        const numbers = a < b ? -1 : Number(a > b);
        expect(order(uint64Key, a, b)).toBe(numbers);
        expect(order(uint32Key, c, d)).toBe(Math.sign(c - d));
        const texts = Math.sign(compareBytes(Buffer.from(e), Buffer.from(f)));
        expect(order(stringKey, e, f)).toBe(texts);
        expect(order(tupleKey(stringKey, uint64Key), [e, a], [f, b])).toBe(texts === 0 ? numbers : texts);
      }),
      seeded(),
    );
  });

  test("give prefixes that hold for the same leading parts alone", () => {
    const codec = tupleKey(stringKey, addressKey, uint64Key);
    fc.assert(
      fc.property(text, text, address, address, u64, (name, otherName, owner, otherOwner, n) => {
        const prefix = toHex(codec.prefix([name, owner]));
        expect(toHex(encodeKey(codec, [name, owner, n])).startsWith(prefix)).toBe(true);
        const same = otherName === name && toHex(otherOwner) === toHex(owner);
        expect(toHex(encodeKey(codec, [otherName, otherOwner, n])).startsWith(prefix)).toBe(same);
        expect(codec.prefix([])).toHaveLength(0);
      }),
      seeded(),
    );
  });

  test("carry prefixes and shapes through a mapping", () => {
    const codec = mappedKey(tupleKey(addressKey, uint64Key), {
      to: (id: { owner: Uint8Array; dseq: bigint }) => [id.owner, id.dseq],
      from: ([owner, dseq]) => ({ owner, dseq }),
    });
    expect(toHex(encodeKey(codec, { owner: Uint8Array.of(7), dseq: 258n }))).toBe("01070000000000000102");
    expect(toHex(codec.prefix([Uint8Array.of(7)]))).toBe("0107");
    expect(decodeKey(codec, Buffer.from("01070000000000000102", "hex")).dseq).toBe(258n);
  });

  test("refuse what they cannot hold and what they did not write", () => {
    expect(() => uint64Key.size(-1n)).toThrow("unsigned 64-bit");
    expect(() => uint64Key.size(1n << 64n)).toThrow("unsigned 64-bit");
    expect(() => uint32Key.size(1.5)).toThrow("unsigned 32-bit");
    expect(() => uint8Key.size(256)).toThrow("unsigned 8-bit");
    expect(() => stringKey.size("a\0b")).toThrow("zero byte");
    expect(() => addressKey.size(new Uint8Array(0))).toThrow("at least one byte");
    expect(() => bytesKey.size(new Uint8Array(256))).toThrow("at most 255 bytes");
    expect(() => decodeKey(uint64Key, new Uint8Array(7))).toThrow("too short");
    expect(() => decodeKey(uint32Key, new Uint8Array(5))).toThrow("left over");
    expect(() => decodeKey(stringKey, Buffer.from("abc"))).toThrow("without an end");
    expect(() => decodeKey(bytesKey, Uint8Array.of(3, 1))).toThrow("too short");
  });
});

function shown(part: unknown): unknown {
  return part instanceof Uint8Array ? toHex(part) : part;
}
