import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { callerOf } from "../fairness/caller.ts";

/** The state of a connection: no complete request yet, being answered, idle until the next request, or a websocket. */
type State = "new" | "answered" | "waiting" | "upgraded";

/** Which connections are closed first when the server is full. */
const LET_GO: readonly State[] = ["new", "waiting", "upgraded", "answered"];

/**
 * Bounds how many connections a server has. When it is full, the client with the most of them loses one: the connection that
 * has been open longest without a complete request, or the one that has been idle longest, or the oldest websocket. Those who hold
 * connections open must not keep others out. One that is being answered is closed only for a client with fewer connections;
 * otherwise the new one is refused.
 */
export function limitConnections(server: Server, limit: number): LimitedConnections {
  const connections = new Connections(limit);
  server.on("connection", (socket) => connections.add(socket));
  server.on("request", (request, response) => connections.answer(request, response));
  // Only a server with websockets may listen for upgrades: with a listener, Node.js leaves the answer to it; without one,
  // it ignores the wish for an upgrade.
  return {
    upgraded: (socket) => connections.set(socket, "upgraded"),
    busy: (socket, isBusy) => connections.set(socket, isBusy ? "answered" : "waiting"),
  };
}

/** What only the server knows of its connections. */
export interface LimitedConnections {
  /** The connection is a websocket from now on. */
  upgraded(socket: Duplex): void;
  /** Whether a complete request of the connection is being answered, where the server of HTTP/1 does not see its requests. */
  busy(socket: Duplex, isBusy: boolean): void;
}

/** Where a connection is, and since which step of all connections. */
interface Place {
  readonly client: string;
  state: State;
  since: number;
}

class Connections {
  readonly #limit: number;
  /**
   * Each place is changed where it is. To take it out and put it in again for its order, three times a request, would have the
   * table made anew every few requests, and each old one would keep what it last held until a full collection of garbage.
   */
  readonly #places = new Map<Duplex, Place>();
  readonly #counts = new Map<string, number>();
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(socket: Socket): void {
    const { client } = callerOf(socket);
    socket.once("close", () => this.#remove(socket));
    if (this.#places.size >= this.#limit) this.#letGo(this.#least(client) ?? socket);
    if (socket.destroyed) return;
    this.#places.set(socket, { client, state: "new", since: this.#steps++ });
    this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1);
  }

  /** A body may come as slowly as headers: until it is complete, its connection counts as one without a request. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (hasBody(request)) request.on("end", () => this.set(socket, "answered"));
    else this.set(socket, "answered");
    response.on("close", () => this.set(socket, "waiting"));
  }

  set(socket: Duplex, state: State): void {
    const place = this.#places.get(socket);
    if (place === undefined) return;
    place.state = state;
    place.since = this.#steps++;
  }

  #letGo(socket: Duplex): void {
    this.#remove(socket);
    socket.destroy();
  }

  #remove(socket: Duplex): void {
    const place = this.#places.get(socket);
    if (place === undefined) return;
    this.#places.delete(socket);
    const left = (this.#counts.get(place.client) ?? 1) - 1;
    if (left === 0) this.#counts.delete(place.client);
    else this.#counts.set(place.client, left);
  }

  /** What the client with the most connections can best do without, for a new connection of another client or its own. */
  #least(newcomer: string): Duplex | undefined {
    const has = (client: string) => this.#counts.get(client) ?? 0;
    let most = newcomer;
    for (const client of this.#counts.keys()) if (has(client) > has(most)) most = client;
    const rank = (state: State) => LET_GO.indexOf(state);
    let least: [Duplex, Place] | undefined;
    for (const [socket, place] of this.#places) {
      if (place.client !== most) continue;
      const order = least === undefined ? -1 : rank(place.state) - rank(least[1].state);
      if (least === undefined || order < 0 || (order === 0 && place.since < least[1].since)) least = [socket, place];
    }
    const isSpared = least?.[1].state === "answered" && has(most) <= has(newcomer) + 1;
    return isSpared ? undefined : least?.[0];
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
