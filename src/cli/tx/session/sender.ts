import type { TxSigner } from "../../../client/index.ts";
import { type KeyInfo, ledgerErrors } from "../../../keyring/index.ts";
import { errorText } from "../../../util/index.ts";
import { decodeAddress, encodeAddress, isAddress } from "../../../wire/index.ts";
import type { CliContext } from "../../context.ts";
import { commandError, usageError } from "../../errors.ts";
import { fromMissing, signingKeyName } from "../../keys/only-key.ts";
import type { TxSettings } from "./settings.ts";

/** The account that a transaction is sent from. */
export interface Sender {
  readonly address: string;
  /** The key in the keyring; absent where only the address is needed. */
  readonly key?: KeyInfo;
}

/**
 * The account of `--from` or of an argument: the name of a key or an address, or the only key of the keyring. The
 * keyring is opened unless the transaction is only printed or estimated for an address.
 */
export async function resolveSender(context: CliContext, settings: TxSettings, given?: string): Promise<Sender> {
  const isPrinted = settings.purpose === "generate";
  const from = given ?? (isPrinted ? context.flags.text("from") : await signingKeyName(context));
  if (from === "") throw fromMissing();
  const prefix = context.profile.bech32Prefix;
  if (isPrinted) return { address: requireAddress(from, prefix) };
  if (settings.purpose === "estimate" && isAddress(from, "account", prefix)) return { address: from };
  return requireSigningKey(context, from);
}

/** The key of a name or an address, from the keyring; that of `--from`, or the only one, when none is given. */
export async function requireSigningKey(context: CliContext, given?: string): Promise<Required<Sender>> {
  const from = given ?? (await signingKeyName(context));
  if (from === "") throw fromMissing();
  const { findKey } = await import("../../keys/keys.ts");
  const key = await findKey(await context.keyring(), from, context.keys);
  return { address: encodeAddress(key.address, "account", context.profile.bech32Prefix), key };
}

function requireAddress(from: string, prefix: string): string {
  try {
    decodeAddress(from, "account", prefix);
    return from;
  } catch (error) {
    const text = `must provide a valid Bech32 address in generate-only mode: ${errorText(error)}`;
    throw usageError(text, "--generate-only does not open the keyring: svc keys show <name> -a prints the address");
  }
}

/** A signer for work that signs more than transactions, or runs unattended: a device cannot do that. */
export async function keyringSigner(context: CliContext, sender: Required<Sender>): Promise<TxSigner> {
  const { key } = sender;
  if (key.type === "ledger") throw ledgerErrors.onlyTransactions(`key "${key.name}"`);
  return signerOf(context, sender);
}

/** The sender as a signer. */
export async function signerOf(context: CliContext, { address, key }: Sender): Promise<TxSigner> {
  if (key === undefined) throw usageError(`${address} cannot sign: only its address was given`);
  if (key.type === "multi") {
    const hint = "print it with --generate-only, and let each member sign it with: svc tx sign --multisig";
    throw commandError(`key "${key.name}" is a multisig and cannot sign alone`, { hint });
  }
  if (key.type === "ledger") return (await import("../../keys/ledger.ts")).deviceSigner(context, address, key);
  const keyring = await context.keyring();
  return { address, publicKey: key.publicKey, sign: (bytes) => keyring.sign(key.name, bytes) };
}
