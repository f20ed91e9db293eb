// A key of a keyring as the one who signs transactions.
import type { TxSigner } from "svc";
import { keyringSigner, openKeyring, passphraseFile } from "svc/keyring";

/** The key `name` in the `test` keyring of a home. For others name the backend and the file with the passphrase. */
export function keyOf(home: string, name: string): Promise<TxSigner> {
  const keyring = openKeyring({ backend: "test", dir: home, passphrase: passphraseFile(""), notify: console.error });
  return keyringSigner(keyring, name);
}
