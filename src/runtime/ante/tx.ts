import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { equalBytes, type IntCoin, sdkErrors, someCoins } from "../../util/index.ts";
import type { AuthInfo } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  type DecodedTx,
  decodeAddress,
  decodeTx,
  type Envelope,
  feePayer,
  type Namespace,
  namespaceOf,
  type PublicKey,
  publicKeyFromAny,
  txSigners,
  typeUrlOf,
  type Unpacked,
} from "../../wire/index.ts";
import { readCoins } from "../requests/coins.ts";
import type { MessageRoute, Router } from "../router.ts";

/** Bytes that a finished transaction has and one sent for simulation may lack; rather too many than too few. */
const SIGNATURE = 66;
const PUBLIC_KEY = 82;
const FEE = 40;
const GAS_LIMIT = 4;

/** A message with the way to its handler. */
export interface RoutedMessage {
  readonly route: MessageRoute;
  readonly value: MessageShape<DescMessage>;
  /** Spelling of the message's type URL; its response is given the same. */
  readonly namespace: Namespace;
}

/** One required signer. */
export interface TxSigner {
  readonly address: Uint8Array;
  readonly text: string;
  /** The key that came with the transaction. */
  readonly publicKey: PublicKey | undefined;
}

/** The granter of an allowance, whose coins pay the fee. */
export interface FeeGranter {
  readonly address: Uint8Array;
  readonly text: string;
}

/** A transaction with everything that follows from its bytes alone. */
export interface PreparedTx {
  readonly size: number;
  readonly decoded: DecodedTx;
  readonly messages: readonly RoutedMessage[];
  /** Number of messages, including nested ones. */
  readonly messageCount: number;
  /** Signers of the messages in order, each once, then the fee payer if it is not among them. */
  readonly signers: readonly TxSigner[];
  readonly feePayer: TxSigner;
  /** Account that pays the fee for `feePayer`, who signs; undefined if `feePayer` pays. */
  readonly feeGranter: FeeGranter | undefined;
  /** Types of the messages, each once, in our spelling. */
  readonly typeUrls: readonly string[];
  readonly fee: readonly IntCoin[];
  readonly gasLimit: bigint;
}

const MAX_GAS = 2n ** 63n - 1n;

interface Preparing {
  /** A transaction for simulation may lack signatures, keys and a fee. */
  readonly mode?: "signed" | "simulated";
  /** The parts around its messages, if they were read before. */
  readonly envelope?: Envelope | undefined;
}

/** Decodes a transaction strictly, once, and makes all checks that need no state. */
export function prepareTx(
  bytes: Uint8Array,
  router: Router,
  { mode = "signed", envelope }: Preparing = {},
): PreparedTx {
  if (bytes.length === 0) throw sdkErrors.txDecode("tx bytes are empty");
  const decoded = decodeTx(bytes, { envelope });
  const { body, authInfo, raw } = decoded;
  if (body.extensionOptions.length > 0) throw sdkErrors.unknownExtension();
  const messages = decoded.messages.map((message) => routeMessage(message, router));
  if (messages.length === 0) throw sdkErrors.invalidRequest("must contain at least one message");
  const gasLimit = readGasLimit(authInfo);
  const fee = readFee(authInfo, mode);
  for (const { route, value } of messages) route.method.validate(value);
  const texts = txSigners(decoded.messages, authInfo.fee);
  checkCounts(texts.length, authInfo.signerInfos.length, raw.signatures);
  const signers = texts.map((text, i) => readSigner(text, authInfo.signerInfos[i]?.publicKey, mode));
  const feePayer = payerOf(decoded, signers);
  return {
    size: bytes.length,
    decoded,
    messages,
    messageCount: decoded.messages.reduce((sum, { carried = 0 }) => sum + 1 + carried, 0),
    signers,
    feePayer,
    feeGranter: readGranter(authInfo, feePayer),
    typeUrls: [...new Set(decoded.messages.map(({ schema }) => typeUrlOf(schema)))],
    fee,
    gasLimit,
  };
}

