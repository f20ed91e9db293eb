import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { ByteBudget, HeldBytes } from "../http/index.ts";

/** What the library takes to keep one more part of a message, whatever its length. */
const PART_BYTES = 512;
/** The head of a frame without contents that a client sends: two bytes and its mask. */
const HEAD_BYTES = 6;

/**
 * Counts what the client of a websocket has sent of a message that is not whole yet: the library keeps it. What comes in one
 * go with the end of a message is not counted, as with other requests.
 */
export class IncomingBytes {
  readonly #sent: ByteBudget;
  readonly #letGo: () => void;
  #unfinished: HeldBytes;
  /** Of what was read last: bytes of pings and the like, and whether a message ended. */
  #control = 0;
  #isWhole = false;

  constructor(websocket: WebSocket, socket: Duplex, sent: ByteBudget) {
    this.#sent = sent;
    this.#letGo = () => websocket.terminate();
    this.#unfinished = sent.begin(this.#letGo);
    const control = (data: Buffer): void => {
      this.#control += HEAD_BYTES + data.length;
    };
    websocket.on("ping", control).on("pong", control);
    // The library has read a part before it is counted here.
    socket.on("data", (part: Buffer) => this.#count(part.length));
    websocket.once("close", () => this.#unfinished.release());
  }

  /** Holds a whole message until the function that it returns is called; undefined when there is no room. */
  take(bytes: number): (() => void) | undefined {
    this.#isWhole = true;
    this.#unfinished.release();
    this.#unfinished = this.#sent.begin(this.#letGo);
    return this.#sent.hold(bytes, this.#letGo);
  }

  #count(length: number): void {
    const bytes = length - this.#control;
    if (!this.#isWhole && bytes > 0 && !this.#unfinished.add(bytes + PART_BYTES)) this.#letGo();
    this.#control = 0;
    this.#isWhole = false;
  }
}
