import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { sdkErrors } from "../../util/index.ts";
import type { Any, Unpacked } from "../any.ts";
import { type DecodeRules, decodeStrictly } from "../codec/index.ts";
import {
  type AuthInfo,
  AuthInfoSchema,
  type TxBody,
  TxBodySchema,
  type TxRaw,
  TxRawSchema,
} from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { signerPath } from "../options.ts";
import { findTypeUrl, unresolved } from "../registry.ts";

/** Largest transaction in bytes. */
export const MAX_TX_BYTES = 1 << 20;
/** Bytes that it may have besides its body: signers, fee and signatures. */
export const MAX_BYTES_BESIDE_BODY = 32 << 10;
/** How many `Any` may be nested in one another, the outermost included. */
export const MAX_ANY_DEPTH = 10;
/** How many `Any` one message or one key may hold in all. */
export const MAX_ANY_COUNT = 100;
/**
 * Maximum number of fields of a transaction, nested messages and elements of packed lists included. Reading a
 * transaction costs work by its fields more than by its bytes, and a transaction that is rejected for its contents pays
 * nothing.
 */
export const MAX_TX_FIELDS = 100_000;
/** How many items one list may have: no block has gas for that many, whatever they are. */
export const MAX_TX_ITEMS = 4096;
/** Field numbers with this bit may be unknown in a transaction body: extensions that are not critical. */
const NON_CRITICAL_BIT = 1024;

/** Fields of a transaction's body that newer chains have and ours refuses. */
const FOREIGN_FIELDS: ReadonlySet<number> = new Set([
  TxBodySchema.field.unordered.number,
  TxBodySchema.field.timeoutTimestamp.number,
]);

/** How a transaction is read. */
export interface TxRules {
  /** The transaction may be for any chain of the ecosystem, with fields that ours refuses. */
  readonly foreign?: boolean;
  /** Parts of the transaction that were read before. */
  readonly envelope?: { readonly raw: TxRaw; readonly authInfo: AuthInfo } | undefined;
}

/** A transaction whose bytes have been checked. */
export interface DecodedTx {
  /** The parts as they were sent: signatures cover these bytes. */
  readonly raw: TxRaw;
  readonly body: TxBody;
  readonly authInfo: AuthInfo;
  readonly messages: readonly Unpacked[];
  /** Types of messages that are unknown or incomplete, which `messages` leaves out. Always empty on our own chain. */
  readonly opaque: readonly string[];
  /** The body has fields that this version does not know; amino JSON cannot sign them. */
  readonly hasUnknownFields: boolean;
}

/**
 * Reads a transaction and refuses every encoding but the canonical one, so that all nodes read the same and nothing
 * unsigned can be slipped in. Throws `sdkErrors.txDecode`, for too many bytes `sdkErrors.txTooLarge`, for bombs of
 * nested `Any` `sdkErrors.unpackAny`.
 */
export function decodeTx(bytes: Uint8Array, rules: TxRules = {}): DecodedTx {
  const raw = rules.envelope?.raw ?? decodeRaw(bytes, rules);
  return { raw, ...decodeTxParts(raw.bodyBytes, raw.authInfoBytes, rules) };
}

/**
 * The parts of a transaction. The limit besides the body is checked before each of its many small fields costs
 * something.
 */
export function decodeRaw(bytes: Uint8Array, { foreign = false }: TxRules = {}): TxRaw {
  if (bytes.length > MAX_TX_BYTES) throw sdkErrors.txTooLarge(`${bytes.length} > ${MAX_TX_BYTES} bytes`);
  const beside = bytes.length - bodyLength(bytes);
  if (!foreign && beside > MAX_BYTES_BESIDE_BODY)
    throw sdkErrors.txTooLarge(`${beside} > ${MAX_BYTES_BESIDE_BODY} bytes of signers, fee and signatures`);
  return decodeStrictly(TxRawSchema, bytes, sdkErrors.txDecode, { ordered: true });
}

/** The body is the first field; if it is not, the transaction is refused whatever this returns. */
function bodyLength(bytes: Uint8Array): number {
  let length = 0;
  if (bytes[0] !== 0x0a) return 0;
  for (let at = 1; at < 6; at++) {
    const byte = bytes[at] ?? 0;
    length += (byte & 0x7f) * 2 ** (7 * (at - 1));
    if (byte < 0x80) return Math.min(length, bytes.length);
  }
  return 0;
}

