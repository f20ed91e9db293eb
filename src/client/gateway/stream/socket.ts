import { on } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { errorText } from "../../../util/index.ts";
import { connectGateway } from "../connect.ts";
import { gatewayClientErrors, StreamEnd } from "../errors.ts";
import { readText } from "../request.ts";
import { type GatewayCaller, type GatewayTarget, gatewayAddress, routeUrl, type WebTarget } from "../target.ts";
import { readAnswer } from "../web-request.ts";
import { type GatewaySocket, MAX_MESSAGE } from "./feed.ts";

/** Buffered messages at which the sender is paused, and at which it resumes. */
const MOST_WAITING = 64;
const FEW_WAITING = 16;
/** While the socket is paused, the other side's pings are not seen; we send pongs this often, in milliseconds. */
const SIGN_MS = 1_000;

/** Opens a websocket to a provider; its time for the handshake is that for the connection. */
export async function openSocket(
  target: GatewayTarget | WebTarget,
  path: string,
  caller: GatewayCaller,
): Promise<GatewaySocket> {
  const { credential, connectMs: timeoutMs, now } = caller;
  const own = "url" in target ? undefined : await connectGateway(target, { credential, timeoutMs, now });
  const token = await caller.token();
  const url = "url" in target ? routeUrl(target, path) : `ws://${gatewayAddress(target.hostUri).header}${path}`;
  const socket = new WebSocket(url, {
    ...(own === undefined ? {} : { createConnection: () => own }),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: false,
    followRedirects: false,
  });
  // Messages may follow the handshake at once.
  const stream = new PlainSocket(socket);
  await opened(socket);
  return stream;
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.on("error", (cause) => reject(gatewayClientErrors.unreachable(errorText(cause), { cause })));
    socket.once("unexpected-response", (request, response: IncomingMessage) => {
      refused(response).then(reject, reject);
      response.once("close", () => request.destroy());
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

class PlainSocket implements GatewaySocket {
  readonly #socket: WebSocket;
  readonly #messages: AsyncIterableIterator<unknown[]>;
  #end: StreamEnd | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.#messages = messagesOf(socket);
    socket.on("close", (code, reason) => {
      this.#end = new StreamEnd(code, reason.toString("utf8"));
    });
  }

  get end(): StreamEnd | undefined {
    return this.#end;
  }

  async *messages(): AsyncGenerator<Uint8Array> {
    for await (const [message] of this.#messages) if (message instanceof Uint8Array) yield message;
  }

  send(data: Uint8Array): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(data);
  }

  close(): void {
    // The other side's answer is read even if its messages are not.
    this.#socket.resume();
    this.#socket.close();
  }

  abort(): void {
    this.#socket.terminate();
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
