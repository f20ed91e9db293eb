import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { closed } from "../../../test/support/closed.ts";
import { CountedRequest } from "../../util/servers/index.ts";
import { Clients, limitReads, limitServer } from "./clients.ts";
import { CONNECTION_SHARES } from "./limits.ts";

const SHARE = 2;
const MOST = SHARE * CONNECTION_SHARES;
const PROXY = "127.0.0.9";

let server: Server;
let requests = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  requests = 0;
  server = createServer({ IncomingMessage: CountedRequest }, (_request, response) => {
    requests += 1;
    response.end();
  });
  const clients = new Clients({ trustedProxies: [PROXY], requestsPerSecond: 1 });
  limitServer(server, MOST, clients);
  limitReads(server, clients);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

async function open(localAddress: string): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, localAddress }).on("error", () => {});
  sockets.push(socket.resume());
  await once(socket, "connect");
  return socket;
}

/** Whether the server serves a connection; otherwise it closes it. */
async function isServed(socket: Socket): Promise<boolean> {
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return await Promise.race([once(socket, "data").then(() => true), closed(socket).then(() => false)]);
}

it("closes connections of a client above its share, and no others", async () => {
  const own = [await open("127.0.0.2"), await open("127.0.0.2")];
  expect(await isServed(await open("127.0.0.2"))).toBe(false);
  expect(await isServed(await open("127.0.0.3"))).toBe(true);
  for (const socket of own) expect(await isServed(socket)).toBe(true);
});

it("gives the place of a closed connection to the next one", async () => {
  const accepted: Promise<[Socket]> = once(server, "connection") as Promise<[Socket]>;
  const first = await open("127.0.0.2");
  const [socket] = await accepted;
  await open("127.0.0.2");
  first.destroy();
  await once(socket, "close");
  expect(await isServed(await open("127.0.0.2"))).toBe(true);
});

it("limits all clients together, and gives a trusted proxy no share of its own", async () => {
  for (let i = 0; i < MOST; i++) expect(await isServed(await open(PROXY))).toBe(true);
  expect(await isServed(await open("127.0.0.2"))).toBe(false);
});

it("reads a few of hundreds of requests that a client sends at once, and all that a trusted proxy sends", async () => {
  const many = "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(900);
  const client = await open("127.0.0.2");
  client.write(many);
  await closed(client);
  expect(requests).toBeLessThan(100);
  (await open(PROXY)).write(many);
  await expect.poll(() => requests).toBeGreaterThanOrEqual(900);
});
