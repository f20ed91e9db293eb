import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { type ByteBudget, type HeldBytes, isLent, movedPart, returnMemory } from "../http/index.ts";

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
  /** Parts in lent memory that the library has, of a message that is not whole or of the one before it. */
  #lent: Buffer[] = [];

  constructor(websocket: WebSocket, socket: Duplex, sent: ByteBudget) {
    this.#sent = sent;
    this.#letGo = () => websocket.terminate();
    this.#unfinished = sent.begin(this.#letGo);
    const control = (data: Buffer): void => {
      this.#control += HEAD_BYTES + data.length;
    };
    websocket.on("ping", control).on("pong", control);
    lendParts(socket);
    // The library has read a part before it is counted here.
    socket.on("data", (part: Buffer) => {
      // Where there is a ping in it, the library may still have its contents to send back.
      if (isLent(part) && this.#control === 0) this.#lent.push(part);
      this.#count(part.length);
    });
    websocket.once("close", () => {
      this.#unfinished.release();
      this.#returnParts();
    });
  }

  /** Holds a whole message until the function that it returns is called; undefined when there is no room. */
  take(bytes: number): (() => void) | undefined {
    this.#isWhole = true;
    this.#unfinished.release();
    this.#unfinished = this.#sent.begin(this.#letGo);
    // The library reads the last part of it just now, and may find the next message behind it.
    this.#returnParts();
    return this.#sent.hold(bytes, this.#letGo);
  }

  #returnParts(): void {
    for (const part of this.#lent) returnMemory(part);
    this.#lent = [];
  }

  #count(length: number): void {
    const bytes = length - this.#control;
    if (!this.#isWhole && bytes > 0 && !this.#unfinished.add(bytes + PART_BYTES)) this.#letGo();
    this.#control = 0;
    this.#isWhole = false;
  }
}

/** What is read of a socket comes in lent memory from now on. */
function lendParts(socket: Duplex): void {
  const { push } = socket;
  socket.push = (part, encoding) =>
    push.call(socket, (part instanceof Buffer ? movedPart(part) : undefined) ?? part, encoding);
}
