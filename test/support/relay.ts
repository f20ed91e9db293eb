import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Fixture } from "./fixture.ts";

/** Leads to a port of loopback from another address of this machine; returns the port there. */
export async function relayTo(fixture: Fixture, port: number, host: string): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const inner = connect(port, "127.0.0.1");
    for (const socket of [client, inner]) {
      open.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        open.delete(socket);
        client.destroy();
        inner.destroy();
      });
    }
    client.pipe(inner).pipe(client);
  });
  await once(server.listen(0, host), "listening");
  fixture.defer(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
