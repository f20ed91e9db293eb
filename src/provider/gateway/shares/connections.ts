import type { Server, Socket } from "node:net";
import { clientNetwork, FRESH_TLS_BYTES, RateLimit, type Reading } from "../../../util/index.ts";
import type { GatewayLimits } from "../limits.ts";

type ConnectionLimits = Pick<GatewayLimits, "connectionsPerAddress" | "connectionsBurst" | "connectionsPerSecond">;

/**
 * Keeps one network from taking all connections, and all time for handshakes: connections above the limits are closed before their
 * handshake begins. The others are read in turns by client.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, reading: Reading): void {
  const open = new Map<string, number>();
  const rate = new RateLimit(limits.connectionsBurst, limits.connectionsPerSecond);
  server.on("connection", (socket: Socket) => {
    const address = clientNetwork(socket.remoteAddress ?? "");
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > limits.connectionsPerAddress || !rate.take(address, performance.now())) socket.destroy();
    else reading.add(socket, FRESH_TLS_BYTES);
  });
  server.on("secureConnection", () => void reading.worked());
}
