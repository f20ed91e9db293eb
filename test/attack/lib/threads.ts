import { once } from "node:events";
import { WebSocket } from "ws";
import { closed } from "../../support/closed.ts";
import { waitFor } from "../../support/index.ts";

interface Message {
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
}

/** Runs code in the threads that a process has begun, through its inspector (`node --inspect=<port>`). */
export async function runInThreads(port: number, expression: string): Promise<void> {
  const text = await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/json`)).text(), "the inspector");
  const [{ webSocketDebuggerUrl = "" } = {}]: { webSocketDebuggerUrl?: string }[] = JSON.parse(text);
  const socket = new WebSocket(webSocketDebuggerUrl);
  await once(socket, "open");
  const send = (method: string, params: object): void => socket.send(JSON.stringify({ id: 1, method, params }));
  const attached = new Promise<string>((resolve) => {
    socket.on("message", (data) => {
      const { method, params }: Message = JSON.parse(data.toString());
      if (method === "NodeWorker.attachedToWorker") resolve(params?.sessionId ?? "");
    });
  });
  send("NodeWorker.enable", { waitForDebuggerOnStart: false });
  const message = JSON.stringify({ id: 1, method: "Runtime.evaluate", params: { expression } });
  send("NodeWorker.sendMessageToWorker", { sessionId: await attached, message });
  // Pending data is sent before the end.
  const end = closed(socket.on("error", () => {}));
  socket.close();
  await end;
}
