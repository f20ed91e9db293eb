import type { TxSigner } from "../../client/index.ts";
import { type KeyInfo, type Keyring, type LedgerOptions, ledgerErrors, signWithLedger } from "../../keyring/index.ts";
import { encodeAddress, SignMode } from "../../wire/index.ts";

/** The network of a key, and how to reach its device. */
export interface KeyringSignerOptions {
  /** bech32 prefix of the network; ours by default. */
  readonly prefix?: string;
  /** How a hardware device is reached; required for keys on a device, which sign only in amino JSON. */
  readonly ledger?: LedgerOptions;
}

/**
 * A key of a keyring as the signer of transactions; the private key stays where it is.
 * @param nameOrAddress name of the key, or its address
 * @throws `sdkErrors.keyNotFound` if there is no such key
 */
export async function keyringSigner(
  keyring: Keyring,
  nameOrAddress: string,
  options: KeyringSignerOptions = {},
): Promise<TxSigner> {
  const key = await keyring.get(nameOrAddress);
  const { prefix, ledger } = options;
  const address = encodeAddress(key.address, "account", prefix);
  const { publicKey } = key;
  if (ledger === undefined || key.path === undefined) {
    return { address, publicKey, sign: (bytes) => keyring.sign(key.name, bytes) };
  }
  const device = prefix === undefined ? ledger : { prefix, ...ledger };
  return { address, publicKey, sign: (bytes, mode) => signOnDevice(key, device, { bytes, mode }) };
}

async function signOnDevice(
  { name, publicKey, path }: KeyInfo,
  device: LedgerOptions,
  { bytes, mode }: { readonly bytes: Uint8Array; readonly mode: SignMode },
): Promise<Uint8Array> {
  if (path === undefined || mode !== SignMode.LEGACY_AMINO_JSON) throw ledgerErrors.onlyTransactions(`key "${name}"`);
  return signWithLedger(device, { name, publicKey, path }, bytes);
}
