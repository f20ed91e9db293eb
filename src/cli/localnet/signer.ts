import type { TxSigner } from "../../client/index.ts";
import type { Keyring } from "../../keyring/index.ts";
import { encodeAddress } from "../../wire/index.ts";

/** A signer for a key of a keyring. */
export async function keySigner(keyring: Keyring, name: string): Promise<TxSigner> {
  const key = await keyring.get(name);
  return {
    address: encodeAddress(key.address),
    publicKey: key.publicKey,
    sign: (bytes) => keyring.sign(key.name, bytes),
  };
}
