import { connect, type Socket } from "node:net";

const HEADER_END = "\r\n\r\n";

/** One kept HTTP connection with one request at a time and almost no overhead of its own, for loads. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #waiting: { resolve: (body: string) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#onData(chunk));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("the node closed the connection")));
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new Connection(socket)));
      socket.once("error", reject);
    });
  }

  /** Sends a whole request, as `request` makes it, and returns the body of the answer. */
  ask(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf(HEADER_END);
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received.toString("latin1", 0, end))?.[1]);
    if (Number.isNaN(length))
      throw new Error(`an answer without a length: ${this.#received.toString("latin1", 0, end)}`);
    const start = end + HEADER_END.length;
    if (this.#received.length < start + length) return;
    const body = this.#received.toString("utf8", start, start + length);
    this.#received = this.#received.subarray(start + length);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(body);
  }
}

/** A JSON-RPC call as the bytes of an HTTP request. */
export function request(method: string, params: Readonly<Record<string, unknown>>): Buffer {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const lines = [
    "POST / HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}${HEADER_END}${body}`);
}

/** A GET request of a path. */
export function getRequest(path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost${HEADER_END}`);
}
