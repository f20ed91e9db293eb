import type { Connect, ConnectionHandlers, EventConnection } from "./event-connection.ts";

/** Pages cannot send websocket pings; a call whose answer is ignored does the same. */
const PING = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "health", params: {} });

/** Connections of the browser itself. */
export async function loadConnect(): Promise<Connect> {
  return (url, handlers) => connection(new WebSocket(url), handlers);
}

function connection(socket: WebSocket, handlers: ConnectionHandlers): EventConnection {
  let isEnded = false;
  const end = (reason: Error): void => {
    if (isEnded) return;
    isEnded = true;
    handlers.onEnd(reason);
  };
  socket.addEventListener("open", () => handlers.onOpen());
  socket.addEventListener("message", ({ data }) => {
    if (isEnded) return;
    handlers.onLife();
    handlers.onText(String(data));
  });
  socket.addEventListener("close", ({ code }) => end(new Error(`the node closed the connection (${code})`)));
  const send = (text: string): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
  };
  return {
    send,
    ping: () => send(PING),
    close() {
      isEnded = true;
      socket.close();
    },
    abort() {
      socket.close();
      // The browser waits for the close frame of the other side, which a dead connection never sends.
      end(new Error("the node stopped answering"));
    },
  };
}
