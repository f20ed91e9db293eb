import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The state of a connection: no complete request yet, being answered, idle until the next request, or a websocket. */
type State = "new" | "answered" | "waiting" | "upgraded";

/** Which connections are closed first when the server is full; those with a request in progress stay. */
const LET_GO: readonly State[] = ["new", "waiting", "upgraded"];

/**
 * Bounds how many connections a server has. When it is full, the connection that has been open longest without a
 * complete request is closed, then the one that has been idle longest, then the oldest websocket: those who hold
 * connections open must not keep others out. A new connection is refused when all others are being answered.
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
  #steps = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(socket: Duplex): void {
    socket.once("close", () => this.#places.delete(socket));
    if (this.#places.size >= this.#limit) this.#letGo(this.#least() ?? socket);
    if (!socket.destroyed) this.#places.set(socket, { state: "new", since: this.#steps++ });
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
    this.#places.delete(socket);
    socket.destroy();
  }

  #least(): Duplex | undefined {
    const oldest = (wanted: State): Duplex | undefined => {
      let first: [Duplex, Place] | undefined;
      for (const [socket, place] of this.#places) {
        if (place.state === wanted && (first === undefined || place.since < first[1].since)) first = [socket, place];
      }
      return first?.[0];
    };
    for (const state of LET_GO) {
      const socket = oldest(state);
      if (socket !== undefined) return socket;
    }
    return undefined;
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
