import { type BlockList, createServer, type Server, type Socket } from "node:net";
import { clientNetwork } from "../../../util/index.ts";
import { clientAddress, isTrusted, readProxyHeader } from "../../../util/servers/index.ts";
import type { GatewayLimits } from "../limits.ts";

/** Time limit for a proxy's header. */
const HEADER_MS = 5_000;
/** Connections that may be open beyond the limit until the closed ones are gone. */
const CLOSING = 64;

/** The ends of a connection, as every kind of socket shows them. */
interface Ends {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/** Who connects: the other end of a connection, or the client that a trusted proxy names in the PROXY protocol. */
export class GatewayClients {
  readonly #proxies: BlockList;
  /** Addresses of clients by the proxy's end of their connections, which a TLS socket shows too. */
  readonly #named = new Map<string, string>();
  /** Addresses of clients by their connection, where it comes from the ingress: a local socket has no address. */
  readonly #passed = new WeakMap<object, string>();

  constructor(proxies: BlockList) {
    this.#proxies = proxies;
  }

  /** The client's address. */
  of(socket: Ends): string {
    return this.#passed.get(socket) ?? this.#named.get(endOf(socket)) ?? clientAddress(socket);
  }

  /** The network that counts as one client. */
  networkOf(socket: Ends): string {
    return clientNetwork(this.of(socket));
  }

  /** Listens in place of a server, which gets each connection once its client is known. */
  front(server: Server, limits: FrontLimits): Server {
    const give = (socket: Socket) => server.emit("connection", socket);
    return front(server, limits, (socket) => {
      if (!isTrusted(clientAddress(socket), this.#proxies)) return give(socket);
      return this.#readHeader(socket, (rest) => {
        if (rest.length > 0) socket.unshift(rest);
        // TLS takes over the handle, which is reading just now.
        setImmediate(() => give(socket));
      });
    });
  }

  /** The same for a server of HTTP without TLS that gets all its connections from the ingress. */
  behindIngress(server: Server, limits: FrontLimits): Server {
    return front(server, limits, (socket) => {
      this.#readHeader(socket, (rest) => {
        server.emit("connection", socket);
        if (rest.length > 0) socket.push(rest);
        socket.resume();
      });
    });
  }

  /** Calls back with the paused connection's data behind the header. */
  #readHeader(socket: Socket, ready: (rest: Buffer) => void): void {
    const fail = (): void => void socket.destroy();
    const late = setTimeout(fail, HEADER_MS);
    socket.on("error", fail);
    let before = Buffer.alloc(0);
    const look = (chunk: Buffer): void => {
      before = Buffer.concat([before, chunk]);
      const header = readProxyHeader(before);
      if (header === "more") return;
      socket.off("data", look).pause();
      clearTimeout(late);
      if (header === undefined) {
        socket.destroy();
        return;
      }
      if (header.address !== undefined) this.#name(socket, header.address);
      ready(before.subarray(header.bytes));
    };
    socket.on("data", look).once("close", () => clearTimeout(late));
  }

  #name(socket: Socket, address: string): void {
    if (socket.remoteAddress === undefined) {
      this.#passed.set(socket, address);
      return;
    }
    const end = endOf(socket);
    this.#named.set(end, address);
    socket.once("close", () => this.#named.delete(end));
  }
}

type FrontLimits = Pick<GatewayLimits, "connections">;

function front(server: Server, { connections }: FrontLimits, take: (socket: Socket) => void): Server {
  const listener = createServer(take);
  listener.maxConnections = connections + CLOSING;
  // A server of Node.js begins to look for late requests when it listens.
  listener.once("listening", () => server.emit("listening"));
  return listener;
}

/** One end of a proxy may have a connection to each port of the gateway. */
function endOf({ remoteAddress = "", remotePort = 0, localPort = 0 }: Ends): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}
