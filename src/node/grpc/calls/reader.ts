import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import { createContextKey } from "@connectrpc/connect";
import type { ReadLimits } from "../../http/index.ts";

/** Counts the bytes of an answer for the client that will read it; false when there is no room for them. */
export type Reader = (bytes: number) => boolean;

export const readerKey = createContextKey<Reader>(() => true, { description: "who reads the answer" });

/** The reader of a response, over either protocol. */
export function readerOf(response: ServerResponse | Http2ServerResponse, limits: ReadLimits): Reader {
  return (bytes) => {
    const release = limits.unread.hold(bytes, () => endResponse(response));
    if (release === undefined) return false;
    const deadline = setTimeout(() => endResponse(response), limits.readWithinMs);
    response.once("close", () => {
      clearTimeout(deadline);
      release();
    });
    return true;
  };
}

/** Breaks a response off at once. Without an error HTTP/2 would wait until the client has read all of it. */
export function endResponse(response: ServerResponse | Http2ServerResponse): void {
  if ("stream" in response) response.stream?.close(constants.NGHTTP2_CANCEL);
  else response.destroy();
}
