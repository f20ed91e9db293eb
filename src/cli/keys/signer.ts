import type { TxSigner } from "../../client/index.ts";
import { type KeyInfo, type KeyType, ledgerErrors } from "../../keyring/index.ts";
import { errorText } from "../../util/index.ts";
import { decodeAddress, encodeAddress, isAddress, SignMode } from "../../wire/index.ts";
import type { CliContext } from "../context/context.ts";
import { commandError, usageError } from "../errors.ts";

/** The account that a transaction is sent from. */
export interface Sender {
  readonly address: string;
  /** The key in the keyring; absent where only the address is needed. */
  readonly key?: KeyInfo;
}

/** A transaction's requirements of its sender. */
interface SenderNeeds {
  /** To be printed it needs an address, to be estimated a key if there is one, else a signature. */
  readonly purpose: "send" | "generate" | "sign" | "estimate";
  readonly signMode: SignMode;
  /** The name of a key or an address, instead of `--from`. */
  readonly from: string | undefined;
}

/** The sender as far as a transaction needs it, and how it signs. */
export interface OpenSender {
  readonly sender: Sender;
  /** Absent where nothing is signed. */
  readonly signer: TxSigner | undefined;
  readonly signMode: SignMode;
}

/** Opens the keyring unless the transaction is only printed, or estimated for an address. */
export async function openSender(context: CliContext, needs: SenderNeeds): Promise<OpenSender> {
  const sender = await findSender(context, needs);
  const signMode = modeForKey(context, needs.signMode, sender.key);
  const isSigned = needs.purpose === "send" || needs.purpose === "sign";
  return { sender, signMode, signer: isSigned ? await signerOf(context, sender) : undefined };
}

async function findSender(context: CliContext, { purpose, from }: SenderNeeds): Promise<Sender> {
  const prefix = context.profile.bech32Prefix;
  if (purpose === "generate") return { address: printedAddress(from ?? context.flags.text("from"), prefix) };
  const given = from ?? (await signingKeyName(context));
  if (purpose === "estimate" && isAddress(given, "account", prefix)) return { address: given };
  return requireSigningKey(context, given);
}

function printedAddress(from: string, prefix: string): string {
  if (from === "") throw fromMissing();
  try {
    decodeAddress(from, "account", prefix);
    return from;
  } catch (error) {
    const text = `must provide a valid Bech32 address in generate-only mode: ${errorText(error)}`;
    throw usageError(text, "--generate-only does not open the keyring: svc keys show <name> -a prints the address");
  }
}

/** Keys that can sign alone. */
const SIGNING: readonly KeyType[] = ["local", "ledger"];
const MISSING = "required flag --from is not set (or SVC_FROM)";

/** `--from`, or the name of the only key in the keyring that can sign. With two keys the choice is the user's. */
export async function signingKeyName(context: CliContext, kinds: readonly KeyType[] = SIGNING): Promise<string> {
  const { flags, keys: place } = context;
  const from = flags.optional("from");
  if (from !== undefined) return from;
  // An empty variable in a script does not say who pays.
  if (flags.typed("from")) throw fromMissing();
  const keyring = await context.keyring();
  const keys = (await keyring.list(() => undefined)).filter(({ type }) => kinds.includes(type));
  const [only, ...others] = keys.map(({ name }) => name);
  if (only === undefined) throw usageError(MISSING, await (await import("./keys.ts")).keysThere(keyring, place));
  if (others.length === 0) return only;
  throw usageError(MISSING, `the keyring has ${[only, ...others].join(", ")}`);
}

function fromMissing(): Error {
  return usageError(MISSING, "name a key: svc keys list");
}

/** The key of a name or an address, from the keyring; that of `--from`, or the only one, when none is given. */
export async function requireSigningKey(context: CliContext, given?: string): Promise<Required<Sender>> {
  const from = given ?? (await signingKeyName(context));
  if (from === "") throw fromMissing();
  const { findKey } = await import("./keys.ts");
  const key = await findKey(await context.keyring(), from, context.keys);
  return { address: encodeAddress(key.address, "account", context.profile.bech32Prefix), key };
}

/** The sender as a signer. */
export async function signerOf(context: CliContext, { address, key }: Sender): Promise<TxSigner> {
  if (key === undefined) throw usageError(`${address} cannot sign: only its address was given`);
  if (key.type === "multi") {
    const hint = "print it with --generate-only, and let each member sign it with: svc tx sign --multisig";
    throw commandError(`key "${key.name}" is a multisig and cannot sign alone`, { hint });
  }
  if (key.type === "ledger") return (await import("./ledger.ts")).deviceSigner(context, address, key);
  const keyring = await context.keyring();
  return { address, publicKey: key.publicKey, sign: (bytes) => keyring.sign(key.name, bytes) };
}

/** A signer for work that signs more than transactions, or runs unattended: a device cannot do that. */
export async function keyringSigner(context: CliContext, sender: Required<Sender>): Promise<TxSigner> {
  const { key } = sender;
  if (key.type === "ledger") throw ledgerErrors.onlyTransactions(`key "${key.name}"`);
  return signerOf(context, sender);
}

/** The reference tool's notice when it chooses the mode. */
const NOTICE = "Default sign-mode 'direct' not supported by Ledger, using sign-mode 'amino-json'.";

/**
 * The mode in which a key signs. A hardware device shows and signs only amino JSON; `--ledger` requires a key on one.
 */
export function modeForKey({ flags, io }: CliContext, mode: SignMode, key: KeyInfo | undefined): SignMode {
  if (key === undefined) return mode;
  if (key.type !== "ledger") {
    if (!flags.bool("ledger")) return mode;
    const hint = "leave out --ledger, or add the device's key: svc keys add <name> --ledger";
    throw usageError(`--ledger: key "${key.name}" is not on a hardware device, its type is ${key.type}`, hint);
  }
  if (mode === SignMode.LEGACY_AMINO_JSON) return mode;
  if (flags.given("sign-mode")) {
    const hint = "use --sign-mode amino-json, or leave it out";
    throw usageError(`${flags.label("sign-mode")}: a hardware device cannot sign in mode direct`, hint);
  }
  io.err(`${NOTICE}\n`);
  return SignMode.LEGACY_AMINO_JSON;
}
