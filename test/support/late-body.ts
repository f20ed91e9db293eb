import { once } from "node:events";
import type { Socket } from "node:net";

/**
 * Sends a request whose body is refused before it has been sent whole: a part of the body, the rest once the answer has begun to
 * arrive. Resolves with all that was answered; rejects when the connection breaks meanwhile.
 */
export async function sendDespiteAnswer(socket: Socket, head: string, body: string): Promise<string> {
  const text = new Promise<string>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("readable", () => {
      socket.write(body.slice(body.length / 2));
      let answer = "";
      socket.on("data", (part: Buffer) => {
        answer += part.toString("latin1");
      });
      socket.once("end", () => resolve(answer));
    });
  });
  if (socket.connecting) await once(socket, "connect");
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, body.length / 2)}`);
  return text;
}
