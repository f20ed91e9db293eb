import { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { ApiFailure, unreachable } from "./failure.ts";
import { openSocket, type SocketOptions } from "./socket.ts";
import type { SocketTarget } from "./transport.ts";

const PROTOCOL = "v4.channel.k8s.io";
/** First byte of every message; the first message of each repeats the number of the port. */
const CHANNEL = { data: 0, error: 1 } as const;
/** Bytes of one sent message. */
const PIECE = 32 << 10;
/** Characters of the node's error that are kept. */
const MAX_WORDS = 1_000;

/**
 * A connection to a port of a pod through the API server. The protocol cannot end a single direction: when the other
 * end has sent everything, the connection is over.
 */
export async function openForward(target: SocketTarget, options: SocketOptions): Promise<Duplex> {
  return new Forward(await openSocket(target, PROTOCOL, options));
}

class Forward extends Duplex {
  readonly #socket: WebSocket;
  /** Channels whose first message has come. */
  readonly #begun = new Set<number | undefined>();
  #failure: Error | undefined;

  constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
    socket.on("message", (message: Buffer) => this.#take(message));
    socket.on("error", (error) => {
      this.#failure ??= unreachable(error);
    });
    socket.once("close", () => {
      if (this.#failure === undefined) this.push(null);
      else this.destroy(this.#failure);
    });
  }

  override _read(): void {
    this.#socket.resume();
  }

  /** Done when the last piece has been sent. */
  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    const pieces = Math.ceil(chunk.length / PIECE);
    for (let piece = 0; piece < pieces; piece++) {
      const data = chunk.subarray(piece * PIECE, (piece + 1) * PIECE);
      const sent = piece === pieces - 1 ? (error?: Error | null) => done(error ? unreachable(error) : null) : undefined;
      this.#socket.send(Buffer.concat([Uint8Array.of(CHANNEL.data), data]), sent);
    }
    if (pieces === 0) done();
  }

  override _final(done: () => void): void {
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.terminate();
    done(error);
  }

  #take(message: Buffer): void {
    const [channel] = message;
    if (!this.#begun.has(channel)) {
      this.#begun.add(channel);
      return;
    }
    const data = message.subarray(1);
    if (channel === CHANNEL.data && data.length > 0) {
      if (!this.push(data)) this.#socket.pause();
    } else if (channel === CHANNEL.error && data.length > 0) {
      this.#failure ??= new ApiFailure("refused", data.toString("utf8").slice(0, MAX_WORDS));
      this.#socket.terminate();
    }
  }
}
