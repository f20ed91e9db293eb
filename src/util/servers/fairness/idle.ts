import { ENOUGH_TURNS } from "./limits.ts";
import type { HandledSocket, Reading } from "./reading.ts";

interface IdleSocket extends HandledSocket {
  readonly timeout?: number;
  setTimeout(milliseconds: number): unknown;
  destroy(): unknown;
}

/** What is used of a server of HTTP, whose types browsers do not have. */
interface IdleServer {
  on(event: "timeout", listener: (socket: IdleSocket) => void): unknown;
}

/** What had come of a connection, and in how many turns, when it seemed idle. */
interface Look {
  readonly bytes: number;
  readonly turns: number;
}

/**
 * Closes connections that have been idle for too long, but none that waits for its turn: what it has sent meanwhile is not read yet,
 * and its client would see a connection that is reset. Where it has had its turns since it first seemed idle, nothing has come.
 */
export function closeIdle(server: IdleServer, reading: Pick<Reading, "isWaiting" | "turnsOf">): void {
  const looks = new WeakMap<IdleSocket, Look>();
  server.on("timeout", (socket) => {
    const now = { bytes: socket.bytesRead, turns: reading.turnsOf(socket) };
    const before = looks.get(socket);
    const wasRead = before?.bytes === now.bytes && now.turns >= before.turns + ENOUGH_TURNS;
    looks.set(socket, now);
    if (wasRead || !reading.isWaiting(socket)) socket.destroy();
    else socket.setTimeout(socket.timeout ?? 0);
  });
}
