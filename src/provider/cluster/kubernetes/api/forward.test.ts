import type { Duplex } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WebSocket } from "ws";
import { TestApiServer } from "../../../../../test/support/kubernetes/api-server.ts";
import type { KubernetesApi } from "./api.ts";

const PLACE = { namespace: "a", name: "web-1" };
let server: TestApiServer;
let api: KubernetesApi;

beforeEach(async () => {
  server = await TestApiServer.start();
  api = server.client();
});

afterEach(async () => {
  api.close();
  await server.close();
});

/** A node's first messages: the number of the port on each channel. */
function begin(socket: WebSocket): void {
  for (const channel of [0, 1]) socket.send(Uint8Array.of(channel, 0x90, 0x1f));
}

async function textOf(stream: Duplex): Promise<string> {
  let text = "";
  for await (const part of stream.setEncoding("utf8")) text += part;
  return text;
}

test("bytes go both ways, whole and in order, and the other end's end is the end", async () => {
  const sent = "x".repeat(200_000);
  let search = "";
  server.command = (socket, url) => {
    search = url.search;
    begin(socket);
    let got = "";
    socket.on("message", (message: Buffer) => {
      expect(message.length).toBeLessThanOrEqual((32 << 10) + 1);
      got += message.subarray(1).toString("utf8");
      if (got.length < sent.length) return;
      socket.send(Buffer.from(`\u0000${got}`));
      socket.send(Buffer.from("\u0000 and more"));
      socket.close();
    });
  };
  const stream = await api.forward(PLACE, 8080);
  stream.write(sent);
  expect(await textOf(stream)).toBe(`${sent} and more`);
  expect(search).toBe("?ports=8080");
  expect(server.requests).toEqual(["EXEC /api/v1/namespaces/a/pods/web-1/portforward"]);
});

test("a port that nobody listens at fails in the node's words, of which a part is kept", async () => {
  server.command = (socket) => {
    begin(socket);
    socket.send(Buffer.from(`\u0001connection refused${"!".repeat(100_000)}`));
    socket.close();
  };
  const failure = await textOf(await api.forward(PLACE, 8080)).catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: expect.stringMatching(/^connection refused!/) });
  expect(String(failure).length).toBeLessThan(2_000);
});

test("a pod that does not exist is the server's refusal", async () => {
  server.refusal = `HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}`;
  await expect(api.forward(PLACE, 8080)).rejects.toMatchObject({ status: 404 });
});

test("a reader that is slow holds the sender back", async () => {
  let left = 0;
  server.command = (socket) => {
    begin(socket);
    for (let piece = 0; piece < 600; piece++) socket.send(Buffer.alloc(32 << 10, 0));
    left = socket.bufferedAmount;
    socket.close();
  };
  const stream = await api.forward(PLACE, 8080);
  await new Promise((resolve) => stream.once("readable", resolve));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(left).toBeGreaterThan(4 << 20);
  expect(stream.readableLength).toBeLessThan(1 << 20);
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  expect(bytes).toBe(600 * ((32 << 10) - 1));
});
