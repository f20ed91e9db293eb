import { publicKeyOf, sha256, signSecp256k1 } from "../crypto/index.ts";
import { toUtf8 } from "../util/index.ts";
import { encodeAddress, type PublicKey, publicKeyAddress } from "../wire/index.ts";

/** A key of a test, made from its name: the same in every run. */
export interface TestKey {
  readonly name: string;
  readonly privateKey: Uint8Array;
  readonly publicKey: PublicKey;
  /** 20 bytes. */
  readonly bytes: Uint8Array;
  /** bech32 text of the address. */
  readonly address: string;
  sign(message: Uint8Array): Uint8Array;
}

const made = new Map<string, TestKey>();

/** A test key by its name, the same in every run. Never send real coins to it. */
export function testKey(name: string): TestKey {
  const known = made.get(name) ?? newKey(name);
  made.set(name, known);
  return known;
}

function newKey(name: string): TestKey {
  const privateKey = sha256(toUtf8(`test key ${name}`));
  const publicKey = { type: "secp256k1", key: publicKeyOf(privateKey) } as const;
  const bytes = publicKeyAddress(publicKey);
  const sign = (message: Uint8Array): Uint8Array => signSecp256k1(privateKey, message);
  return { name, privateKey, publicKey, bytes, address: encodeAddress(bytes), sign };
}
