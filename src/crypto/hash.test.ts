import fc from "fast-check";
import { expect, test } from "vitest";
import { toHex, toUtf8 } from "../util/index.ts";
import { moduleAddress } from "./address.ts";
import { ed25519PublicKey, ed25519Signer, generateEd25519Seed, verifyEd25519 } from "./ed25519.ts";
import { portableRipemd160, ripemd160, sha256 } from "./hash.ts";

test("published digests", () => {
  expect(toHex(sha256(toUtf8("abc")))).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(toHex(ripemd160(toUtf8("abc")))).toBe("8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
});

test("platform and portable RIPEMD-160 agree", () => {
  const portable = portableRipemd160();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (data) => {
      expect(toHex(portable(data))).toBe(toHex(ripemd160(data)));
    }),
  );
});

test("the address of a module account is known", () => {
  expect(toHex(moduleAddress("fee_collector"))).toBe("f1829676db577682e944fc3493d451b67ff3e29f");
});

test("ed25519 gives the signature of RFC 8032 test 2", () => {
  const seed = Buffer.from("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "hex");
  expect(toHex(ed25519PublicKey(seed))).toBe("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  expect(toHex(ed25519Signer(seed)(Uint8Array.of(0x72)))).toBe(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  );
});

test("ed25519 refuses another message, another key and malformed input without throwing", () => {
  const seed = generateEd25519Seed();
  const publicKey = ed25519PublicKey(seed);
  const signature = ed25519Signer(seed)(toUtf8("m"));
  expect(verifyEd25519(publicKey, toUtf8("m"), signature)).toBe(true);
  expect(verifyEd25519(publicKey, toUtf8("n"), signature)).toBe(false);
  expect(verifyEd25519(ed25519PublicKey(generateEd25519Seed()), toUtf8("m"), signature)).toBe(false);
  expect(verifyEd25519(publicKey.subarray(1), toUtf8("m"), signature)).toBe(false);
  expect(verifyEd25519(publicKey, toUtf8("m"), signature.subarray(1))).toBe(false);
  expect(() => ed25519Signer(new Uint8Array(31))).toThrow("32 bytes");
});
