import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { WebSocket } from "ws";
import { errorText } from "../../../util/index.ts";
import { gatewayClientErrors } from "../errors.ts";
import { readAnswer, readText } from "../request.ts";

const MAX_MESSAGE = 1 << 20;

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
