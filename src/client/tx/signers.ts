import { derivePrivateKey, mnemonicToSeed, publicKeyOf, signSecp256k1 } from "../../crypto/index.ts";
import { DEFAULT_HD_PATH } from "../../util/index.ts";
import { encodeAddress, publicKeyAddress, secp256k1PublicKey } from "../../wire/index.ts";
import type { TxSigner } from "./prepare.ts";

/**
 * A signer with its key in the memory of this program: for tests, scripts and pages. Keyrings protect keys better.
 * @param privateKey 32 bytes of secp256k1; throws if it is not a key
 * @param prefix bech32 prefix of the network, ours by default
 */
export function privateKeySigner(privateKey: Uint8Array, prefix?: string): TxSigner {
  const publicKey = secp256k1PublicKey(publicKeyOf(privateKey));
  return {
    address: encodeAddress(publicKeyAddress(publicKey), "account", prefix),
    publicKey,
    sign: async (bytes) => signSecp256k1(privateKey, bytes),
  };
}

/** Which key of a phrase is meant. */
export interface MnemonicSignerOptions {
  /** BIP-32 path; `m/44'/118'/0'/0/0` by default. */
  readonly path?: string;
  /** The second factor of BIP-39; empty by default. */
  readonly passphrase?: string;
  /** bech32 prefix of the network, ours by default. */
  readonly prefix?: string;
}

/**
 * A signer with the key of a BIP-39 phrase at a BIP-32 path, in the memory of this program. Rejects with
 * `invalid mnemonic`, which never shows the phrase.
 */
export async function mnemonicSigner(mnemonic: string, options: MnemonicSignerOptions = {}): Promise<TxSigner> {
  const { path = DEFAULT_HD_PATH, passphrase = "", prefix } = options;
  const seed = await mnemonicToSeed(mnemonic, passphrase);
  return privateKeySigner(await derivePrivateKey(seed, path), prefix);
}
