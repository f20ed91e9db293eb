import type { WebSocket } from "ws";
import { errorText } from "../../../../util/index.ts";
import { failureOf, unreachable } from "./failure.ts";
import type { SocketTarget } from "./transport.ts";

export interface SocketOptions {
  /** Milliseconds. */
  readonly handshakeMs: number;
  /** Milliseconds between signs of life: proxies in between close connections that are silent. */
  readonly pingMs: number;
}

/** Bytes of one received message; servers send 32 KiB. */
const MAX_MESSAGE = 1 << 20;

/**
 * A websocket that is open and shows signs of life. Rejects with an `ApiFailure` in the server's words. Messages that come
 * with the answer wait until the caller listens, if it does so at once.
 */
export async function openSocket(target: SocketTarget, protocol: string, options: SocketOptions): Promise<WebSocket> {
  const { WebSocket: Socket } = await import("ws");
  const socket = new Socket(target.url, [protocol], {
    ...target.options,
    headers: target.options.headers as Record<string, string>,
    handshakeTimeout: options.handshakeMs,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: false,
  });
  const pings = setInterval(() => {
    if (socket.readyState === socket.OPEN) socket.ping();
  }, options.pingMs);
  socket.once("close", () => clearInterval(pings));
  await opened(socket);
  return socket;
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      // The caller starts listening only after this turn.
      socket.pause();
      setImmediate(() => socket.resume());
      resolve();
    });
    socket.once("error", (error) => reject(unreachable(error)));
    socket.once("unexpected-response", (request, answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        if (text.length < MAX_MESSAGE) text += part;
      });
      const end = (): void => {
        reject(failureOf(answer.statusCode ?? 0, jsonOf(text), text));
        request.destroy();
      };
      answer.once("end", end).once("close", end);
    });
  });
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return { message: errorText(error) };
  }
}
