import { connect } from "node:net";
import { closed } from "./closed.ts";

/** A request for a websocket, as it goes over the wire. */
export function upgradeRequest(host: string, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
}

/**
 * Sends a text and resets the connection at once, several times: the server then writes to a connection that is gone.
 */
export async function breakOff(port: number, text: string): Promise<void> {
  for (let i = 0; i < 20; i++) {
    const socket = connect(port, "127.0.0.1", () => socket.write(text, () => socket.resetAndDestroy()));
    socket.on("error", () => {});
    await closed(socket);
  }
}
