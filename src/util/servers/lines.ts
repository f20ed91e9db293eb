/** Pipelined requests that may wait on one connection, unless a server says otherwise. */
export const MAX_WAITING_REQUESTS = 64;

/**
 * The parts of Node.js's request and response that we use; declared here because the browser build lacks Node's types.
 */
interface Asked {
  readonly socket: { readonly destroyed: boolean; destroy(): unknown };
}

interface Answered {
  on(event: "close", listener: () => void): unknown;
  destroy(): unknown;
}

/** The requests of one connection: first the one being answered, then the waiting ones. */
type Line<Request, Response> = [request: Request, response: Response][];

/** Answers one request. */
export type Answerer<Request, Response> = (request: Request, response: Response) => Promise<void>;

/**
 * Handles pipelined requests of a connection one at a time. Node.js hands over all requests that a client sends at
 * once, and forgets waiting answers when the connection ends.
 */
export class RequestLines<Request extends Asked, Response extends Answered> {
  readonly #answer: Answerer<Request, Response>;
  readonly #mostWaiting: number;
  readonly #lines = new WeakMap<object, Line<Request, Response>>();

  constructor(answer: Answerer<Request, Response>, mostWaiting = MAX_WAITING_REQUESTS) {
    this.#answer = answer;
    this.#mostWaiting = mostWaiting;
  }

  /** Answers one request in its turn; a failure ends its connection and nothing else. */
  take(request: Request, response: Response): void {
    const { socket } = request;
    const line = this.#lineOf(socket);
    if (line.length >= this.#mostWaiting) {
      socket.destroy();
      return;
    }
    line.push([request, response]);
    if (line.length === 1) this.#begin(line);
  }

  /** Whether a request of the connection has no whole answer yet. */
  isAnswering(socket: object): boolean {
    return this.#lineOf(socket).length > 0;
  }

  #lineOf(socket: object): Line<Request, Response> {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line<Request, Response> = [];
    this.#lines.set(socket, line);
    return line;
  }

  #begin(line: Line<Request, Response>): void {
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
