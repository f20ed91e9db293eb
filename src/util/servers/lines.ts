import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that may wait on one connection for the answers to those before them, unless a server says otherwise. */
const MAX_WAITING_REQUESTS = 64;

/** The requests of one connection: the one that is being answered, and those that wait. */
type Line = [request: IncomingMessage, response: ServerResponse][];

/** Answers one request. */
export type Answerer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * A request is handled once those before it on its connection have been answered and the answers read: Node.js hands
 * over all requests that a client sends in one go, and forgets waiting answers when the connection ends.
 */
export class RequestLines {
  readonly #answer: Answerer;
  readonly #mostWaiting: number;
  readonly #lines = new WeakMap<Socket, Line>();

  constructor(answer: Answerer, mostWaiting = MAX_WAITING_REQUESTS) {
    this.#answer = answer;
    this.#mostWaiting = mostWaiting;
  }

  /** Answers one request in its turn; a failure ends its connection and nothing else. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    if (line.length >= this.#mostWaiting) {
      socket.destroy();
      return;
    }
    line.push([request, response]);
    if (line.length === 1) this.#begin(line);
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = [];
    this.#lines.set(socket, line);
    return line;
  }

  #begin(line: Line): void {
    const [first] = line;
    if (first === undefined) return;
    const [request, response] = first;
    response.on("close", () => {
      line.shift();
      this.#begin(line);
    });
    if (request.socket.destroyed) return;
    this.#answer(request, response).catch(() => response.destroy());
  }
}
