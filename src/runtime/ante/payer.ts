import { sdkErrors, toHex } from "../../util/index.ts";
import type { ModeInfo } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { type Envelope, SignMode } from "../../wire/index.ts";
import type { Context } from "../context.ts";
import {
  type AnteFacts,
  type AnteOptions,
  checkFunds,
  checkGasLimit,
  checkMinimumFee,
  consumeSizeGas,
} from "./ante.ts";
import { checkSignature, checkSignatureForm, type SignedBy } from "./signatures.ts";
import { readFee, readGasLimit, readGranter, readSigner } from "./tx.ts";

/**
 * Up to this size a transaction is checked in the order of the reference: reading all of it costs no more than
 * verifying a signature. For a larger one, the payer and the payer's consent are established first.
 */
export const READ_WHOLE_BYTES = 4 << 10;

/**
 * Largest transaction signed as amino JSON that the mempool accepts: its sign bytes are known only after all messages
 * are read and written again as text.
 */
export const MAX_AMINO_BYTES = 64 << 10;

/** Facts about a large transaction before its messages are read. */
export interface LargeTx {
  readonly size: number;
  readonly envelope: Envelope;
}

/**
 * Checks that the fee is enough, and that its payer exists, can pay, has this sequence and signed, all before any
 * message is read. Errors equal those of the full checks, which follow.
 */
export function checkPayer(ctx: Context, { size, envelope }: LargeTx, options: AnteOptions, facts: AnteFacts): void {
  const { authInfo } = envelope;
  const gasLimit = readGasLimit(authInfo);
  const fee = readFee(authInfo, "signed");
  checkGasLimit({ gasLimit }, options.maxBlockGas());
  checkMinimumFee({ fee, gasLimit }, options.minGasPrices);
  consumeSizeGas(ctx, size, options.accounts.getParams(ctx));
  const { text, indexes } = payerOf(envelope);
  const candidates = indexes.map((index) => readSigner(text, authInfo.signerInfos[index]?.publicKey, "signed"));
  const [feePayer] = candidates;
  if (feePayer === undefined) throw sdkErrors.noSignatures();
  const account = options.accounts.get(ctx, feePayer.address);
  if (account === undefined) throw sdkErrors.unknownAddress(`fee payer address: ${text} does not exist`);
  checkFunds(ctx, { feePayer, feeGranter: readGranter(authInfo, feePayer), fee }, options, facts.waiting);
  const claimed = facts.waiting?.claims.of(toHex(feePayer.address));
  // It may be meant to replace a waiting one; the full checks decide.
  const next = account.sequence + (claimed?.txs ?? 0n);
  const sequences = { first: account.sequence, last: next, next };
  const signed = candidates.map(({ publicKey: sent }, i): SignedBy => {
    const index = indexes[i] ?? 0;
    const publicKey = account.publicKey ?? claimed?.publicKey ?? sent;
    const [info, signature] = [authInfo.signerInfos[index], envelope.raw.signatures[index]];
    return { index, account, publicKey, sent, info, signature, sequences };
  });
  checkSigned(ctx, { size, envelope }, signed, facts);
}

/** The payer, and the places where its signature can be: that depends on messages that are not read yet. */
function payerOf({ raw, authInfo, first }: Envelope): { readonly text: string; readonly indexes: readonly number[] } {
  const named = authInfo.fee?.payer ?? "";
  const text = named === "" ? first?.signer : named;
  const count = raw.signatures.length;
  if (text === undefined || count === 0) throw sdkErrors.noSignatures();
  if (text === first?.signer) return { text, indexes: [0] };
  const last = count - 1;
  return { text, indexes: [last, ...Array.from({ length: last }, (_, i) => i)] };
}

/** The payer's signature must be at one of these places, if it can be verified without the messages. */
function checkSigned(ctx: Context, { size, envelope }: LargeTx, signed: readonly SignedBy[], facts: AnteFacts): void {
  if (ctx.mode === "recheck") return;
  let failure: unknown;
  for (const each of signed) {
    try {
      if (each.info?.modeInfo && isDirect(each.info.modeInfo)) checkSignature(ctx, envelope.raw, each, facts.verified);
      else checkAmino(ctx, size, each);
      return;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/** The sign bytes are not known yet; the form of the signature is. */
function checkAmino(ctx: Context, size: number, signed: SignedBy): void {
  if (size > MAX_AMINO_BYTES)
    throw sdkErrors.txTooLarge(`${size} > ${MAX_AMINO_BYTES} bytes of a transaction signed as amino JSON`, {
      hint: "sign it with --sign-mode direct, or send fewer messages",
    });
  checkSignatureForm(ctx, signed);
}

function isDirect({ sum }: ModeInfo): boolean {
  if (sum.case === "single") return sum.value.mode === SignMode.DIRECT;
  return sum.case === "multi" && sum.value.modeInfos.every(isDirect);
}
