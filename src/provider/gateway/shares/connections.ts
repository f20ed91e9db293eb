import type { Server, Socket } from "node:net";
import { clientNetwork, FRESH_TLS_BYTES, RateLimit, type Reading } from "../../../util/index.ts";
import type { GatewayLimits } from "../limits.ts";

type ConnectionLimits = Pick<
  GatewayLimits,
  "connections" | "connectionsPerAddress" | "connectionsBurst" | "connectionsPerSecond"
>;

/** Connections that may be open beyond the limit until those that gave way have closed. */
const CLOSING = 64;

/**
 * Keeps one network from taking all connections, and all time for handshakes: connections above the limits are closed before their
 * handshake begins. The others are read in turns by client.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, reading: Reading): void {
  const shares = new Shares();
  const rate = new RateLimit(limits.connectionsBurst, limits.connectionsPerSecond);
  server.maxConnections = limits.connections + CLOSING;
  server.on("connection", (socket: Socket) => {
    const network = clientNetwork(socket.remoteAddress ?? "");
    shares.add(network, socket);
    const isMany = shares.count(network) > limits.connectionsPerAddress;
    if (isMany || !rate.take(network, performance.now())) socket.destroy();
    else if (shares.all > limits.connections) shares.giveWay(network);
    if (!socket.destroyed) reading.add(socket, FRESH_TLS_BYTES);
  });
  server.on("secureConnection", () => void reading.worked());
}

/** Connections of each network, in the order in which they came. */
class Shares {
  readonly #open = new Map<string, Set<Socket>>();
  #all = 0;

  get all(): number {
    return this.#all;
  }

  count(network: string): number {
    return this.#open.get(network)?.size ?? 0;
  }

  add(network: string, socket: Socket): void {
    const own = this.#open.get(network) ?? new Set();
    this.#open.set(network, own.add(socket));
    this.#all += 1;
    socket.once("close", () => this.#remove(network, socket));
  }

  #remove(network: string, socket: Socket): void {
    const own = this.#open.get(network);
    if (own?.delete(socket) !== true) return;
    this.#all -= 1;
    if (own.size === 0) this.#open.delete(network);
  }

  /**
   * Where all places are taken, the newest connection of the network with the most is closed for one of a network with fewer: otherwise
   * sixteen hosts that keep their connections open could shut everybody else out.
   */
  giveWay(network: string): void {
    let most = network;
    for (const [each, sockets] of this.#open) if (sockets.size > this.count(most)) most = each;
    const last = [...(this.#open.get(most) ?? [])].at(-1);
    if (last === undefined) return;
    this.#remove(most, last);
    last.destroy();
  }
}
