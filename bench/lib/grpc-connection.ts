import { connect, type Socket } from "node:net";
import { callHeaders, endsStream, FRAME, frame, settings, wholeCall } from "../../test/attack/lib/http2.ts";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** RFC 9113 section 6.5.2: how much a peer may send of a stream; the same for the connection by a frame of its own. */
const INITIAL_WINDOW = 4;
const LARGEST_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 2 ** 16 - 1;
const HEAD_BYTES = 9;
/** A message of gRPC begins with its compression and its length. */
const MESSAGE_HEAD_BYTES = 5;
const ACKNOWLEDGED = 1;

interface Call {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  bytes: number;
}

/** One connection of HTTP/2 for calls of gRPC at the same time, with almost no overhead of its own, for loads. */
export class GrpcConnection {
  readonly #socket: Socket;
  readonly #headers: Buffer;
  readonly #calls = new Map<number, Call>();
  #next = 1;
  #received: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, path: string) {
    this.#socket = socket;
    this.#headers = callHeaders(path);
    const window = Buffer.alloc(4);
    window.writeUInt32BE(LARGEST_WINDOW - DEFAULT_WINDOW);
    const begin = [PREFACE, settings([INITIAL_WINDOW, LARGEST_WINDOW]), frame(FRAME.window, { payload: window })];
    socket.setNoDelay(true);
    socket.write(Buffer.concat(begin));
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the node closed the connection")));
  }

  /** A connection for calls of one method. */
  static open(port: number, path: string): Promise<GrpcConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new GrpcConnection(socket, path)));
      socket.once("error", reject);
    });
  }

  /** Sends a message; resolves when its answer has ended, and rejects if there was no message in it. */
  call(message: Uint8Array): Promise<void> {
    const stream = this.#next;
    this.#next += 2;
    return new Promise((resolve, reject) => {
      this.#calls.set(stream, { resolve, reject, bytes: 0 });
      this.#socket.write(wholeCall(stream, this.#headers, message));
    });
  }

  close(): void {
    this.#calls.clear();
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }

  #take(chunk: Buffer): void {
    const all = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (all.length >= at + HEAD_BYTES) {
      const length = all.readUIntBE(at, 3);
      if (all.length < at + HEAD_BYTES + length) break;
      this.#takeFrame({ kind: all[at + 3] ?? 0, flags: all[at + 4] ?? 0, stream: all.readUInt32BE(at + 5), length });
      at += HEAD_BYTES + length;
    }
    this.#received = all.subarray(at);
  }

  #takeFrame({ kind, flags, stream, length }: Record<"kind" | "flags" | "stream" | "length", number>): void {
    if (kind === FRAME.settings && (flags & ACKNOWLEDGED) === 0)
      this.#socket.write(frame(FRAME.settings, { flags: ACKNOWLEDGED }));
    const call = this.#calls.get(stream);
    if (call === undefined) return;
    if (kind === FRAME.data) call.bytes += length;
    if (!endsStream(kind, flags)) return;
    this.#calls.delete(stream);
    if (call.bytes > MESSAGE_HEAD_BYTES) call.resolve();
    else call.reject(new Error("a query was refused"));
  }
}
