import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { assert, sdkErrors } from "../../util/index.ts";
import { decodeStrictly, LENGTH_DELIMITED, WireReader } from "../codec/index.ts";
import { type AuthInfo, TxBodySchema, type TxRaw } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { signerPath } from "../options.ts";
import { findTypeUrl, unresolved } from "../registry.ts";
import { signerText } from "./signers.ts";
import { decodeAuthInfo, decodeRaw, fieldCounter } from "./strict.ts";

/** The part of a transaction that says who pays for it; its messages are not read. */
export interface Envelope {
  readonly raw: TxRaw;
  readonly authInfo: AuthInfo;
  readonly first: FirstMessage | undefined;
}

/** The message that a transaction begins with. */
export interface FirstMessage {
  readonly typeUrl: string;
  readonly schema: DescMessage;
  /** The first signer named in the message; undefined if there is none. */
  readonly signer: string | undefined;
}

/**
 * Reads the parts around the messages, with the checks and errors of `decodeTx`. Takes about as long as copying the
 * transaction, however large it is.
 */
export function readEnvelope(bytes: Uint8Array): Envelope {
  const raw = decodeRaw(bytes);
  const authInfo = decodeAuthInfo(raw.authInfoBytes);
  const any = firstAny(raw.bodyBytes);
  return { raw, authInfo, first: any && firstMessage(any) };
}

function firstMessage({ typeUrl, value }: Any): FirstMessage {
  const schema = findTypeUrl(typeUrl);
  if (schema === undefined) throw sdkErrors.txDecode(unresolved(typeUrl));
  return { typeUrl, schema, signer: firstSigner(schema, value) };
}

function firstAny(body: Uint8Array): Any | undefined {
  const reader = readerOf(body, TxBodySchema);
  for (const field of fieldsOf(reader, TxBodySchema.field.messages))
    return decodeStrictly(AnySchema, field, sdkErrors.txDecode);
  return undefined;
}

/** The signer that `messageSigners` would name first, without reading the rest of the message. */
function firstSigner(schema: DescMessage, bytes: Uint8Array): string | undefined {
  for (const path of signerPath(schema)?.split("|") ?? []) {
    const found = firstText(schema, bytes, path.split("."));
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstText(schema: DescMessage, bytes: Uint8Array, path: readonly string[]): string | undefined {
  const [name, ...rest] = path;
  const field = schema.fields.find((candidate) => candidate.name === name);
  assert(field !== undefined, `${schema.typeName} has no field ${name}`);
  for (const content of fieldsOf(readerOf(bytes, schema), field)) {
    const inner = field.message;
    const text = inner === undefined ? signerText(field, textOf(content, schema)) : firstText(inner, content, rest);
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

function textOf(bytes: Uint8Array, schema: DescMessage): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw sdkErrors.txDecode(`text of ${schema.name} is not valid UTF-8`, { cause });
  }
}

/** Contents of the fields with one number; all others, as many as a transaction may have, are skipped. */
function* fieldsOf(reader: WireReader, { number }: DescField): Generator<Uint8Array> {
  const count = fieldCounter();
  while (reader.position < reader.end) {
    count();
    const tag = reader.tag();
    if (tag >>> 3 !== number || (tag & 7) !== LENGTH_DELIMITED) reader.skip(tag & 7);
    else yield reader.takeBytes();
  }
}

function readerOf(bytes: Uint8Array, schema: DescMessage): WireReader {
  return new WireReader(bytes, { strict: true, error: sdkErrors.txDecode, label: schema.name });
}
