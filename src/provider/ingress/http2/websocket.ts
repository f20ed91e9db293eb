import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RequestHead } from "../proxy/exchange.ts";
import { endToEnd, withoutHeader } from "../proxy/headers.ts";
import { type PageStatus, sendPage } from "../proxy/pages.ts";
import type { Tunnel } from "../proxy/upgrade.ts";
import { StreamAnswer } from "./exchange.ts";
import type { StreamRequest } from "./session.ts";

/** A websocket over a stream (RFC 8441), which is an upgrade for the replica. */
export function streamTunnel({ stream, head }: StreamRequest): Tunnel {
  const answer = new StreamAnswer(stream);
  return {
    head: upgradeHead(head),
    isWebsocket: true,
    client: stream,
    rest: Buffer.alloc(0),
    page: (status: PageStatus) => sendPage(answer, status),
    // The accept key says that the replica took the upgrade; over a stream the status does.
    accept: (upgraded: IncomingMessage) =>
      begin(answer, 200, withoutHeader(endToEnd(upgraded), "sec-websocket-accept")),
    refuse: (refusal: IncomingMessage) => begin(answer, refusal.statusCode ?? 502, endToEnd(refusal)),
  };
}

/** Headers of a replica that HTTP/2 cannot carry end this stream alone. */
function begin(answer: StreamAnswer, status: number, headers: readonly string[]): void {
  try {
    answer.begin({ status, reason: "", headers, isBare: false });
  } catch {
    answer.cut();
  }
}

/** RFC 6455 section 4.1 asks for a key, which streams do not have. */
function upgradeHead(head: RequestHead): RequestHead {
  const key = randomBytes(16).toString("base64");
  const rawHeaders = [...withoutHeader(head.rawHeaders, "sec-websocket-key"), "Sec-WebSocket-Key", key];
  return { ...head, method: "GET", rawHeaders };
}
