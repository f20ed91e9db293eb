import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { CountedRequest, readInPortions } from "./portions.ts";

const MOST = 16;
const BLANK_LINES = Buffer.from("\r\n\r\n".repeat(1_000));

/** A server that answers at most sixteen requests at once. */
async function serve(listener: (request: IncomingMessage, response: ServerResponse) => unknown) {
  let requests = 0;
  class Request extends CountedRequest {
    constructor(...args: ConstructorParameters<typeof CountedRequest>) {
      super(...args);
      requests += 1;
    }
  }
  const server = createServer({ IncomingMessage: Request }, listener);
  server.on("connection", (socket) => readInPortions(socket, MOST));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

it.each([
  ["that wait for their answers", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["that Node.js refuses by itself", "GET / HTTP/1.1\r\n\r\n"],
  ["with an unknown expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: b\r\n\r\n"],
])("of hundreds of requests at once %s, a server reads a few, and ends the connection", async (_, text) => {
  const { port, requests } = await serve(() => {});
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(text.repeat(900));
  await once(socket.resume(), "close");
  expect(requests()).toBeGreaterThanOrEqual(MOST);
  expect(requests()).toBeLessThan(3 * MOST);
});

it("a connection may send as many requests as are allowed at once, again and again", async () => {
  const { port } = await serve((_request, response) => response.end("answer"));
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  for (let round = 0; round < 3; round++) {
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(MOST));
    let text = "";
    while (text.split("answer").length <= MOST) text += String((await once(socket, "data"))[0]);
  }
});

it("a body arrives as it was sent, though its reader is slow and it is full of ends of heads", async () => {
  const body = Buffer.concat([BLANK_LINES, Buffer.alloc(1 << 20, "x\r\n\r"), BLANK_LINES]);
  const { port } = await serve(async (received, response) => {
    const parts: Buffer[] = [];
    for await (const part of received) {
      parts.push(part);
      await new Promise(setImmediate);
    }
    response.end(String(Buffer.concat(parts).equals(body)));
  });
  const asked = request({ port, host: "127.0.0.1", method: "POST", agent: false });
  const [answer] = (await once(asked.end(body), "response")) as [IncomingMessage];
  expect(String((await answer.toArray())[0])).toBe("true");
});
