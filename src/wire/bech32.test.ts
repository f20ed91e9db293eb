import { bech32 } from "@scure/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { quickBech32 } from "./bech32.ts";

const HUMAN_PARTS = ["svc", "svcvaloper", "cosmos", "a", "a1b"];

/** The library's result for a text in lower case. */
function slowly(text: string, humanPart: string): Uint8Array | undefined {
  try {
    const { prefix, words } = bech32.decode(text as `${string}1${string}`, 1023);
    return prefix === humanPart && text === text.toLowerCase() ? bech32.fromWords(words) : undefined;
  } catch {
    return undefined;
  }
}

const texts = fc
  .tuple(fc.constantFrom(...HUMAN_PARTS), fc.uint8Array({ maxLength: 70 }))
  .map(([humanPart, bytes]) => bech32.encode(humanPart, bech32.toWords(bytes), 1023));

test("what the library wrote is read as the library reads it", () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(...HUMAN_PARTS), (text, humanPart) => {
      expect(quickBech32(text, humanPart)).toEqual(slowly(text, humanPart));
    }),
    { numRuns: 500 },
  );
});

test("a changed text is refused where the library refuses it", () => {
  const characters = fc.constantFrom(..."qpzry9x8gf2tvdw0s3jn54khce6mua7l1bioQP \u00e9\u0131");
  const change = fc.tuple(fc.nat(200), characters, fc.constantFrom("replace", "insert", "remove"));
  fc.assert(
    fc.property(texts, fc.array(change, { minLength: 1, maxLength: 3 }), (text, changes) => {
      let changed = text;
      for (const [place, character, kind] of changes) {
        const at = place % (changed.length + 1);
        const rest = changed.slice(kind === "insert" ? at : at + 1);
        changed = changed.slice(0, at) + (kind === "remove" ? "" : character) + rest;
      }
      for (const humanPart of HUMAN_PARTS) expect(quickBech32(changed, humanPart)).toEqual(slowly(changed, humanPart));
    }),
    { numRuns: 2000 },
  );
});

test("words that leave bits over are refused where the library refuses them", () => {
  const words = fc.array(fc.nat(31), { maxLength: 40 });
  fc.assert(
    fc.property(words, (each) => {
      const text = bech32.encode("svc", each, 1023);
      expect(quickBech32(text, "svc")).toEqual(slowly(text, "svc"));
    }),
    { numRuns: 2000 },
  );
});

test.each(["", "1", "svc", "svc1", "svc1qqqqq", "svc1qqqqqq"])("%j is refused", (text) => {
  expect(quickBech32(text, "svc")).toBeUndefined();
});
