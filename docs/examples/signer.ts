// Signs transactions with a key of a keyring.
import type { TxSigner } from "svc";
import { keyringSigner, openKeyring, passphraseFile } from "svc/keyring";

/** The key `name` in the `test` keyring of a home. For another keyring give its backend and the file with its passphrase. */
export function keyOf(home: string, name: string): Promise<TxSigner> {
  const keyring = openKeyring({ backend: "test", dir: home, passphrase: passphraseFile(""), notify: console.error });
  return keyringSigner(keyring, name);
}
