import { on } from "node:events";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { WebSocket } from "ws";
import { errorText } from "../../../util/index.ts";
import { gatewayClientErrors, StreamEnd } from "../errors.ts";
import { readAnswer, readText } from "../request.ts";

const MAX_MESSAGE = 1 << 20;

/** Buffered messages at which the sender is paused, and at which it resumes. */
const MOST_WAITING = 64;
const FEW_WAITING = 16;
/** While the socket is paused, the other side's pings are not seen; we send pongs this often, in milliseconds. */
const SIGN_MS = 1_000;
const NORMAL = 1000;

export interface SocketRequest {
  readonly path: string;
  readonly host: string;
  readonly token?: string | undefined;
  readonly timeoutMs: number;
}

/** A websocket over an open connection; `attach` is called before its first message can arrive. */
export function openSocket(
  connection: TLSSocket,
  { path, host, token, timeoutMs }: SocketRequest,
  attach: (socket: WebSocket) => void,
): Promise<WebSocket> {
  const socket = new WebSocket(`ws://${host}${path}`, {
    createConnection: () => connection,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: false,
    followRedirects: false,
  });
  attach(socket);
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.on("error", (cause) => reject(gatewayClientErrors.unreachable(errorText(cause), { cause })));
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      refused(response).then(reject, reject);
      response.once("close", () => connection.destroy());
    });
  });
}

async function refused(response: IncomingMessage): Promise<unknown> {
  try {
    readAnswer(response.statusCode ?? 0, await readText(response));
    return gatewayClientErrors.badAnswer("it does not open the stream");
  } catch (error) {
    return error;
  }
}

/** The messages of a websocket until it closes, read no faster than they are used. */
export function messagesOf(socket: WebSocket): AsyncIterableIterator<unknown[]> {
  const signs = setInterval(() => {
    if (socket.isPaused && socket.readyState === socket.OPEN) socket.pong();
  }, SIGN_MS);
  signs.unref();
  socket.once("close", () => clearInterval(signs));
  return on(socket, "message", { close: ["close"], highWaterMark: MOST_WAITING, lowWaterMark: FEW_WAITING });
}

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
