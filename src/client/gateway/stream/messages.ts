import { on } from "node:events";
import type { WebSocket } from "ws";

/** Messages that may wait to be used before the sender has to wait, and those left when it may go on. */
const MOST_WAITING = 64;
const FEW_WAITING = 16;
/** While nothing is read, the other side's pings are not seen; signs of life go out this often, in milliseconds. */
const SIGN_MS = 1_000;

/** The messages of a websocket until it closes, taken no faster than they are used. */
export function messagesOf(socket: WebSocket): AsyncIterableIterator<unknown[]> {
  const signs = setInterval(() => {
    if (socket.isPaused && socket.readyState === socket.OPEN) socket.pong();
  }, SIGN_MS);
  signs.unref();
  socket.once("close", () => clearInterval(signs));
  return on(socket, "message", { close: ["close"], highWaterMark: MOST_WAITING, lowWaterMark: FEW_WAITING });
}
