import type { Server, Socket } from "node:net";
import { RateLimit } from "../../../util/servers/index.ts";
import type { GatewayLimits } from "../limits.ts";
import type { GatewayClients } from "./clients.ts";

type ConnectionLimits = Pick<
  GatewayLimits,
  "connections" | "connectionsPerAddress" | "connectionsBurst" | "connectionsPerSecond"
>;

/**
 * Keeps one network from taking all connections, and all time for handshakes: connections above the limits are closed before their
 * handshake begins.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, clients: GatewayClients): void {
  const shares = new Shares();
  const rate = new RateLimit(limits.connectionsBurst, limits.connectionsPerSecond);
  server.on("connection", (socket: Socket) => {
    const network = clients.networkOf(socket);
    shares.add(network, socket);
    const isMany = shares.count(network) > limits.connectionsPerAddress;
    if (isMany || !rate.take(network, performance.now())) socket.destroy();
    else if (shares.all > limits.connections) shares.giveWay(network);
  });
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
