import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { answerMalformed } from "./malformed.ts";

let server: Server;
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function open(): Promise<Socket> {
  server = createServer((_request, response) => {
    response.writeHead(200);
    response.write("begun");
  });
  answerMalformed(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

/** All data that the connection receives until its end. */
function answer(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(text));
  });
}

it.each([
  ["headers without end", `GET / HTTP/1.1\r\nX: ${"x".repeat(4 << 20)}`, "431"],
  ["an address without end", `GET /${"x".repeat(4 << 20)}`, "431"],
  ["nonsense", `NONSENSE\r\n\r\n${"x".repeat(4 << 20)}`, "400"],
])("a client reads the answer to %s after it has sent all of it", async (_, text, status) => {
  const socket = await open();
  socket.pause();
  await new Promise((resolve) => socket.write(text, resolve));
  const read = answer(socket);
  socket.resume();
  expect(await read).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nConnection: close\r\n\r\n$`));
});

it("bytes that follow a request whose answer has begun end the connection, and nothing is added to the answer", async () => {
  const socket = await open();
  const read = answer(socket);
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.write("NONSENSE\r\n\r\n");
  const text = await read.catch(String);
  expect(text).not.toContain("400");
});
