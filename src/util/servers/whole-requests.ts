/** What is used of a request that a server of Node.js gets, whose types browsers do not have. */
interface Request {
  readonly socket: object;
  readonly headers: {
    readonly "transfer-encoding"?: string | undefined;
    readonly "content-length"?: string | undefined;
  };
  once(event: "end", listener: () => void): unknown;
}

interface HttpServer {
  on(event: "request", listener: (request: Request) => void): unknown;
}

/** Counts the requests that have come as a whole, by their connection. */
export class WholeRequests {
  readonly #counts = new WeakMap<object, number>();

  constructor(server: HttpServer) {
    server.on("request", (request) => {
      const count = (): void => void this.#counts.set(request.socket, this.of(request.socket) + 1);
      if (hasBody(request)) request.once("end", count);
      else count();
    });
  }

  of(socket: object): number {
    return this.#counts.get(socket) ?? 0;
  }
}

export function hasBody({ headers }: Pick<Request, "headers">): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
