import { create, type DescMessage, isMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import type { IntCoin } from "../util/index.ts";
import {
  encodeAuthInfo,
  encodeTx,
  encodeTxBody,
  findMessage,
  type Namespace,
  packAny,
  publicKeyToAny,
  SignMode,
  signBytes,
} from "../wire/index.ts";
import type { TestKey } from "./keys.ts";

/** A message of a transaction: one made with `create`, or an `Any`. */
export type TestMessage = Message;

/** Settings of a test transaction; if left out, gas is ample and the fee is zero. */
export interface TxSettings {
  readonly gas?: bigint;
  readonly fee?: readonly IntCoin[];
  readonly memo?: string;
  readonly timeoutHeight?: bigint;
  readonly mode?: SignMode;
  readonly payer?: string;
  readonly granter?: string;
  /** Spelling of type URLs; our own chains' unless given. */
  readonly namespace?: Namespace;
}

/** A signer, with the chain's facts about its account. */
export interface TestSigner {
  readonly key: TestKey;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
}

/** Gas of test transactions unless they say otherwise: ample. */
const DEFAULT_GAS = 10_000_000n;

/** Makes the bytes of a transaction signed by everybody in the list, in this order. */
export function signTx(
  chainId: string,
  messages: readonly TestMessage[],
  signers: readonly TestSigner[],
  settings: TxSettings = {},
): Uint8Array {
  const { gas = DEFAULT_GAS, fee = [], memo = "", timeoutHeight = 0n, mode = SignMode.DIRECT } = settings;
  const { payer = "", granter = "", namespace } = settings;
  const packed = messages.map((message) => toAny(message, namespace));
  const bodyBytes = encodeTxBody({ messages: packed, memo, timeoutHeight });
  const authInfoBytes = encodeAuthInfo(
    { amount: fee, gasLimit: gas, payer, granter },
    signers.map(({ key, sequence }) => ({ publicKey: publicKeyToAny(key.publicKey, namespace), mode, sequence })),
  );
  const parts = { bodyBytes, authInfoBytes };
  const signatures = signers.map(({ key, accountNumber, sequence }) =>
    key.sign(signBytes(mode, parts, { chainId, accountNumber, sequence })),
  );
  return encodeTx(parts, signatures);
}

/** A message with its type. Throws for a type that is not of this product. */
export function toAny(message: TestMessage, namespace?: Namespace): Any {
  if (isMessage(message, AnySchema)) return message;
  const schema = findMessage(message.$typeName);
  if (schema === undefined) throw new Error(`${message.$typeName} is not registered`);
  return packAny(schema, create(schema, message as MessageInitShape<DescMessage>), namespace);
}
