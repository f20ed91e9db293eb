import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { connect, createServer, type Server, type Socket } from "node:net";
import { ACCEPT_QUEUE } from "../../../util/servers/index.ts";
import { ConnectionGuard, DEFAULT_PORT_LIMITS } from "./connection-guard.ts";

/** Returns the address (`host:port`) of the next replica, or undefined while none is ready. */
export type NextBackend = () => string | undefined;

export interface PortProxy {
  /** The listening socket; another process can take it over. */
  readonly listener: Server | UdpSocket;
  /** Takes no new clients; resolves when the present ones have left. */
  drain(): Promise<void>;
  close(): void;
}

export interface ProxyOptions {
  /** Counts the clients of the lease. */
  readonly guard?: ConnectionGuard | undefined;
  /** The listening socket of another process. */
  readonly listener?: Server | UdpSocket | undefined;
}

export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Probes of connections whose other end may have vanished begin after this. */
const KEEP_ALIVE_MS = 60_000;
/** A UDP client that is silent for this long is forgotten. */
const UDP_IDLE_MS = 60_000;

/** Carries TCP connections of a host port to the replicas, one after the other. Resolves when it listens. */
export async function tcpProxy(
  address: ProxyAddress,
  next: NextBackend,
  { guard = new ConnectionGuard(DEFAULT_PORT_LIMITS), listener }: ProxyOptions = {},
): Promise<PortProxy> {
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const leave = guard.admit(plainAddress(client));
    if (leave === undefined) {
      client.destroy();
      return;
    }
    client.once("close", leave);
    track(sockets, client);
    carry(client, next(), { sockets, idleMs: guard.limits.idleMs });
  });
  await listening(server, (done) =>
    listener === undefined
      ? server.listen(address.port, address.host, ACCEPT_QUEUE, done)
      : server.listen(listener, ACCEPT_QUEUE, done),
  );
  return {
    listener: server,
    drain: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Later errors, for want of descriptors say, must not end the process. */
function listening(server: Server | UdpSocket, listen: (done: () => void) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    listen(() => {
      server.off("error", reject);
      server.on("error", () => {});
      resolve();
    });
  });
}

/** An IPv4 address looks the same on a socket for both families. */
function plainAddress({ remoteAddress = "" }: Socket): string {
  return remoteAddress.replace(/^::ffff:/i, "");
}

interface Carriage {
  readonly sockets: Set<Socket>;
  readonly idleMs: number;
}

function carry(client: Socket, backend: string | undefined, { sockets, idleMs }: Carriage): void {
  client.on("error", () => client.destroy());
  if (backend === undefined) {
    client.destroy();
    return;
  }
  const { host, port } = hostAndPort(backend);
  const upstream = connect({ host, port, allowHalfOpen: true, noDelay: true });
  track(sockets, upstream);
  const timer = setTimeout(() => upstream.destroy(), CONNECT_TIMEOUT_MS);
  upstream.once("connect", () => clearTimeout(timer));
  upstream.on("error", () => upstream.destroy());
  upstream.once("close", () => {
    clearTimeout(timer);
    client.destroy();
  });
  client.once("close", () => upstream.destroy());
  // Bytes of either direction count for the client's side, which both pass.
  client.setTimeout(idleMs, () => client.destroy());
  client.setKeepAlive(true, KEEP_ALIVE_MS);
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
export async function udpProxy(
  address: ProxyAddress,
  next: NextBackend,
  { guard = new ConnectionGuard(DEFAULT_PORT_LIMITS), listener }: ProxyOptions = {},
): Promise<PortProxy> {
  const clients = new Map<string, UdpClient>();
  const isTaken = listener !== undefined && "send" in listener;
  const server = isTaken ? listener : createSocket(address.host.includes(":") ? "udp6" : "udp4");
  server.on("message", (data, from) => {
    // A sender from port 0 wants no answer (RFC 768), and none can be sent there.
    if (from.port === 0) return;
    const client = clients.get(`${from.address}:${from.port}`) ?? newClient(server, clients, { from, next, guard });
    if (client === undefined) return;
    client.timer.refresh();
    client.upstream.send(data, client.backend.port, client.backend.host);
  });
  if (isTaken) server.on("error", () => {});
  else await listening(server, (done) => server.bind(address.port, address.host, done));
  const close = (): void => {
    server.close();
    for (const key of [...clients.keys()]) drop(clients, key);
  };
  // Datagrams have no end to wait for.
  return { listener: server, close, drain: async () => close() };
}

interface Newcomer {
  readonly from: RemoteInfo;
  readonly next: NextBackend;
  readonly guard: ConnectionGuard;
}

function newClient(
  server: UdpSocket,
  clients: Map<string, UdpClient>,
  { from, next, guard }: Newcomer,
): UdpClient | undefined {
  const backend = clients.size < guard.limits.connectionsPerLease ? next() : undefined;
  const leave = backend === undefined ? undefined : guard.admit(from.address);
  if (backend === undefined || leave === undefined) return undefined;
  const key = `${from.address}:${from.port}`;
  const upstream = createSocket("udp4");
  upstream.once("close", leave);
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