/** Fee and signers, with all the checks of `decodeTx`. */
export function decodeAuthInfo(bytes: Uint8Array): AuthInfo {
  return new StrictReading({}).read(AuthInfoSchema, bytes);
}

/** The same checks on the two signed parts, for transactions that have no signatures yet. */
export function decodeTxParts(
  bodyBytes: Uint8Array,
  authInfoBytes: Uint8Array,
  { foreign = false, envelope }: TxRules = {},
): Omit<DecodedTx, "raw"> {
  let hasUnknownFields = false;
  const tolerates = (number: number): boolean => {
    hasUnknownFields ||= (number & NON_CRITICAL_BIT) !== 0;
    return (number & NON_CRITICAL_BIT) !== 0;
  };
  const counted = foreign ? {} : { onField: fieldCounter(), maxItems: MAX_TX_ITEMS };
  const body = decodeStrictly(TxBodySchema, bodyBytes, sdkErrors.txDecode, {
    tolerates,
    views: true,
    ...counted,
    ...(foreign ? {} : { hidden: FOREIGN_FIELDS }),
  });
  const authInfo = envelope?.authInfo ?? decodeAuthInfo(authInfoBytes);
  const opaque = foreign ? opaqueTypes(body.messages) : [];
  const reading = new StrictReading(counted);
  const messages = body.messages.filter((any) => !foreign || isReadable(any)).map((any) => reading.unpack(any));
  return { body, authInfo, messages, opaque, hasUnknownFields };
}

/** The types of the messages that cannot be read: they, or something in them, are not known here. */
export function opaqueTypes(messages: readonly Any[]): string[] {
  return messages.filter((any) => !isReadable(any)).map(({ typeUrl }) => typeUrl);
}

/** Whether a message and all that it holds is known. */
export function isReadable(any: Any): boolean {
  try {
    unpackStrictly(any);
    return true;
  } catch {
    return false;
  }
}

/** The message of an `Any`, with the checks of `decodeTx` on its bytes. Throws `sdkErrors.txDecode`. */
export function unpackStrictly(any: Any): Unpacked {
  return new StrictReading({}).unpack(any);
}

type Counted = Pick<DecodeRules, "onField" | "maxItems">;

/** Called for every field of a transaction; refuses the first one too many. */
export function fieldCounter(): () => void {
  let left = MAX_TX_FIELDS;
  return () => {
    if (left === 0)
      throw sdkErrors.txTooLarge(`more than ${MAX_TX_FIELDS} fields`, {
        hint: "send its messages in several transactions",
      });
    left -= 1;
  };
}

/** Reads messages strictly, and every `Any` inside them as well. */
class StrictReading {
  /** The number of signed messages that the message read last carries. */
  carried = 0;
  #count = 0;
  #depth = 1;
  readonly #rules: DecodeRules;

  constructor(counted: Counted) {
    this.#rules = { ...counted, onAny: (any) => this.#readAny(any) };
  }

  read<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> {
    this.carried = 0;
    this.#count = 0;
    this.#depth = 1;
    return decodeStrictly(schema, bytes, sdkErrors.txDecode, this.#rules);
  }

  unpack({ typeUrl, value: bytes }: Any): Unpacked {
    const schema = schemaOf(typeUrl);
    const value = this.read(schema, bytes);
    return { typeUrl, schema, value, carried: this.carried };
  }

  #readAny({ typeUrl, value }: Any): void {
    this.#count += 1;
    this.#depth += 1;
    if (this.#depth > MAX_ANY_DEPTH) throw sdkErrors.unpackAny(`max depth exceeded: more than ${MAX_ANY_DEPTH} nested`);
    if (this.#count > MAX_ANY_COUNT) throw sdkErrors.unpackAny(`call limit exceeded: more than ${MAX_ANY_COUNT}`);
    const schema = schemaOf(typeUrl);
    if (signerPath(schema) !== undefined) this.carried += 1;
    decodeStrictly(schema, value, sdkErrors.txDecode, this.#rules);
    this.#depth -= 1;
  }
}

function schemaOf(typeUrl: string): DescMessage {
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) throw sdkErrors.txDecode(unresolved(typeUrl));
  return schema;
}
