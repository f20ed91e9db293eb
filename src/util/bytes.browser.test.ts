import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../../test/support/runs.ts";
import * as browser from "./bytes.browser.ts";
import * as node from "./bytes.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const plain = (value: Uint8Array): number[] => [...value];

/** The result, or a mark that there is none. */
function tried<T>(work: () => T): T | "refused" {
  try {
    return work();
  } catch {
    return "refused";
  }
}

describe("byte strings of browsers", () => {
  it("have the functions of those of Node.js", () => {
    expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
  });

  it("are the same texts", () => {
    fc.assert(
      fc.property(bytes, (value) => {
        expect(browser.toHex(value)).toBe(node.toHex(value));
        expect(browser.toHexUpper(value)).toBe(node.toHexUpper(value));
        expect(browser.toBase64(value)).toBe(node.toBase64(value));
        expect(plain(browser.fromHex(node.toHex(value)))).toEqual(plain(value));
        expect(plain(browser.fromBase64(node.toBase64(value)))).toEqual(plain(value));
      }),
    );
  });

  it("go beyond the arguments of one call", () => {
    const long = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
    expect(browser.toBase64(long)).toBe(node.toBase64(long));
  });

  it("read and refuse the same texts", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF+/=gz-_ "), maxLength: 12 });
    fc.assert(
      fc.property(digits, (text) => {
        expect(tried(() => plain(browser.fromHex(text)))).toEqual(tried(() => plain(node.fromHex(text))));
        expect(tried(() => plain(browser.fromBase64(text)))).toEqual(tried(() => plain(node.fromBase64(text))));
      }),
      { numRuns: 2000 },
    );
  });

  it("are the same UTF-8, and refuse what is not UTF-8", () => {
    fc.assert(
      fc.property(anyText(), bytes, (text, raw) => {
        expect(plain(browser.toUtf8(text))).toEqual(plain(node.toUtf8(text)));
        expect(tried(() => browser.fromUtf8(raw))).toBe(tried(() => node.fromUtf8(raw)));
      }),
    );
  });

  it("are joined and compared alike", () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(plain(browser.concatBytes(a, b))).toEqual(plain(node.concatBytes(a, b)));
        for (const [left, right] of [
          [a, b],
          [a, a.slice()],
          [a, node.concatBytes(a, b)],
        ] as const) {
          expect(browser.compareBytes(left, right)).toBe(node.compareBytes(left, right));
          expect(browser.equalBytes(left, right)).toBe(node.equalBytes(left, right));
        }
      }),
    );
  });

  it("hold the same numbers", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), (value) => {
        expect(plain(browser.uint64ToBytes(value))).toEqual(plain(node.uint64ToBytes(value)));
        expect(browser.bytesToUint64(node.uint64ToBytes(value))).toBe(value);
      }),
    );
    for (const value of [-1n, 1n << 64n]) {
      expect(() => browser.uint64ToBytes(value)).toThrow(RangeError);
      expect(() => node.uint64ToBytes(value)).toThrow(RangeError);
    }
  });
});
