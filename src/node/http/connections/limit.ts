import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork } from "../../../util/index.ts";
import { clientAddress } from "../../../util/servers/index.ts";
import type { Clients } from "../clients.ts";
import { CONNECTION_SHARES } from "../limits.ts";

/**
 * Limits the connections of a server, and one client's share of them; a connection above a limit is closed at once.
 * Trusted proxies and programs on the same machine have no share limit.
 */
export function limitConnections(server: Server, most: number, clients: Clients): void {
  const open = new Map<string, number>();
  const share = Math.ceil(most / CONNECTION_SHARES);
  server.maxConnections = most;
  server.on("connection", (socket: Socket) => {
    const address = clientAddress(socket);
    if (clients.isShared(address)) return;
    const client = clientNetwork(address);
    const count = (open.get(client) ?? 0) + 1;
    if (count > share) {
      socket.destroy();
      return;
    }
    open.set(client, count);
    socket.once("close", () => {
      const left = (open.get(client) ?? 0) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}
