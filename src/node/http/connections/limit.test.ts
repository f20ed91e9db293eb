import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { waitFor } from "../../../../test/support/wait.ts";
import { Reading } from "../fairness/reading.ts";
import { limitServer } from "./listen.ts";

const LIMIT = 4;

let server: Server;
let asked = 0;
const sockets: Socket[] = [];

beforeEach(async () => {
  asked = 0;
  // Nobody is answered.
  server = createServer(() => {
    asked += 1;
  });
  limitServer(server, { maxOpenConnections: LIMIT, reading: new Reading() });
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
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  socket.on("error", () => {});
  socket.resume().write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  sockets.push(socket);
  return socket;
}

it("lets go of a connection of the client that has most of them, even if it is being answered", async () => {
  const flood: Socket[] = [];
  for (let i = 1; i <= LIMIT; i++) flood.push(await busy("127.0.0.1", i));
  await busy("127.0.0.2", LIMIT + 1);
  await busy("127.0.0.2", LIMIT + 2);
  await waitFor(() => flood.filter(({ destroyed }) => destroyed).length === 2, "the end of two connections");
  expect(flood.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
  // Each client has as many.
  const third = open("127.0.0.2");
  await once(third, "close");
  expect(asked).toBe(LIMIT + 2);
});
