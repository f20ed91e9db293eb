import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { type HeldBytes, ownBytes, PART_BYTES } from "../../http/index.ts";
import { callHeightHeaders } from "../../services/height.ts";
import { MAX_PARTS } from "../limits.ts";
import type { BytesAnswerer } from "./calls.ts";
import { GONE, type Reader } from "./reader.ts";

/** Parts that answer unary calls. */
export interface UnaryParts {
  readonly answer: BytesAnswerer;
  readonly maxMessageBytes: number;
  readonly reader: Reader;
  /** Asked for when a message comes in more than one part. */
  readonly held: () => HeldBytes;
}

const PLAIN_TYPES = new Set(["application/grpc", "application/grpc+proto"]);
/** The header of a message: whether it is compressed, and its length in four bytes. */
export const FRAME_HEADER = 5;
const BUSY = "too many requests and answers are pending; try again";

/**
 * Whether a call over HTTP/2 is one whole uncompressed message without a deadline, as nearly all are. Such calls are
 * answered here, from bytes to bytes, in a third of the time that the library takes for its streams of messages; the
 * library answers the others.
 */
export function isPlain(headers: IncomingHttpHeaders): boolean {
  const {
    "content-type": type = "",
    "grpc-encoding": packing = "identity",
    "grpc-timeout": deadline,
    expect,
  } = headers;
  const isEveryday = packing === "identity" && deadline === undefined && expect === undefined;
  return headers[":method"] === "POST" && PLAIN_TYPES.has(type) && isEveryday;
}

/** Answers a plain call; a refusal is an answer too. Rejects when the client has gone. */
export async function answerUnary(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { answer, maxMessageBytes, reader, held }: UnaryParts,
): Promise<void> {
  try {
    const data = await readMessage(stream, { maxMessageBytes, held });
    const whole = (): Uint8Array => {
      if (stream.destroyed) throw GONE;
      return data;
    };
    const headerOf = (name: string) => textOf(headers[name]);
    const { value, height } = await answer(whole, { headerOf, reader });
    send(stream, framed(value), { trailers: { "grpc-status": "0" }, headers: callHeightHeaders(height) });
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const trailers = { "grpc-status": `${error.code}`, "grpc-message": encodeURIComponent(error.rawMessage) };
    send(stream, undefined, { trailers });
  }
}

interface Around {
  readonly headers?: Record<string, string>;
  readonly trailers: Record<string, string>;
}

function send(stream: ServerHttp2Stream, body: Uint8Array | undefined, { headers, trailers }: Around): void {
  if (stream.closed || stream.destroyed) throw GONE;
  stream.once("wantTrailers", () => stream.sendTrailers(trailers));
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto", ...headers }, { waitForTrailers: true });
  stream.end(body);
}

function framed(message: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(FRAME_HEADER + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, FRAME_HEADER);
  return frame;
}

/** The one message of a call. Bytes beyond the limit are not kept. */
function readMessage(
  stream: ServerHttp2Stream,
  { maxMessageBytes: maxBytes, held }: Pick<UnaryParts, "maxMessageBytes" | "held">,
): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  const message = new Promise<Uint8Array>((resolve, reject) => {
    let size = 0;
    let more: HeldBytes | undefined;
    stream.on("data", (part: Buffer) => {
      size += part.length;
      if (size > part.length) more ??= held();
      if (more?.add(part.length + PART_BYTES) === false) reject(new ConnectError(BUSY, Code.Unavailable));
      else if (size > FRAME_HEADER + maxBytes)
        reject(new ConnectError(`the message is larger than ${maxBytes} bytes`, Code.ResourceExhausted));
      else if (parts.length >= MAX_PARTS)
        reject(new ConnectError(`the message came in more than ${MAX_PARTS} parts`, Code.ResourceExhausted));
      else parts.push(ownBytes(part));
    });
    const gone = () => reject(GONE);
    stream.once("end", () => {
      stream.off("close", gone);
      // A reset stream has ended as well.
      if (stream.closed) return gone();
      const message = unframed(Buffer.concat(parts));
      if (message instanceof ConnectError) reject(message);
      else resolve(message);
    });
    stream.once("error", reject);
    stream.once("close", gone);
  });
  return message.finally(() => parts.splice(0));
}

/** The message of a frame, if the bytes are one frame. */
export function unframed(bytes: Buffer): Uint8Array | ConnectError {
  if (bytes.length < FRAME_HEADER) return new ConnectError("the call has no complete message", Code.InvalidArgument);
  if (bytes[0] !== 0)
    return new ConnectError("the message is compressed, and compression is not supported", Code.Internal);
  const end = FRAME_HEADER + bytes.readUInt32BE(1);
  if (end > bytes.length) return new ConnectError("the call has no complete message", Code.InvalidArgument);
  if (end < bytes.length) return new ConnectError("the call has more than one message", Code.Unimplemented);
  return bytes.subarray(FRAME_HEADER);
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
