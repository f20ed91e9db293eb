import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { RequestHead } from "../proxy/exchange.ts";
import { endToEnd } from "../proxy/headers.ts";
import { type PageStatus, sendPage } from "../proxy/pages.ts";
import type { Tunnel } from "../proxy/upgrade.ts";
import { StreamAnswer } from "./exchange.ts";
import type { StreamRequest } from "./session.ts";

/** The accept key says that the replica took the upgrade; over a stream the status does. */
const NOT_OF_STREAMS = new Set(["sec-websocket-accept"]);

/** A websocket over a stream (RFC 8441), which is an upgrade for the replica. */
export function streamTunnel({ stream, head }: StreamRequest): Tunnel {
  const answer = new StreamAnswer(stream);
  return {
    head: upgradeHead(head),
    isWebsocket: true,
    client: stream,
    rest: Buffer.alloc(0),
    page: (status: PageStatus) => sendPage(answer, status),
    accept: (upgraded: IncomingMessage) => begin(answer, 200, withoutKey(endToEnd(upgraded))),
    refuse: (refusal: IncomingMessage) => begin(answer, refusal.statusCode ?? 502, endToEnd(refusal)),
  };
}

/** Headers of a replica that HTTP/2 cannot carry end this stream alone. */
function begin(answer: StreamAnswer, status: number, headers: readonly string[]): void {
  try {
    answer.begin(status, "", headers);
  } catch {
    answer.cut();
  }
}

/** RFC 6455 section 4.1 asks for a key, which streams do not have. */
function upgradeHead(head: RequestHead): RequestHead {
  const rest = filterPairs(head.rawHeaders, (name) => name !== "sec-websocket-key");
  const key = randomBytes(16).toString("base64");
  return { ...head, method: "GET", rawHeaders: [...rest, "Sec-WebSocket-Key", key] };
}

function withoutKey(raw: readonly string[]): string[] {
  return filterPairs(raw, (name) => !NOT_OF_STREAMS.has(name));
}

function filterPairs(raw: readonly string[], keep: (name: string) => boolean): string[] {
  return raw.filter((_, at) => keep((raw[at - (at % 2)] ?? "").toLowerCase()));
}
