import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import { createContextKey } from "@connectrpc/connect";
import { clientNetwork } from "../../../util/index.ts";
import type { ByteBudget, HeldBytes, ReadLimits } from "../../http/index.ts";

/** A response over either protocol. */
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** Counts the bytes of an answer for the client that will read it; false when there is no room for them. */
export type Reader = (bytes: number) => boolean;

export const readerKey = createContextKey<Reader>(() => true, { description: "who reads the answer" });

/** The network from which a call came. */
export function networkOf(response: AnyResponse): string {
  const socket = "stream" in response ? response.stream?.session?.socket : response.req.socket;
  return clientNetwork(socket?.remoteAddress ?? "");
}

/** The reader of a response. */
export function readerOf(response: AnyResponse, limits: ReadLimits): Reader {
  return (bytes) => {
    if (isGone(response)) return false;
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

/** Counts the bytes of a request, until it is answered. */
export function heldFor(response: AnyResponse, sent: ByteBudget): HeldBytes {
  const held = sent.begin(() => endResponse(response));
  response.once("close", () => held.release());
  return held;
}

/** Ends a call whose client has gone. One for all: in a flood, the stacks of thousands would keep others waiting. */
export const GONE = new Error("the client has gone");

/** Whether its client has gone; no event would report it later. */
export function isGone(response: AnyResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}

/** Breaks a response off at once. Without an error HTTP/2 would wait until the client has read all of it. */
export function endResponse(response: AnyResponse): void {
  if ("stream" in response) response.stream?.close(constants.NGHTTP2_CANCEL);
  else response.destroy();
}
