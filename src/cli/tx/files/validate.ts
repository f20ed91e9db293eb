import { equalBytes, errorText } from "../../../util/index.ts";
import type { SignerInfo, Tx } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  encodeAddress,
  opaqueTypes,
  type PublicKey,
  publicKeyAddress,
  publicKeyFromAny,
  verifySignature,
} from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError } from "../../errors.ts";
import { printAs } from "../../terminal/output.ts";
import { type SignerNumbers, signerNumbers } from "../session/facts.ts";
import { readNumbers } from "../session/settings.ts";
import { readTxFile, txParts } from "./file.ts";
import { addressBytes, numbersFor, signersOf } from "./signing.ts";

/**
 * `tx validate-signatures FILE`: the required signatures of a transaction, and whether the present ones are valid. They
 * are checked against the chain, or offline against the numbers of the flags; without either only their signers are
 * shown.
 */
export async function validateSignatures(input: CommandInput): Promise<void> {
  const { args, io } = input;
  const context = createContext(input);
  const tx = await readTxFile(args[0] ?? "", io);
  const infos = tx.authInfo?.signerInfos ?? [];
  const signers = isOpen(tx) ? claimed(infos, context) : signersOf(tx);
  const verdicts: Verdict[] = [];
  for (const [i, info] of infos.entries()) verdicts.push(await judge({ context, tx, signers }, info, i));
  const signatures = verdicts.map(({ address, fault }) => ({
    address,
    valid: fault === undefined,
    fault: fault ?? "",
  }));
  printAs(
    input,
    { signers, signatures },
    listing("Signers", signers) + listing("Signatures", verdicts.map(verdictLine)),
  );
  const missing = signers.length - infos.length;
  if (missing === 0 && verdicts.every(({ fault }) => fault === undefined)) return;
  const hint = missing > 0 ? { hint: `${missing} of ${signers.length} signatures are missing` } : {};
  throw commandError("signatures validation failed", hint);
}

/** Only its chain knows who must sign a message of an unknown type. */
function isOpen(tx: Tx): boolean {
  return opaqueTypes(tx.body?.messages ?? []).length > 0;
}

/** The accounts of the keys that signed. */
function claimed(infos: readonly SignerInfo[], { profile }: CliContext): string[] {
  return infos
    .map(keyOf)
    .filter((key) => key !== undefined)
    .map((key) => encodeAddress(publicKeyAddress(key), "account", profile.bech32Prefix));
}

interface Verdict {
  readonly address: string;
  readonly fault: string | undefined;
}

function listing(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line, i) => `  ${i}: ${line}\n`).join("")}\n`;
}

function verdictLine({ address, fault }: Verdict): string {
  return `${address}\t\t\t[${fault === undefined ? "OK" : `ERROR: ${fault}`}]`;
}

interface Checked {
  readonly context: CliContext;
  readonly tx: Tx;
  /** Addresses, in order. */
  readonly signers: readonly string[];
}

const MISMATCH = "signature does not match its respective signer";

async function judge({ context, tx, signers }: Checked, info: SignerInfo, index: number): Promise<Verdict> {
  const signer = signers[index];
  const numbers = signer === undefined ? undefined : await knownNumbers(context, signer, signers.length);
  const key = keyOf(info) ?? numbers?.publicKey;
  if (key === undefined) return { address: signer ?? "unknown", fault: "its public key is unknown" };
  const bytes = publicKeyAddress(key);
  const prefix = signer?.slice(0, signer.lastIndexOf("1")) ?? context.profile.bech32Prefix;
  const address = encodeAddress(bytes, "account", prefix);
  if (signer === undefined || !equalBytes(bytes, addressBytes(signer))) return { address, fault: MISMATCH };
  return { address, fault: numbers === undefined ? undefined : signatureFault({ tx, index, key, info, numbers }) };
}

function keyOf({ publicKey }: SignerInfo): PublicKey | undefined {
  return publicKey === undefined ? undefined : publicKeyFromAny(publicKey);
}

/** Offline, the numbers of the flags belong to the only signer. */
async function knownNumbers(
  context: CliContext,
  address: string,
  signerCount: number,
): Promise<SignerNumbers | undefined> {
  const { flags } = context;
  const numbers = readNumbers(flags);
  const isComplete = numbers.accountNumber !== undefined && numbers.sequence !== undefined && flags.given("chain-id");
  if (flags.bool("offline") && !(isComplete && signerCount === 1)) return undefined;
  return signerNumbers(context, numbers, address);
}

interface SignatureToCheck {
  readonly tx: Tx;
  readonly index: number;
  readonly key: PublicKey;
  readonly info: SignerInfo;
  readonly numbers: SignerNumbers;
}

function signatureFault({ tx, index, key, info, numbers }: SignatureToCheck): string | undefined {
  const signature = tx.signatures[index] ?? new Uint8Array();
  const signer = numbersFor(tx, numbers);
  const { accountNumber, sequence, chainId } = signer;
  try {
    if (info.sequence !== sequence) return `sequence is ${info.sequence}, the account's is ${sequence}`;
    if (verifySignature(txParts(tx), key, { modeInfo: info.modeInfo, signature, signer })) return undefined;
  } catch (error) {
    return errorText(error);
  }
  return `signature is not valid for account number ${accountNumber}, sequence ${sequence} and chain ${chainId}`;
}
