import { WebSocket } from "ws";
import type { Door } from "./sockets.ts";

/** The request for a websocket, with the extensions and protocols that it offers. */
export function upgradeText(extensions = ""): string {
  const lines = [
    "GET /websocket HTTP/1.1",
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...(extensions === "" ? [] : [`Sec-WebSocket-Extensions: ${extensions}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

interface FrameParts {
  /** Bytes of its payload. */
  readonly bytes: number;
  /** Whether it begins its message, and whether it ends it. */
  readonly isFirst?: boolean;
  readonly isLast?: boolean;
}

const END = 0x80;
const TEXT = 0x01;
const MASKED = 0x80;
const EIGHT_BYTES = 127;

/** The head of a frame of text (RFC 6455, section 5.2), with a mask of zeros. */
export function frameHead({ bytes, isFirst = true, isLast = true }: FrameParts): Buffer {
  const first = (isLast ? END : 0) + (isFirst ? TEXT : 0);
  if (bytes < 126) return Buffer.of(first, MASKED + bytes, 0, 0, 0, 0);
  const head = Buffer.alloc(14);
  head[0] = first;
  head[1] = MASKED + EIGHT_BYTES;
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}

export function openWebsocket({ host, port }: Door): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${host}:${port}/websocket`);
  return new Promise((resolve, reject) => socket.once("open", () => resolve(socket)).once("error", reject));
}

export function sendMessage(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => socket.send(text, (error) => (error ? reject(error) : resolve())));
}
