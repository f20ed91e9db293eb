import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { Gathered, type HeldBytes } from "../../http/index.ts";

/** The header of a message over gRPC. */
const FRAME_HEADER = 5;

export interface BodyOptions {
  /** Counts its bytes. */
  readonly held: HeldBytes;
  readonly maxMessageBytes: number;
  /** Whether its messages are answered while others are still to come. */
  readonly asItComes: boolean;
}

/**
 * The same request, whose body is counted as it comes. The library gets it in one piece where it can be: it looks at all
 * parts again whenever one comes, and takes memory for the whole of a message once it knows its length.
 */
export function countedBody(request: UniversalServerRequest, options: BodyOptions): UniversalServerRequest {
  const { body } = request;
  if (!isParts(body)) return request;
  const parts = heldParts(body, options.held);
  return { ...request, body: options.asItComes ? parts : inOnePiece(parts, FRAME_HEADER + options.maxMessageBytes) };
}

function isParts(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

async function* heldParts(body: AsyncIterable<Uint8Array>, held: HeldBytes): AsyncIterable<Uint8Array> {
  for await (const part of body) {
    if (!held.add(part.length)) throw new ConnectError("too many requests are pending", Code.Unavailable);
    yield part;
  }
}

/** What is longer is not read on: the library refuses it. */
async function* inOnePiece(parts: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Uint8Array> {
  const gathered = new Gathered();
  try {
    for await (const part of parts) {
      gathered.add(Buffer.from(part.buffer, part.byteOffset, part.length));
      if (gathered.length > maxBytes) break;
    }
    yield gathered.bytes();
  } finally {
    gathered.release();
  }
}
