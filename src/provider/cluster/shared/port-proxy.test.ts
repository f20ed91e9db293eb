import { createSocket, Socket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket as TcpSocket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { longestAcceptQueue, waitingConnections } from "../../../../test/support/accept-queue.ts";
import { closed } from "../../../../test/support/closed.ts";
import { freePort } from "../../../../test/support/ports.ts";
import { ConnectionGuard } from "./connection-guard.ts";
import { type PortProxy, tcpProxy, udpProxy } from "./port-proxy.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function keep(proxy: PortProxy): void {
  cleanups.push(() => proxy.close());
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Echoes its input, in front of its name, once the client has finished sending; optionally greets first. */
async function echoServer(name: string, greeting = ""): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.write(greeting);
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("end", () => socket.end(`${name} ${text}`));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  return `127.0.0.1:${portOf(server)}`;
}

async function ask(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(text);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

it("carries TCP to the replicas in turn, half-closed connections included", async () => {
  const backends = [await echoServer("one"), await echoServer("two")];
  const port = await freePort();
  let turn = 0;
  keep(await tcpProxy({ host: "127.0.0.1", port }, () => backends[turn++ % 2]));
  expect([await ask(port, "a"), await ask(port, "b"), await ask(port, "c")]).toEqual(["one a", "two b", "one c"]);
});

it("hangs up while no replica is ready, and refuses a port that is taken", async () => {
  const port = await freePort();
  keep(await tcpProxy({ host: "127.0.0.1", port }, () => undefined));
  expect(await ask(port, "a").catch(() => "")).toBe("");
  await expect(tcpProxy({ host: "127.0.0.1", port }, () => undefined)).rejects.toThrow(/EADDRINUSE/);
});

it("cuts its connections when it closes", async () => {
  const backend = await echoServer("one");
  const port = await freePort();
  const proxy = await tcpProxy({ host: "127.0.0.1", port }, () => backend);
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  proxy.close();
  await closed(socket);
  await expect(ask(port, "a")).rejects.toThrow(/ECONNREFUSED/);
});

it("carries UDP and keeps a client with its replica", async () => {
  const servers = ["one", "two"].map((name) => {
    const server = createSocket("udp4", (data, from) => server.send(`${name} ${data}`, from.port, from.address));
    server.bind(0, "127.0.0.1");
    cleanups.push(() => server.close());
    return server;
  });
  await Promise.all(servers.map((server) => once(server, "listening")));
  const port = await freePort();
  let turn = 0;
  keep(await udpProxy({ host: "127.0.0.1", port }, () => `127.0.0.1:${servers[turn++ % 2]?.address().port}`));
  const say = async (client: ReturnType<typeof createSocket>, text: string) => {
    client.send(text, port, "127.0.0.1");
    const [data] = await once(client, "message");
    return String(data);
  };
  const clients = [createSocket("udp4"), createSocket("udp4")];
  for (const client of clients) cleanups.push(() => client.close());
  const [one, other] = clients;
  if (one === undefined || other === undefined) throw new Error("no sockets");
  expect([await say(one, "a"), await say(other, "b"), await say(one, "c")]).toEqual(["one a", "two b", "one c"]);
});

it("lets UDP from port 0 go by, which nobody can answer", async () => {
  const port = await freePort();
  const bind = vi.spyOn(Socket.prototype, "bind");
  cleanups.push(() => bind.mockRestore());
  let asked = 0;
  keep(
    await udpProxy({ host: "127.0.0.1", port }, () => {
      asked += 1;
      return undefined;
    }),
  );
  // No ordinary socket sends from there, so the datagrams are handed in.
  const server = bind.mock.contexts[0];
  if (!(server instanceof Socket)) throw new Error("no socket was bound");
  const from = { address: "127.0.0.1", family: "IPv4", size: 1 };
  server.emit("message", Buffer.from("a"), { ...from, port: 0 });
  expect(asked).toBe(0);
  server.emit("message", Buffer.from("a"), { ...from, port: 9 });
  expect(asked).toBe(1);
});

it("takes as many connections of an address and of a lease as the limits say, and no further one", async () => {
  const backend = await echoServer("one", "hello");
  const port = await freePort();
  const guard = new ConnectionGuard({ connectionsPerAddress: 2, connectionsPerLease: 3, idleMs: 60_000 });
  keep(await tcpProxy({ host: "127.0.0.1", port }, () => backend, { guard }));
  const open = async (from: string): Promise<[TcpSocket, boolean]> => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from, allowHalfOpen: true });
    cleanups.push(() => socket.destroy());
    socket.on("error", () => {});
    // One that is taken hears the replica; the end comes first on others.
    const isTaken = new Promise<boolean>((resolve) => {
      socket.once("data", () => resolve(true)).once("end", () => resolve(false));
      void closed(socket).then(() => resolve(false));
    });
    return [socket, await isTaken];
  };
  const [one, isOpen] = await open("127.0.0.1");
  expect([isOpen, (await open("127.0.0.1"))[1]]).toEqual([true, true]);
  // One beyond the address, then the last of the lease, then one beyond that.
  expect((await open("127.0.0.1"))[1]).toBe(false);
  expect((await open("127.0.0.2"))[1]).toBe(true);
  expect((await open("127.0.0.3"))[1]).toBe(false);
  one.destroy();
  await expect.poll(async () => (await open("127.0.0.3"))[1]).toBe(true);
});

it("closes a connection on which nothing is said for the idle time", async () => {
  const backend = await echoServer("one");
  const port = await freePort();
  const guard = new ConnectionGuard({ connectionsPerAddress: 2, connectionsPerLease: 3, idleMs: 50 });
  keep(await tcpProxy({ host: "127.0.0.1", port }, () => backend, { guard }));
  const silent = connect(port, "127.0.0.1").on("error", () => {});
  await closed(silent.resume());
  expect(guard.admit("127.0.0.1")).toBeDefined();
});

it.skipIf(longestAcceptQueue() < 4_096)("has room for a thousand connections that come while it is busy", async () => {
  const port = await freePort();
  const first = await tcpProxy({ host: "127.0.0.1", port }, () => undefined);
  expect(waitingConnections(port, 1_024)).toBe(1_024);
  // Also where it takes a listener over.
  const second = await tcpProxy({ host: "127.0.0.1", port }, () => undefined, { listener: first.listener });
  keep(second);
  expect(waitingConnections(port, 1_024)).toBe(1_024);
});
