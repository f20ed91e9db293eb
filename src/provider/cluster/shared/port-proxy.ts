import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Returns the address (`host:port`) of the next replica, or undefined while none is ready. */
export type NextBackend = () => string | undefined;

export interface PortProxy {
  close(): void;
}

export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
}

/** Open connections per port; more wait in the kernel's queue. */
const MAX_CONNECTIONS = 1024;
const CONNECT_TIMEOUT_MS = 5_000;
/** A UDP client that is silent for this long is forgotten. */
const UDP_IDLE_MS = 60_000;
const MAX_UDP_CLIENTS = 1024;

/** Carries TCP connections of a host port to the replicas, one after the other. Resolves when it listens. */
export function tcpProxy(address: ProxyAddress, next: NextBackend): Promise<PortProxy> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    track(sockets, client);
    carry(client, next(), sockets);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, () => {
      server.off("error", reject);
      server.on("error", () => {});
      resolve({
        close() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

function carry(client: Socket, backend: string | undefined, sockets: Set<Socket>): void {
  client.on("error", () => client.destroy());
  if (backend === undefined) {
    client.destroy();
    return;
  }
  const { host, port } = hostAndPort(backend);
  const upstream = connect({ host, port, allowHalfOpen: true });
  track(sockets, upstream);
  const timer = setTimeout(() => upstream.destroy(), CONNECT_TIMEOUT_MS);
  upstream.once("connect", () => clearTimeout(timer));
  upstream.on("error", () => upstream.destroy());
  upstream.once("close", () => {
    clearTimeout(timer);
    client.destroy();
  });
  client.once("close", () => upstream.destroy());
  client.pipe(upstream).pipe(client);
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}

interface UdpClient {
  readonly upstream: UdpSocket;
  readonly backend: ProxyAddress;
  readonly timer: NodeJS.Timeout;
}

/** Carries datagrams of a host port; every client stays with one replica until it has been silent for a minute. */
export function udpProxy(address: ProxyAddress, next: NextBackend): Promise<PortProxy> {
  const clients = new Map<string, UdpClient>();
  const server = createSocket(address.host.includes(":") ? "udp6" : "udp4");
  server.on("message", (data, from) => {
    // A sender from port 0 wants no answer (RFC 768), and none can be sent there.
    if (from.port === 0) return;
    const client = clients.get(`${from.address}:${from.port}`) ?? newClient(server, clients, from, next);
    if (client === undefined) return;
    client.timer.refresh();
    client.upstream.send(data, client.backend.port, client.backend.host);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.bind(address.port, address.host, () => {
      server.off("error", reject);
      server.on("error", () => {});
      resolve({
        close() {
          server.close();
          for (const key of [...clients.keys()]) drop(clients, key);
        },
      });
    });
  });
}

function newClient(
  server: UdpSocket,
  clients: Map<string, UdpClient>,
  from: RemoteInfo,
  next: NextBackend,
): UdpClient | undefined {
  const backend = clients.size < MAX_UDP_CLIENTS ? next() : undefined;
  if (backend === undefined) return undefined;
  const key = `${from.address}:${from.port}`;
  const upstream = createSocket("udp4");
  upstream.on("error", () => drop(clients, key));
  upstream.on("message", (data) => {
    clients.get(key)?.timer.refresh();
    server.send(data, from.port, from.address);
  });
  const timer = setTimeout(() => drop(clients, key), UDP_IDLE_MS);
  timer.unref();
  const client = { upstream, backend: hostAndPort(backend), timer };
  clients.set(key, client);
  return client;
}

function drop(clients: Map<string, UdpClient>, key: string): void {
  const client = clients.get(key);
  if (client === undefined) return;
  clients.delete(key);
  clearTimeout(client.timer);
  client.upstream.close();
}

function hostAndPort(address: string): ProxyAddress {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
