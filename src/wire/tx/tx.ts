import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { sha256 } from "../../crypto/index.ts";
import { type IntCoin, toHexUpper } from "../../util/index.ts";
import type { Any } from "../any.ts";
import { encodeMessage } from "../codec/index.ts";
import type { Coin } from "../gen/sdk/base/v1beta1/coin_pb.js";
import { SignMode } from "../gen/sdk/tx/signing/v1beta1/signing_pb.js";
import {
  AuthInfoSchema,
  type ModeInfo,
  ModeInfoSchema,
  SignDocSchema,
  TxBodySchema,
  TxRawSchema,
} from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { makeBitArray } from "../keys/index.ts";
import type { SignerData } from "./amino.ts";

/** How a transaction is shown to the key that signs it: as bytes, or as amino JSON. */
export { SignMode };

/** The signed content of a transaction besides its fee. */
export interface TxBodyInit {
  readonly messages: readonly Any[];
  readonly memo?: string;
  /** Last height at which the transaction may commit; 0 for none. */
  readonly timeoutHeight?: bigint;
  /** Last time of a block in which the transaction may commit, in milliseconds of the Unix clock; for chains that have it. */
  readonly timeoutTimeMs?: number | undefined;
  /** The sequence is not checked, and must be 0; for chains that have it. */
  readonly unordered?: boolean | undefined;
}

/** The fee of a transaction: amounts in whole units, the gas limit, and who pays. */
export interface FeeInit {
  readonly amount: readonly (IntCoin | Pick<Coin, "denom" | "amount">)[];
  readonly gasLimit: bigint;
  readonly payer?: string;
  readonly granter?: string;
}

/** One signer of a transaction. */
export interface SignerInit {
  /** May be left out once the account's key is on the chain. */
  readonly publicKey?: Any | undefined;
  readonly mode: SignMode | ModeInfo;
  readonly sequence: bigint;
}

/** Bytes of a transaction's body. */
export function encodeTxBody(body: TxBodyInit): Uint8Array {
  const { messages, memo = "", timeoutHeight = 0n, unordered = false, timeoutTimeMs } = body;
  const timeout = timeoutTimeMs === undefined ? {} : { timeoutTimestamp: timestampFromMs(timeoutTimeMs) };
  const fields = { messages: [...messages], memo, timeoutHeight, unordered, ...timeout };
  return encodeMessage(TxBodySchema, create(TxBodySchema, fields));
}

/** Bytes of a transaction's fee and signers; no signers for one that is still to be signed. */
export function encodeAuthInfo(fee: FeeInit, signers: readonly SignerInit[]): Uint8Array {
  const amount = fee.amount.map((coin) => ({ denom: coin.denom, amount: coin.amount.toString() }));
  const { gasLimit, payer = "", granter = "" } = fee;
  const signerInfos = signers.map(({ publicKey, mode, sequence }) => ({
    ...(publicKey === undefined ? {} : { publicKey }),
    modeInfo: typeof mode === "number" ? singleMode(mode) : mode,
    sequence,
  }));
  return encodeMessage(
    AuthInfoSchema,
    create(AuthInfoSchema, { signerInfos, fee: { amount, gasLimit, payer, granter } }),
  );
}

/** The mode of one signer, as signer infos hold it. */
export function singleMode(mode: SignMode): ModeInfo {
  return create(ModeInfoSchema, { sum: { case: "single", value: { mode } } });
}

/** Mode of a multisig signer: one flag per member, and the mode of each member that signed. */
export function multiMode(signed: readonly boolean[], mode: SignMode = SignMode.LEGACY_AMINO_JSON): ModeInfo {
  const modeInfos = signed.filter(Boolean).map(() => singleMode(mode));
  return create(ModeInfoSchema, { sum: { case: "multi", value: { bitarray: makeBitArray(signed), modeInfos } } });
}

/** Sign bytes of `SIGN_MODE_DIRECT`. The parts go in as the bytes that are sent. */
export function directSignBytes(
  parts: { readonly bodyBytes: Uint8Array; readonly authInfoBytes: Uint8Array },
  signer: Omit<SignerData, "sequence">,
): Uint8Array {
  const { chainId, accountNumber } = signer;
  const { bodyBytes, authInfoBytes } = parts;
  return encodeMessage(SignDocSchema, create(SignDocSchema, { bodyBytes, authInfoBytes, chainId, accountNumber }));
}

/** The bytes of a transaction that are broadcast, hashed and stored. */
export function encodeTx(
  parts: { readonly bodyBytes: Uint8Array; readonly authInfoBytes: Uint8Array },
  signatures: readonly Uint8Array[],
): Uint8Array {
  const { bodyBytes, authInfoBytes } = parts;
  return encodeMessage(TxRawSchema, create(TxRawSchema, { bodyBytes, authInfoBytes, signatures: [...signatures] }));
}

/** The name of a transaction: SHA-256 of its bytes in upper-case hex. */
export function txHash(bytes: Uint8Array): string {
  return toHexUpper(sha256(bytes));
}