function routeMessage({ value, ...type }: Unpacked, router: Router): RoutedMessage {
  return { route: routeOf(type, router), value, namespace: namespaceOf(type.typeUrl) };
}

/** The route of messages of a type. Throws `sdk/6` if there is none. */
export function routeOf({ typeUrl, schema }: Omit<Unpacked, "value">, router: Router): MessageRoute {
  const route = router.message(schema);
  if (route === undefined) throw sdkErrors.unknownRequest(`no handler for ${JSON.stringify(typeUrl.slice(0, 128))}`);
  return route;
}

export function readGasLimit({ fee }: AuthInfo): bigint {
  const gasLimit = fee?.gasLimit ?? 0n;
  if (gasLimit > MAX_GAS) throw sdkErrors.invalidRequest(`invalid gas supplied; ${gasLimit} > ${MAX_GAS}`);
  return gasLimit;
}

/** Clients that pay by gas price ask for the gas with a fee of zero, since it is not known yet. */
export function readFee(authInfo: AuthInfo, mode: "signed" | "simulated"): IntCoin[] {
  const coins = authInfo.fee?.amount ?? [];
  const amount = mode === "signed" ? coins : coins.filter((coin) => coin.amount !== "0");
  try {
    return readCoins(amount);
  } catch (cause) {
    throw sdkErrors.insufficientFee(`invalid fee amount: ${someCoins(amount)}`, { cause });
  }
}

/** The granter that is named; an account that pays for itself needs no allowance. Throws `sdk/7`. */
export function readGranter({ fee }: AuthInfo, payer: { readonly address: Uint8Array }): FeeGranter | undefined {
  const text = fee?.granter ?? "";
  if (text === "") return undefined;
  const address = decodeAddress(text);
  return equalBytes(address, payer.address) ? undefined : { address, text };
}

function checkCounts(signers: number, infos: number, signatures: readonly Uint8Array[]): void {
  if (signatures.length === 0) throw sdkErrors.noSignatures();
  if (signatures.length !== signers)
    throw sdkErrors.unauthorized(`wrong number of signers; expected ${signers}, got ${signatures.length}`);
  if (infos !== signers)
    throw sdkErrors.unauthorized(`wrong number of signer infos; expected ${signers}, got ${infos}`);
}

export function readSigner(text: string, key: Any | undefined, mode: "signed" | "simulated"): TxSigner {
  const address = decodeAddress(text);
  // Clients that only ask for the gas send a key without content.
  if (key === undefined || (mode === "simulated" && key.value.length === 0))
    return { address, text, publicKey: undefined };
  const publicKey = publicKeyFromAny(key);
  const members = publicKey.type === "multisig" ? publicKey.keys : [publicKey];
  if (members.some(({ type }) => type !== "secp256k1"))
    throw sdkErrors.invalidPubKey("ed25519 keys belong to validators and sign no transactions");
  return { address, text, publicKey };
}

function payerOf({ authInfo }: DecodedTx, signers: readonly TxSigner[]): TxSigner {
  const text = feePayer(
    signers.map((each) => each.text),
    authInfo.fee,
  );
  const payer = signers.find((each) => each.text === text);
  if (payer === undefined) throw sdkErrors.noSignatures("the transaction has no signer");
  return payer;
}

/** How many bytes a simulated transaction will grow by when it is signed and given its fee. */
export function missingBytes({ decoded, signers, fee, gasLimit }: PreparedTx): number {
  const { raw, authInfo } = decoded;
  const unsigned = signers.filter((_, i) => (raw.signatures[i]?.length ?? 0) === 0).length;
  const keyless = signers.filter((_, i) => (authInfo.signerInfos[i]?.publicKey?.value.length ?? 0) === 0).length;
  return unsigned * SIGNATURE + keyless * PUBLIC_KEY + (fee.length === 0 ? FEE : 0) + (gasLimit === 0n ? GAS_LIMIT : 0);
}
