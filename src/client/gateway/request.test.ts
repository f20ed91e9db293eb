import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { exchange } from "./request.ts";

const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** How a client reacts to a server that does this once a request has come. */
async function ask(answer: (socket: Socket) => void, timeoutMs: number): Promise<unknown> {
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => answer(socket)));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  const socket = connect(address.port, "127.0.0.1");
  return exchange(socket, { method: "GET", path: "/status", host: "p.example.com", timeoutMs });
}

it("reads an answer", async () => {
  expect(await ask((socket) => socket.end(`${HEAD}{"leases":3}`.replace("11", "12")), 60_000)).toEqual({ leases: 3 });
});

it.each([
  ["does not come", () => {}],
  ["does not end", (socket: Socket) => socket.write(`${HEAD}{"le`)],
])("does not wait for ever for an answer that %s", async (_, answer) => {
  await expect(ask(answer, 50)).rejects.toThrow("no answer within 0.05 s: the provider did not answer in time");
});

it("reports an answer that breaks off", async () => {
  const halfway = (socket: Socket) => socket.write(`${HEAD}{"le`, () => socket.end());
  await expect(ask(halfway, 60_000)).rejects.toThrow("the answer was cut off: the provider cannot be reached");
});
