import type { WebSocket } from "ws";
import { StreamEnd } from "../errors.ts";
import { messagesOf } from "./messages.ts";

const NORMAL = 1000;

/** The JSON messages of a websocket until it ends; an end that is not the normal one throws `StreamEnd`. */
export class Feed {
  readonly #messages: AsyncIterableIterator<unknown[]>;
  #end: StreamEnd | undefined;

  /** Must be made before the first message can arrive. */
  constructor(socket: WebSocket) {
    this.#messages = messagesOf(socket);
    socket.on("close", (code, reason) => {
      if (code !== NORMAL) this.#end = new StreamEnd(code, reason.toString("utf8"));
    });
  }

  async *read<T>(parse: (value: unknown) => T): AsyncGenerator<T> {
    for await (const [data] of this.#messages) yield parse(JSON.parse(String(data)));
    if (this.#end !== undefined) throw this.#end;
  }
}
