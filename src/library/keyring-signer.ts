import type { TxSigner } from "../client/index.ts";
import type { Keyring } from "../keyring/index.ts";
import { encodeAddress } from "../wire/index.ts";

/**
 * A key of a keyring as the signer of transactions; the private key stays where it is.
 * @param nameOrAddress name of the key, or its address
 * @param prefix bech32 prefix of the network, ours by default
 * @throws `sdkErrors.keyNotFound` where there is no such key
 */
export async function keyringSigner(keyring: Keyring, nameOrAddress: string, prefix?: string): Promise<TxSigner> {
  const { name, address, publicKey } = await keyring.get(nameOrAddress);
  return {
    address: encodeAddress(address, "account", prefix),
    publicKey,
    sign: (bytes) => keyring.sign(name, bytes),
  };
}
