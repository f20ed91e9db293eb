import fc from "fast-check";
import { expect, test } from "vitest";
import { derSignature } from "../../test/support/ledger/der.ts";
import { fromHex, toHex } from "../util/index.ts";
import { signatureFromDer } from "./der.ts";
import { generatePrivateKey, signSecp256k1 } from "./secp256k1/secp256k1.ts";

test("signatures come back from DER, whichever S it holds", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.boolean(), (message, highS) => {
      const signature = signSecp256k1(generatePrivateKey(), message);
      expect(toHex(signatureFromDer(derSignature(signature, highS)))).toBe(toHex(signature));
    }),
    { numRuns: 50 },
  );
});

test("small numbers are filled up with zeros", () => {
  expect(toHex(signatureFromDer(fromHex("3006020101020102")))).toBe(
    `${"01".padStart(64, "0")}${"02".padStart(64, "0")}`,
  );
});

const ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

test.each([
  ["nothing", ""],
  ["a number alone", "020101"],
  ["one number", "3003020101"],
  ["three numbers", "3009020101020101020101"],
  ["zero", "3006020100020101"],
  ["a negative number", "3006020101020181"],
  ["the order of the group", `302602010102210${`0${ORDER}`}`],
  ["a number with a needless zero", "300702020001020101"],
  ["bytes behind it", "300602010102010200"],
  ["a cut end", "30060201010201"],
])("%s is not a signature", (_, hex) => {
  expect(() => signatureFromDer(fromHex(hex))).toThrow("DER");
});
