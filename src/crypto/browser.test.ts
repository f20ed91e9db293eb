import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../util/index.ts";
import * as browserEd25519 from "./ed25519.browser.ts";
import * as nodeEd25519 from "./ed25519.ts";
import * as browserHash from "./hash.browser.ts";
import * as nodeHash from "./hash.ts";
import * as browserKdf from "./mnemonic/pbkdf2.browser.ts";
import * as nodeKdf from "./mnemonic/pbkdf2.ts";
import { randomBytes } from "./random.ts";
import * as browserCurve from "./secp256k1/backend.browser.ts";
import * as nodeCurve from "./secp256k1/backend.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const privateKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => key[0] !== 255 && key.some(Boolean));

describe("what browsers compute", () => {
  it("are the same hashes", () => {
    fc.assert(
      fc.property(bytes, (data) => {
        expect(toHex(browserHash.sha256(data))).toBe(toHex(nodeHash.sha256(data)));
        expect(toHex(browserHash.ripemd160(data))).toBe(toHex(nodeHash.ripemd160(data)));
      }),
    );
  });

  it("are the same derived keys", async () => {
    const run = fc.asyncProperty(fc.string(), fc.string(), async (password, salt) => {
      const options = { salt, rounds: 3, length: 64 };
      const expected = await nodeKdf.pbkdf2Sha512(password, options);
      expect(toHex(await browserKdf.pbkdf2Sha512(password, options))).toBe(toHex(expected));
    });
    await fc.assert(run);
  });

  it("are the same keys and signatures", () => {
    const [browser, node] = [browserCurve.secp256k1Backend(), nodeCurve.secp256k1Backend()];
    fc.assert(
      fc.property(privateKey, bytes, (key, message) => {
        const digest = nodeHash.sha256(message);
        const publicKey = browser.publicKey(key);
        const signature = browser.sign(digest, key);
        expect(toHex(publicKey)).toBe(toHex(node.publicKey(key)));
        expect(toHex(signature)).toBe(toHex(node.sign(digest, key)));
        expect(browser.verify(digest, signature, publicKey)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it("are the same ed25519 keys and signatures, and verdicts on changed ones", () => {
    const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(seeds, bytes, fc.nat(63), fc.nat(7), (seed, message, at, bit) => {
        const publicKey = browserEd25519.ed25519PublicKey(seed);
        const signature = browserEd25519.ed25519Signer(seed)(message);
        expect(toHex(publicKey)).toBe(toHex(nodeEd25519.ed25519PublicKey(seed)));
        expect(toHex(signature)).toBe(toHex(nodeEd25519.ed25519Signer(seed)(message)));
        const changed = signature.map((byte, i) => (i === at ? byte ^ (1 << bit) : byte));
        for (const each of [browserEd25519, nodeEd25519]) {
          expect(each.verifyEd25519(publicKey, message, signature)).toBe(true);
          expect(each.verifyEd25519(publicKey, message, changed)).toBe(false);
          expect(each.verifyEd25519(publicKey, message, signature.subarray(1))).toBe(false);
        }
      }),
      { numRuns: 10 },
    );
    expect(browserEd25519.generateEd25519Seed()).toHaveLength(32);
  });

  it("have random bytes of any small length", () => {
    expect([0, 1, 32].map((length) => randomBytes(length).length)).toEqual([0, 1, 32]);
    expect(toHex(randomBytes(32))).not.toBe(toHex(randomBytes(32)));
  });
});
