import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toHex } from "../util/index.ts";
import { type AddressKind, decodeAddress, encodeAddress, isAddress, parseBech32 } from "./address.ts";

const BYTES = Buffer.from("60336c54bcb6ce8e50d09f9ae835bc076741c9cf", "hex");
const KINDS: readonly AddressKind[] = ["account", "valoper", "valcons"];

describe("addresses", () => {
  test("recorded texts of another network", () => {
    expect(encodeAddress(BYTES, "account", "cosmos")).toBe("cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6");
    expect(encodeAddress(BYTES, "valoper", "cosmos")).toBe("cosmosvaloper1vqekc49ukm8gu5xsn7dwsdduqan5rjw07krqgf");
    expect(encodeAddress(BYTES, "valcons", "cosmos")).toBe("cosmosvalcons1vqekc49ukm8gu5xsn7dwsdduqan5rjw029suyg");
  });

  test("what is written reads back, as its own kind alone", () => {
    const bytes = fc.constantFrom(20, 32).chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
    fc.assert(
      fc.property(bytes, fc.constantFrom(...KINDS), (address, kind) => {
        const text = encodeAddress(address, kind);
        for (let reading = 0; reading < 2; reading++) {
          expect(toHex(decodeAddress(text, kind))).toBe(toHex(address));
          expect(KINDS.filter((other) => isAddress(text, other))).toEqual([kind]);
          expect(isAddress(text, kind, "cosmos")).toBe(false);
        }
      }),
    );
  });

  test("what was written is written again, also when its bytes have changed since", () => {
    const bytes = Uint8Array.from(BYTES);
    const before = encodeAddress(bytes);
    bytes[0] = 0;
    expect(encodeAddress(bytes)).not.toBe(before);
    expect(encodeAddress(BYTES)).toBe(before);
    const texts = KINDS.flatMap((kind) => [encodeAddress(BYTES, kind), encodeAddress(BYTES, kind, "cosmos")]);
    expect(new Set(texts).size).toBe(6);
    expect(KINDS.flatMap((kind) => [encodeAddress(BYTES, kind), encodeAddress(BYTES, kind, "cosmos")])).toEqual(texts);
  });

  test("one changed character is always noticed", () => {
    const text = encodeAddress(BYTES);
    const letters = fc.constantFrom(..."qpzry9x8gf2tvdw0s3jn54khce6mua7l");
    fc.assert(
      fc.property(fc.integer({ min: 4, max: text.length - 1 }), letters, (at, letter) => {
        const changed = text.slice(0, at) + letter + text.slice(at + 1);
        expect(isAddress(changed)).toBe(changed === text);
      }),
    );
  });

  test("the caches keep working when they are full", () => {
    const numbered = (i: number) => {
      const bytes = Buffer.alloc(20);
      bytes.writeUInt32BE(i);
      return bytes;
    };
    const texts = Array.from({ length: 17_000 }, (_, i) => encodeAddress(numbered(i)));
    for (const text of texts) decodeAddress(text);
    expect([3, 16_999].map((i) => encodeAddress(numbered(i)))).toEqual([texts[3], texts[16_999]]);
    expect(Buffer.from(decodeAddress(texts[3] ?? "")).readUInt32BE()).toBe(3);
    expect(Buffer.from(decodeAddress(texts[16_999] ?? "")).readUInt32BE()).toBe(16_999);
  });

  test.each([
    ["", "empty address string is not allowed"],
    ["cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6", 'expected svc, got "cosmos"'],
    [encodeAddress(BYTES, "valoper"), 'expected svc, got "svcvaloper"'],
    [encodeAddress(BYTES).toUpperCase(), "invalid Bech32 prefix"],
    [`svc1${encodeAddress(BYTES).slice(4).toUpperCase()}`, "not in lower case"],
    [`${encodeAddress(BYTES)} `, "decoding bech32 failed"],
    [`svc1${"q".repeat(1100)}`, "longer than 1023 characters"],
    ["svc", "decoding bech32 failed"],
  ])("%s is refused", (text, message) => {
    expect(() => decodeAddress(text)).toThrow(message);
    expect(() => decodeAddress(text)).toThrow(/: invalid address$/);
  });

  test("other lengths are not addresses", () => {
    expect(() => encodeAddress(new Uint8Array(19))).toThrow("address of 19 bytes");
    expect(parseBech32("cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6").humanPart).toBe("cosmos");
  });
});
