import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";

/** Pages cannot check a provider's certificate: their server passes requests on. */

const PREFIX = /^\/relay\/[^/]+/;

function forward(request: IncomingMessage, port: number) {
  const { method = "GET", url = "/", headers } = request;
  const path = url.replace(PREFIX, "") || "/";
  return httpsRequest({ host: "127.0.0.1", port, method, path, headers, rejectUnauthorized: false, agent: false });
}

/** Passes a request for `/relay/<provider>/...` on to a gateway; false for others. */
export function relayed(request: IncomingMessage, response: ServerResponse, port: number): boolean {
  if (!PREFIX.test(request.url ?? "")) return false;
  const onward = forward(request, port);
  onward.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)));
  onward.on("error", () => response.destroy());
  request.pipe(onward);
  return true;
}

/** Passes websockets below `/relay/<provider>/` on to a gateway, whose port is asked for each. */
export function relaySockets(server: Server, port: () => number): void {
  server.on("upgrade", (request, socket: Duplex, head: Buffer) => {
    const onward = forward(request, port());
    onward.on("upgrade", (answer, other, first) => {
      const lines = answer.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : []));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.write(first);
      other.write(head);
      socket.pipe(other).pipe(socket);
      socket.on("error", () => other.destroy());
      other.on("error", () => socket.destroy());
    });
    onward.on("response", () => socket.destroy());
    onward.on("error", () => socket.destroy());
    onward.end();
  });
}
