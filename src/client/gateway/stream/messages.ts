import { on } from "node:events";
import type { WebSocket } from "ws";

/** Buffered messages at which the sender is paused, and at which it resumes. */
const MOST_WAITING = 64;
const FEW_WAITING = 16;
/** While the socket is paused, the other side's pings are not seen; we send pongs this often, in milliseconds. */
const SIGN_MS = 1_000;

/** The messages of a websocket until it closes, read no faster than they are used. */
export function messagesOf(socket: WebSocket): AsyncIterableIterator<unknown[]> {
  const signs = setInterval(() => {
    if (socket.isPaused && socket.readyState === socket.OPEN) socket.pong();
  }, SIGN_MS);
  signs.unref();
  socket.once("close", () => clearInterval(signs));
  return on(socket, "message", { close: ["close"], highWaterMark: MOST_WAITING, lowWaterMark: FEW_WAITING });
}
