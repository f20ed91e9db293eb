// A key of a keyring as the one who signs transactions.
import type { TxSigner } from "../../src/client/index.ts";
import { openKeyring, passphraseFile } from "../../src/keyring/index.ts";
import { encodeAddress } from "../../src/wire/index.ts";

/** The key `name` in the `test` keyring of a home. For others name the backend and the file with the passphrase. */
export async function keyOf(home: string, name: string): Promise<TxSigner> {
  const keyring = openKeyring({ backend: "test", dir: home, passphrase: passphraseFile(""), notify: console.error });
  const key = await keyring.get(name);
  return {
    address: encodeAddress(key.address),
    publicKey: key.publicKey,
    sign: (bytes) => keyring.sign(name, bytes),
  };
}
