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

/** A relay that holds back what comes from the server. */
export interface SlowRelay {
  readonly port: number;
  /** Bytes that the server has sent. */
  bytes(): number;
}

/** Leads to a port of loopback; the server's bytes come at a speed that may change meanwhile. */
export async function slowRelayTo(
  fixture: Fixture,
  port: number,
  speed: { readonly bytesPerSecond: number },
): Promise<SlowRelay> {
  let bytes = 0;
  const server = createServer((client) => {
    const inner = connect(port, "127.0.0.1");
    for (const socket of [client, inner]) {
      fixture.defer(() => socket.destroy());
      socket.on("error", () => undefined);
      socket.once("close", () => {
        client.destroy();
        inner.destroy();
      });
    }
    client.pipe(inner);
    inner.on("data", (chunk) => {
      bytes += chunk.length;
      client.write(chunk);
      if (!Number.isFinite(speed.bytesPerSecond)) return;
      inner.pause();
      setTimeout(() => inner.resume(), (chunk.length / speed.bytesPerSecond) * 1000);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  fixture.defer(() => server.close());
  return { port: (server.address() as AddressInfo).port, bytes: () => bytes };
}
