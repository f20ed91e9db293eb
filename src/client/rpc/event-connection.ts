import type { WebSocket } from "ws";

/** Events of a connection. */
export interface ConnectionHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** Anything was received: the other side is alive. */
  onLife(): void;
  /** The connection has ended or could not be made; called once, and not after `close`. */
  onEnd(reason: Error): void;
}

/** A websocket to a node. */
export interface EventConnection {
  /** Sends text when the connection is open, and nothing otherwise. */
  send(text: string): void;
  /** Sends a ping. */
  ping(): void;
  /** Ends in order; nothing more is delivered. */
  close(): void;
  /** Gives up a connection that has gone silent. */
  abort(): void;
}

/** Begins a connection. */
export type Connect = (url: URL, handlers: ConnectionHandlers) => EventConnection;

const MAX_MESSAGE_BYTES = 256 << 20;

/** The library is loaded at the first subscription: most programs never subscribe. */
export async function loadConnect(): Promise<Connect> {
  const { WebSocket } = await import("ws");
  return (url, handlers) => connection(new WebSocket(url, { maxPayload: MAX_MESSAGE_BYTES }), handlers);
}

function connection(socket: WebSocket, handlers: ConnectionHandlers): EventConnection {
  let problem: Error | undefined;
  let isClosed = false;
  socket.on("open", () => handlers.onOpen());
  socket.on("message", (data) => handlers.onText(data.toString()));
  for (const sign of ["message", "ping", "pong"] as const) socket.on(sign, () => handlers.onLife());
  socket.on("error", (error) => {
    problem = error;
  });
  socket.on("close", (code) => {
    if (!isClosed) handlers.onEnd(problem ?? new Error(`the node closed the connection (${code})`));
  });
  const isOpen = (): boolean => socket.readyState === socket.OPEN;
  return {
    send: (text) => {
      if (isOpen()) socket.send(text);
    },
    ping: () => {
      if (isOpen()) socket.ping();
    },
    close() {
      isClosed = true;
      if (isOpen()) socket.close();
      else socket.terminate();
    },
    abort: () => socket.terminate(),
  };
}
