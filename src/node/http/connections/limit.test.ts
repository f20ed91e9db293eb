import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { closed } from "../../../../test/support/closed.ts";
import { waitFor } from "../../../../test/support/wait.ts";
import { limitServer } from "./listen.ts";

const LIMIT = 4;

let server: Server;
let asked = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  asked = 0;
  // Nobody else is answered.
  server = createServer((request, response) => {
    if (request.url === "/early") response.end();
    else asked += 1;
  });
  limitServer(server, LIMIT);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** A connection from an address that is being answered; `seen` are the requests so far. */
async function busy(localAddress: string, seen: number): Promise<Socket> {
  const socket = open(localAddress);
  await waitFor(() => asked === seen, `request ${seen}`);
  return socket;
}

function open(localAddress: string): Socket {
  const socket = connectFrom(localAddress);
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return socket;
}

/** A connection that asks nothing. */
async function silent(localAddress: string): Promise<Socket> {
  const letIn = once(server, "connection");
  const socket = connectFrom(localAddress);
  await letIn;
  return socket;
}

function connectFrom(localAddress: string): Socket {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  socket.on("error", () => {}).resume();
  sockets.push(socket);
  return socket;
}

const areOver = (all: readonly Socket[]) => all.map(({ destroyed }) => destroyed);

it("drops a connection of the client that has most of them, even if it is being answered", async () => {
  const flood: Socket[] = [];
  for (let i = 1; i <= LIMIT; i++) flood.push(await busy("127.0.0.1", i));
  await busy("127.0.0.2", LIMIT + 1);
  await busy("127.0.0.2", LIMIT + 2);
  await waitFor(() => flood.filter(({ destroyed }) => destroyed).length === 2, "the end of two connections");
  expect(areOver(flood)).toEqual([true, true, false, false]);
  // Each client has as many.
  const third = open("127.0.0.2");
  await closed(third);
  expect(asked).toBe(LIMIT + 2);
});

it("drops the oldest idle one, of all clients that have as many", async () => {
  const others = [await busy("127.0.0.1", 1)];
  for (const address of ["127.0.0.2", "127.0.0.3", "127.0.0.4"]) others.push(await silent(address));
  await busy("127.0.0.5", 2);
  await waitFor(() => others[1]?.destroyed === true, "the end of one that asks nothing");
  expect(areOver(others)).toEqual([false, true, false, false]);
});

it("ends no request of a client with a few connections while others hold theirs open for nothing", async () => {
  const asking = [await busy("127.0.0.1", 1), await busy("127.0.0.1", 2)];
  const others = [await silent("127.0.0.2"), await silent("127.0.0.3")];
  await busy("127.0.0.4", 3);
  await busy("127.0.0.5", 4);
  await waitFor(() => others.every(({ destroyed }) => destroyed), "the end of those that ask nothing");
  expect(areOver(asking)).toEqual([false, false]);
});

it("ends no request that came behind another in one go", async () => {
  const two = connectFrom("127.0.0.1");
  two.write("GET /early HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await Promise.all([once(two, "data"), waitFor(() => asked === 1, "the second request")]);
  for (const [i, address] of ["127.0.0.2", "127.0.0.3", "127.0.0.4"].entries()) await busy(address, i + 2);
  // All are being answered, one of each client.
  await closed(open("127.0.0.5"));
  expect(two.destroyed).toBe(false);
});

it("takes no connection for one in use by the rest of a body that was refused", async () => {
  const early: Socket[] = [];
  for (let i = 1; i <= LIMIT; i++) {
    const socket = connectFrom(`127.0.0.${i}`);
    socket.write("POST /early HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n1");
    await once(socket, "data");
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write("2");
    early.push(socket);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  await busy("127.0.0.9", 1);
  await waitFor(() => areOver(early).includes(true), "the end of one");
  expect(areOver(early).filter((isOver) => isOver)).toHaveLength(1);
});
