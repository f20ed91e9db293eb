import type { TxSigner } from "../../client/index.ts";
import type { Keyring } from "../../keyring/index.ts";
import { encodeAddress } from "../../wire/index.ts";

/** A key of a keyring as one that signs. */
export async function keySigner(keyring: Keyring, name: string): Promise<TxSigner> {
  const key = await keyring.get(name);
  return {
    address: encodeAddress(key.address),
    publicKey: key.publicKey,
    sign: (bytes) => keyring.sign(key.name, bytes),
  };
}
