import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import { createContextKey } from "@connectrpc/connect";
import { clientNetwork } from "../../../util/index.ts";
import type { ByteBudget, HeldBytes, ReadLimits } from "../../http/index.ts";

/** The stream on which an answer goes out, over either protocol. */
export type AnswerStream = ServerResponse | ServerHttp2Stream;

export function streamOf(response: ServerResponse | Http2ServerResponse): AnswerStream {
  return "stream" in response ? response.stream : response;
}

function isOver2(stream: AnswerStream): stream is ServerHttp2Stream {
  return "session" in stream;
}

/** Counts the bytes of an answer for the client that will read it; false when there is no room for them. */
export type Reader = (bytes: number) => boolean;

export const readerKey = createContextKey<Reader>(() => true, { description: "who reads the answer" });

/** The network from which a call came. */
export function networkOf(stream: AnswerStream): string {
  const socket = isOver2(stream) ? stream.session?.socket : stream.req.socket;
  return clientNetwork(socket?.remoteAddress ?? "");
}

/** The reader of an answer. */
export function readerOf(stream: AnswerStream, limits: ReadLimits): Reader {
  return (bytes) => {
    if (stream.destroyed) return false;
    const release = limits.unread.hold(bytes, () => endAnswer(stream));
    if (release === undefined) return false;
    const deadline = setTimeout(() => endAnswer(stream), limits.readWithinMs);
    stream.once("close", () => {
      clearTimeout(deadline);
      release();
    });
    return true;
  };
}

/** Counts the bytes of a request, until it is answered. */
export function heldFor(stream: AnswerStream, sent: ByteBudget): HeldBytes {
  const held = sent.begin(() => endAnswer(stream));
  stream.once("close", () => held.release());
  return held;
}

/** Ends a call whose client has gone. One for all: in a flood, the stacks of thousands would keep others waiting. */
export const GONE = new Error("the client has gone");

/** Breaks an answer off at once. Without an error HTTP/2 would wait until the client has read all of it. */
export function endAnswer(stream: AnswerStream): void {
  if (isOver2(stream)) stream.close(constants.NGHTTP2_CANCEL);
  else stream.destroy();
}
