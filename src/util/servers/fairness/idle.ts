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

/**
 * Closes connections that have been idle for too long, but none that waits for its turn: what it has sent meanwhile is not read yet,
 * and its client would see a connection that is reset.
 */
export function closeIdle(server: IdleServer, reading: Reading): void {
  server.on("timeout", (socket) => {
    if (reading.isWaiting(socket)) socket.setTimeout(socket.timeout ?? 0);
    else socket.destroy();
  });
}
