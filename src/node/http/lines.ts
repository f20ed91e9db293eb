import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { MAX_WAITING_REQUESTS } from "./limits.ts";

/** The requests of one connection. */
interface Line {
  waiting: number;
  /** Resolves when all requests so far are answered. */
  last: Promise<void>;
}

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
    this.#takeInLine(request, response).catch(() => response.destroy());
  }

  async #takeInLine(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const line = this.#lines.get(socket) ?? { waiting: 0, last: Promise.resolve() };
    this.#lines.set(socket, line);
    if (line.waiting >= MAX_WAITING_REQUESTS) {
      socket.destroy();
      return;
    }
    line.waiting += 1;
    const before = line.waiting === 1 ? undefined : line.last;
    line.last = new Promise((resolve) => {
      response.once("close", () => {
        line.waiting -= 1;
        resolve();
      });
    });
    if (before !== undefined) await before;
    if (!socket.destroyed) await this.#answer(request, response);
  }
}
