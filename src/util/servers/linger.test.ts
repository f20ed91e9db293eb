import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { sendDespiteAnswer } from "../../../test/support/late-body.ts";
import { endAfterBody } from "./linger.ts";

const POST = "POST / HTTP/1.1\r\nHost: a\r\n";
const LARGE = "x".repeat(4 << 20);

it("an answer reaches a client that is still sending, and its connection ends once the body has been read", async () => {
  const answer = await sendDespiteAnswer(await refusing(endAfterBody), POST, LARGE);
  expect(answer).toMatch(/^HTTP\/1\.1 413 .*\r\n\r\nno$/s);
});

it("an answer that ends at once breaks the connection of such a client", async () => {
  const atOnce = (response: ServerResponse, text: string) => response.end(text);
  await expect(sendDespiteAnswer(await refusing(atOnce), POST, LARGE)).rejects.toThrow(/ECONNRESET|EPIPE/);
});

it("a client that never sends the rest has its connection closed after a while", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = await refusing(endAfterBody);
  socket.write(`${POST}Content-Length: 9\r\n\r\nx`);
  await once(socket, "readable");
  vi.runAllTimers();
  await once(socket.resume(), "end");
});

/** A client of a server that refuses all requests in this way. */
async function refusing(end: (response: ServerResponse, text: string) => unknown): Promise<ReturnType<typeof connect>> {
  const server = createServer((_request, response) => {
    response.writeHead(413, { "Content-Length": 2, Connection: "close" });
    end(response, "no");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  return socket;
}
