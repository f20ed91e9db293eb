import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect as connectHttp2, createServer as createServer2 } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { beginCall, callHeaders, openHttp2, resetStream, settings, streams } from "../../../test/attack/lib/http2.ts";
import { closed } from "../../../test/support/closed.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { Clients, CountedRequest, limitServer } from "../http/index.ts";
import { CONNECTION_SHARES } from "../http/limits.ts";
import { MAX_TAKEN_BACK } from "./limits.ts";
import { TwoProtocols } from "./protocols.ts";

/** Two for each client. */
const LIMIT = 2 * CONNECTION_SHARES;

let http1: Server;
let port = 0;
let requests = 0;
let close = (): void => {};
const sockets: Socket[] = [];

beforeEach(async () => {
  requests = 0;
  http1 = createServer({ IncomingMessage: CountedRequest }, (_request, response) => {
    requests += 1;
    response.end("1");
  });
  limitServer(http1, LIMIT, new Clients());
  const http2 = createServer2((request, response) => {
    request.resume();
    // The answer comes when the call is whole, and does not end.
    request.once("end", () => response.write("2"));
  });
  const both = new TwoProtocols({ http1, http2 });
  await new Promise<void>((resolve) => http1.listen(0, "127.0.0.1", resolve));
  port = (http1.address() as AddressInfo).port;
  close = () => both.close();
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  close();
  http1.closeAllConnections();
  http1.close();
});

function open(): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  sockets.push(socket.on("error", () => {}));
  return socket;
}

it("limits the connections of one client in both protocols together", async () => {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { createConnection: open });
  await once(session, "remoteSettings");
  const plain = open();
  await once(plain, "connect");
  await closed(open());
  expect([session.destroyed, plain.destroyed]).toEqual([false, false]);
});

it("closes connections that have said nothing, with the others", async () => {
  const silent = open();
  await once(http1, "connection");
  close();
  await closed(silent);
});

it("closes a connection of HTTP/2 whose client has gone without a word", async () => {
  const accepted = once(http1, "connection");
  const client = openHttp2({ host: "127.0.0.1", port });
  const [socket] = await accepted;
  await once(client, "data");
  client.end();
  await waitFor(() => socket.destroyed, "the end of the connection");
});

it("ends a connection that takes back calls before they begin, and no other", async () => {
  const takenBack = (count: number): Socket => {
    const block = callHeaders("/");
    const calls = streams(count).map((stream) => Buffer.concat([beginCall(stream, block), resetStream(stream)]));
    const socket = openHttp2({ host: "127.0.0.1", port }, Buffer.concat([settings(), ...calls]));
    sockets.push(socket);
    return socket;
  };
  const [few, many] = [takenBack(MAX_TAKEN_BACK - 1), takenBack(2 * MAX_TAKEN_BACK + 50)];
  await waitFor(() => many.destroyed, "the end of the connection that takes back many");
  expect(few.destroyed).toBe(false);
});

it("reads a few of hundreds of requests of HTTP/1 that a connection sends at once, from its first byte on", async () => {
  const socket = open().resume();
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(900));
  await closed(socket);
  expect(requests).toBeLessThan(100);
});
