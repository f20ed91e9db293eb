import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clientNetwork } from "../../../util/index.ts";

/** The state of a connection: no complete request yet, being answered, idle until the next request, or a websocket. */
type State = "new" | "answered" | "waiting" | "upgraded";

/** Which connections are closed first when the server is full. */
const LET_GO: readonly State[] = ["new", "waiting", "upgraded", "answered"];

/** A connection in use counts as an eighth of one that is not: it is closed only of a client that has so many more than others. */
const IN_USE = 8;

/**
 * Bounds how many connections a server has. When it is full, the client with the most of them loses one: the connection that
 * has been open longest without a complete request, or the one that has been idle longest, or the oldest websocket. Those who hold
 * connections open must not keep others out, nor end what others ask. One that is being answered is closed only for a client with
 * fewer connections; otherwise the new one is refused.
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

/** A client, and how many connections it has. */
interface Client {
  readonly name: string;
  open: number;
}

/** Where a connection is, and since which step of all connections. */
interface Place {
  readonly client: Client;
  state: State;
  since: number;
  /** Complete requests that are not answered yet. */
  asked: number;
}

class Connections {
  readonly #limit: number;
  /**
   * Each place is changed where it is. To take it out and put it in again for its order, three times a request, would have the
   * table made anew every few requests, and each old one would keep what it last held until a full collection of garbage.
   */
  readonly #places = new Map<Duplex, Place>();
  readonly #clients = new Map<string, Client>();
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(socket: Socket): void {
    const name = clientNetwork(socket.remoteAddress ?? "");
    const client = this.#clients.get(name) ?? { name, open: 0 };
    socket.once("close", () => this.#remove(socket));
    if (this.#places.size >= this.#limit) this.#letGo(this.#least(client) ?? socket);
    if (socket.destroyed) return;
    this.#places.set(socket, { client, state: "new", since: this.#steps++, asked: 0 });
    client.open += 1;
    this.#clients.set(name, client);
  }

  /**
   * A body may come as slowly as headers: until it is complete, its connection counts as one without a request. The rest of a body
   * that was refused early asks for nothing, and of several requests in one go others are still to be answered.
   */
  answer(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const begin = (): void => this.#answering(socket, 1);
    let isCounted = !hasBody(request);
    if (isCounted) begin();
    const complete = (): void => {
      isCounted = true;
      begin();
    };
    if (!isCounted) request.once("end", complete);
    response.once("close", () => {
      request.off("end", complete);
      this.#answering(socket, isCounted ? -1 : 0);
    });
  }

  #answering(socket: Socket, change: number): void {
    const place = this.#places.get(socket);
    if (place === undefined) return;
    place.asked += change;
    this.set(socket, place.asked > 0 ? "answered" : "waiting");
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
    const { client } = place;
    client.open -= 1;
    if (client.open === 0) this.#clients.delete(client.name);
  }

  /** What can best be done without for a new connection of a client; undefined if it is the new one. */
  #least(newcomer: Client): Duplex | undefined {
    let least: [Duplex, Place] | undefined;
    for (const each of this.#places) if (least === undefined || goesBefore(each[1], least[1])) least = each;
    if (least === undefined) return undefined;
    const [socket, { client, state }] = least;
    const isSpared = state === "answered" && client.open <= newcomer.open + 1;
    return isSpared ? undefined : socket;
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** Whether a connection is let go before another. */
function goesBefore(one: Place, other: Place): boolean {
  const more = shareOf(one) - shareOf(other);
  if (more !== 0) return more > 0;
  const order = LET_GO.indexOf(one.state) - LET_GO.indexOf(other.state);
  return order === 0 ? one.since < other.since : order < 0;
}

/** How much its client has. */
function shareOf({ client, state }: Place): number {
  return state === "new" || state === "waiting" ? client.open : client.open / IN_USE;
}
