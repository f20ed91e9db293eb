import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { MAX_WAITING_REQUESTS } from "./limits.ts";

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
  readonly #lines = new WeakMap<Socket, Line>();

  constructor(answer: Answerer) {
    this.#answer = answer;
  }

  /** Answers one request in its turn; a failure ends its connection and nothing else. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    if (line.length >= MAX_WAITING_REQUESTS) {
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
