import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { errorText, fromUtf8, sdkErrors } from "../../../util/index.ts";
import { decodeBounded, fromJson, jsonRefusal, MAX_REQUEST_BYTES, readBoundedJson } from "../../../wire/index.ts";
import { type HeldBytes, ownBytes, PART_BYTES } from "../../http/index.ts";
import { MAX_PARTS } from "../limits.ts";
import { FRAME_HEADER, unframed } from "./unary.ts";

export interface BodyOptions {
  /** Counts its bytes. */
  readonly held: HeldBytes;
  readonly maxMessageBytes: number;
  /** The form of its message; undefined where messages are answered while others are still to come. */
  readonly input: DescMessage | undefined;
}

/**
 * The same request, whose body is counted as it comes. The library gets it in one piece where it can be: it looks at all
 * parts again whenever one comes, and takes memory for the whole of a message once it knows its length.
 */
export function countedBody(request: UniversalServerRequest, options: BodyOptions): UniversalServerRequest {
  const { body } = request;
  if (!isParts(body)) return request;
  const parts = heldParts(body, options.held);
  const { input, maxMessageBytes } = options;
  if (input === undefined) return { ...request, body: parts };
  const type = request.header.get("content-type") ?? "";
  const check = (bytes: Buffer): void => checkMessage(bytes, type, input);
  return { ...request, body: inOnePiece(parts, { maxBytes: FRAME_HEADER + maxMessageBytes, check }) };
}

function isParts(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

async function* heldParts(body: AsyncIterable<Uint8Array>, held: HeldBytes): AsyncIterable<Uint8Array> {
  for await (const part of body) {
    if (!held.add(part.length + PART_BYTES)) throw new ConnectError("too many requests are pending", Code.Unavailable);
    yield part;
  }
}

/** A longer body is not read to its end: the library refuses it. */
async function* inOnePiece(
  parts: AsyncIterable<Uint8Array>,
  { maxBytes, check }: { readonly maxBytes: number; readonly check: (bytes: Buffer) => void },
): AsyncIterable<Uint8Array> {
  const gathered: Buffer[] = [];
  let size = 0;
  for await (const part of parts) {
    if (gathered.length >= MAX_PARTS)
      throw new ConnectError(`the message came in more than ${MAX_PARTS} parts`, Code.ResourceExhausted);
    gathered.push(ownBytes(Buffer.from(part.buffer, part.byteOffset, part.length)));
    size += part.length;
    if (size > maxBytes) break;
  }
  const bytes = Buffer.concat(gathered);
  if (size <= maxBytes) check(bytes);
  yield bytes;
}

/** Types of bodies that are a frame with the message in it. */
const FRAMED = /^application\/(?:grpc|connect\+)/;
const JSON_TYPE = /^application\/(?:grpc\+|grpc-web\+|connect\+)?json\b/;

/**
 * Refuses a message that would take the library long to decode: it has no limits but one on bytes. JSON is looked through
 * first; a large message is read by our own decoders, which have limits, before the library reads it.
 */
function checkMessage(bytes: Buffer, type: string, input: DescMessage): void {
  const message = FRAMED.test(type) ? unframed(bytes) : bytes;
  if (message instanceof ConnectError) throw message;
  try {
    if (JSON_TYPE.test(type)) checkJson(fromUtf8(message), input);
    else if (message.length > MAX_REQUEST_BYTES) decodeBounded(input, message);
  } catch (error) {
    throw new ConnectError(errorText(error), Code.InvalidArgument);
  }
}

function checkJson(text: string, input: DescMessage): void {
  const refusal = jsonRefusal(text);
  if (refusal !== undefined) throw sdkErrors.jsonUnmarshal(refusal);
  if (text.length > MAX_REQUEST_BYTES) fromJson(input, readBoundedJson(text));
}
