import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../util/index.ts";
import { loadNativeBackend, loadPortableBackend } from "./backend.ts";
import { isCanonicalSignature, isPrivateKey } from "./portable.ts";
import { generatePrivateKey, publicKeyOf, signSecp256k1, verifySecp256k1, verifyWith } from "./secp256k1.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const native = loadNativeBackend();
const portable = loadPortableBackend();
const privateKeys = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter(isPrivateKey);
const messages = fc.uint8Array({ maxLength: 300 });

function bothVerify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const answer = verifyWith(native, publicKey, { message, signature });
  expect(verifyWith(portable, publicKey, { message, signature })).toBe(answer);
  return answer;
}

function highTwin(signature: Uint8Array): Uint8Array {
  const s = ORDER - BigInt(`0x${toHex(signature.subarray(32))}`);
  return concatBytes(signature.subarray(0, 32), fromHex(s.toString(16).padStart(64, "0")));
}

describe("secp256k1", () => {
  test("a recorded RFC 6979 signature", () => {
    // Key 1 and the message "Satoshi Nakamoto": a widely published pair.
    const key = fromHex("01".padStart(64, "0"));
    expect(toHex(signSecp256k1(key, toUtf8("Satoshi Nakamoto")))).toBe(
      "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8" +
        "2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5",
    );
  });

  test("both libraries make the same keys and signatures and accept them; the high-S twin is refused", () => {
    fc.assert(
      fc.property(privateKeys, messages, (key, message) => {
        const publicKey = native.publicKey(key);
        expect(toHex(portable.publicKey(key))).toBe(toHex(publicKey));
        const digest = new Uint8Array(32).fill(message.length);
        const signature = native.sign(digest, key);
        expect(toHex(portable.sign(digest, key))).toBe(toHex(signature));
        const made = signSecp256k1(key, message);
        expect(bothVerify(publicKey, message, made)).toBe(true);
        expect(bothVerify(publicKey, message, highTwin(made))).toBe(false);
        expect(bothVerify(publicKey, concatBytes(message, Uint8Array.of(1)), made)).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  test("both libraries refuse the same damaged keys and signatures", () => {
    const key = generatePrivateKey();
    const message = toUtf8("message");
    const good = concatBytes(publicKeyOf(key), signSecp256k1(key, message));
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const bad = Uint8Array.from(good, (byte, i) => (i === at ? byte ^ mask : byte));
        expect(bothVerify(bad.subarray(0, 33), message, bad.subarray(33))).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  test("both libraries agree on garbage", () => {
    const sizes = fc.constantFrom(0, 1, 32, 33, 63, 64, 65, 72);
    const bytes = sizes.chain((size) => fc.uint8Array({ minLength: size, maxLength: size }));
    fc.assert(
      fc.property(bytes, bytes, (publicKey, signature) => {
        expect(bothVerify(publicKey, toUtf8("m"), signature)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["uncompressed tag", "04", "11".repeat(32)],
    ["x above the field", "02", "ff".repeat(32)],
    ["x not on the curve", "02", "00".repeat(31).concat("05")],
  ])("a key with %s is refused", (_, tag, x) => {
    const signature = signSecp256k1(generatePrivateKey(), toUtf8("m"));
    expect(bothVerify(fromHex(tag + x), toUtf8("m"), signature)).toBe(false);
  });

  test("edges of the ranges of R and S", () => {
    const scalar = (value: bigint): Uint8Array => fromHex(value.toString(16).padStart(64, "0"));
    const canonical = (r: bigint, s: bigint): boolean => isCanonicalSignature(concatBytes(scalar(r), scalar(s)));
    expect(canonical(1n, 1n)).toBe(true);
    expect(canonical(ORDER - 1n, ORDER / 2n)).toBe(true);
    expect(canonical(1n, ORDER / 2n + 1n)).toBe(false);
    expect(canonical(0n, 1n)).toBe(false);
    expect(canonical(1n, 0n)).toBe(false);
    expect(canonical(ORDER, 1n)).toBe(false);
  });

  test("numbers outside the group order are not private keys", () => {
    for (const bad of ["00".repeat(32), ORDER.toString(16), "01".repeat(31), "01".repeat(33)]) {
      expect(() => publicKeyOf(fromHex(bad))).toThrow("invalid secp256k1 private key");
    }
    const key = generatePrivateKey();
    expect(verifySecp256k1(publicKeyOf(key), toUtf8("x"), signSecp256k1(key, toUtf8("x")))).toBe(true);
  });
});
