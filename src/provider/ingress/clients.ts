import type { BlockList, Socket } from "node:net";
import { clientNetwork } from "../../util/index.ts";
import { clientAddress, isTrusted } from "../../util/servers/index.ts";

/** Connections per address; a browser opens six for each host name. */
export const CONNECTIONS_PER_ADDRESS = 256;
/** Up to this multiple of the limit, connections get an answer that says why; further ones are closed without one. */
const TOLD_SHARE = 2;
/** How long a connection that will be refused has for its request, in milliseconds. */
export const TOLD_WITHIN_MS = 5_000;

export interface ClientRules {
  readonly connectionsPerAddress: number;
  /** Addresses and networks whose connections are not counted: they represent many clients. */
  readonly trustedProxies: BlockList;
  /** Proxies whose headers about their clients (`X-Forwarded-*`) is passed on to services. */
  readonly forwardedFrom: BlockList;
}

/** Whether the peer of a connection is in these networks; each connection is checked once. */
export function originOf(networks: BlockList): (socket: Socket) => boolean {
  const seen = new WeakMap<Socket, boolean>();
  return (socket) => {
    const known = seen.get(socket);
    if (known !== undefined) return known;
    const isOne = isTrusted(clientAddress(socket), networks);
    seen.set(socket, isOne);
    return isOne;
  };
}

/** The fate of a connection: served, refused with a reason, or closed without an answer. */
export type Verdict = "served" | "told" | "cut";

/** Open connections, or requests, by address. */
export class ClientCounts {
  readonly #rules: ClientRules;
  readonly #open = new Map<string, number>();

  constructor(rules: ClientRules) {
    this.#rules = rules;
  }

  /** Counts a connection until it closes. */
  enter(socket: Socket): Verdict {
    const client = this.#clientOf(socket);
    if (client === undefined) return "served";
    const count = this.#add(client);
    socket.once("close", () => this.#remove(client));
    const most = this.#rules.connectionsPerAddress;
    return count <= most ? "served" : count > most * TOLD_SHARE ? "cut" : "told";
  }

  /**
   * Counts a connection or request of a client; returns a function that ends the count, or undefined if there is no
   * room.
   */
  open(socket: Socket): (() => void) | undefined {
    const client = this.#clientOf(socket);
    if (client === undefined) return () => {};
    const count = this.#add(client);
    if (count <= this.#rules.connectionsPerAddress) return () => this.#remove(client);
    this.#remove(client);
    return undefined;
  }

  /** Undefined for addresses that are not counted. */
  #clientOf(socket: Socket): string | undefined {
    const address = clientAddress(socket);
    return isTrusted(address, this.#rules.trustedProxies) ? undefined : clientNetwork(address);
  }

  #add(client: string): number {
    const count = (this.#open.get(client) ?? 0) + 1;
    this.#open.set(client, count);
    return count;
  }

  #remove(client: string): void {
    const left = (this.#open.get(client) ?? 1) - 1;
    if (left === 0) this.#open.delete(client);
    else this.#open.set(client, left);
  }
}
