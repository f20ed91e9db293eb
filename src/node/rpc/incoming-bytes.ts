import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { type ByteBudget, type HeldBytes, PART_BYTES } from "../http/index.ts";

/** The head of a frame without contents that a client sends: two bytes and its mask. */
const HEAD_BYTES = 6;

/**
 * Counts the bytes of a message that has not arrived completely: the websocket library keeps them. Bytes that arrive together with
 * the end of a message are not counted.
 */
export class IncomingBytes {
  readonly #sent: ByteBudget;
  readonly #drop: () => void;
  #unfinished: HeldBytes;
  /** Bytes of pings and the like in the last part, and whether a message ended in it. */
  #control = 0;
  #isWhole = false;

  constructor(websocket: WebSocket, socket: Duplex, sent: ByteBudget) {
    this.#sent = sent;
    this.#drop = () => websocket.terminate();
    this.#unfinished = sent.begin(this.#drop);
    const control = (data: Buffer): void => {
      this.#control += HEAD_BYTES + data.length;
    };
    websocket.on("ping", control).on("pong", control);
    // The library has read a part before this listener counts it.
    socket.on("data", (part: Buffer) => this.#count(part.length));
    websocket.once("close", () => this.#unfinished.release());
  }

  /** Holds a whole message until the function that it returns is called; undefined when there is no room. */
  take(bytes: number): (() => void) | undefined {
    this.#isWhole = true;
    this.#unfinished.release();
    this.#unfinished = this.#sent.begin(this.#drop);
    return this.#sent.hold(bytes, this.#drop);
  }

  #count(length: number): void {
    const bytes = length - this.#control;
    if (!this.#isWhole && bytes > 0 && !this.#unfinished.add(bytes + PART_BYTES)) this.#drop();
    this.#control = 0;
    this.#isWhole = false;
  }
}
