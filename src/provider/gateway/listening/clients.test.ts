import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect as connectPlain, createServer, type Server, type Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { closed } from "../../../../test/support/closed.ts";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { parseNetworks } from "../../../util/servers/index.ts";
import { GatewayClients } from "./clients.ts";

const PROXY = "127.0.0.9";
const ASK = "GET /address HTTP/1.1\r\nhost: gateway\r\n\r\n";
const header = (client: string) => `PROXY TCP4 ${client} 127.0.0.1 4660 8443\r\n`;

let gateway: GatewayHarness;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.close();
});

async function open(limits = {}): Promise<void> {
  gateway = await GatewayHarness.open(limits, { trustedProxies: parseNetworks([PROXY]), grpc: true });
}

/** A connection that begins with a text, then with TLS. */
async function through(
  localAddress: string,
  text: string,
  port = gateway.port,
  protocols = ["http/1.1"],
): Promise<TLSSocket> {
  const below = connectPlain({ host: "127.0.0.1", port, localAddress });
  below.on("error", () => {});
  await once(below, "connect");
  below.write(text);
  const socket = connect({ socket: below, rejectUnauthorized: false, ALPNProtocols: protocols });
  sockets.push(socket, below);
  socket.on("error", () => {});
  return socket;
}

async function answer(socket: TLSSocket): Promise<string> {
  socket.write(ASK);
  const heard = once(socket, "data").then(([text]) => String(text).split("\r\n")[0] ?? "");
  return Promise.race([heard.catch(() => "closed"), closed(socket).then(() => "closed")]);
}

it("counts connections by the client that a trusted proxy names", async () => {
  await open({ connectionsPerAddress: 1 });
  expect(await answer(await through(PROXY, header("203.0.113.7")))).toBe("HTTP/1.1 200 OK");
  expect(await answer(await through(PROXY, header("203.0.113.8")))).toBe("HTTP/1.1 200 OK");
  expect(await answer(await through(PROXY, header("203.0.113.7")))).toBe("closed");
});

it("closes a connection of a trusted proxy that names no client, and one of anybody else that names one", async () => {
  await open();
  expect(await answer(await through(PROXY, ""))).toBe("closed");
  expect(await answer(await through("127.0.0.2", header("203.0.113.7")))).toBe("closed");
  expect(await answer(await through("127.0.0.2", ""))).toBe("HTTP/1.1 200 OK");
});

it("tells clients apart whom a proxy connects from one port of its own to two of the gateway's", async () => {
  const clients = new GatewayClients(parseNetworks([PROXY]));
  const named: (() => string)[] = [];
  const listening: Server[] = [];
  let localPort = 0;
  for (const client of ["203.0.113.7", "203.0.113.8"]) {
    const server = createServer((socket) => {
      sockets.push(socket);
      named.push(() => clients.of(socket));
    });
    const listener = clients.front(server, { connections: 10 });
    listening.push(listener);
    await once(listener.listen(0, "127.0.0.1"), "listening");
    const { port } = listener.address() as AddressInfo;
    const socket = connectPlain({ host: "127.0.0.1", port, localAddress: PROXY, localPort });
    sockets.push(socket);
    await once(socket, "connect");
    localPort = socket.localPort ?? 0;
    socket.write(header(client));
    await expect.poll(() => named.length).toBe(listening.length);
  }
  expect(named.map((name) => name())).toEqual(["203.0.113.7", "203.0.113.8"]);
  for (const listener of listening) listener.close();
});

it("outlives a connection that breaks off right behind its header", async () => {
  const clients = new GatewayClients(parseNetworks([PROXY]));
  const listener = clients.front(createServer(), { connections: 10 });
  const broken = new Promise<Socket>((resolve) => {
    listener.on("connection", (socket) => {
      socket.once("data", () => {
        socket.destroy(new Error("read ECONNRESET"));
        resolve(socket);
      });
    });
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  const socket = connectPlain({ host: "127.0.0.1", port, localAddress: PROXY });
  sockets.push(socket);
  socket.on("error", () => {});
  socket.write(header("203.0.113.7"));
  const ended = await broken;
  await closed(ended);
  expect(ended.listenerCount("error")).toBeGreaterThan(0);
  listener.close();
});

it("counts IPv4 clients one by one where a proxy listens for both families", async () => {
  await open({ connectionsPerAddress: 1 });
  const header6 = (client: string) => `PROXY TCP6 ${client} ::1 4660 8443\r\n`;
  expect(await answer(await through(PROXY, header6("::ffff:cb00:7107")))).toBe("HTTP/1.1 200 OK");
  expect(await answer(await through(PROXY, header6("::ffff:cb00:7108")))).toBe("HTTP/1.1 200 OK");
  expect(await answer(await through(PROXY, header("203.0.113.7")))).toBe("closed");
});

it("takes the header before gRPC too", async () => {
  await open();
  const socket = await through(PROXY, header("203.0.113.7"), gateway.gateway.grpcPort, ["h2"]);
  const session = connectHttp2("https://gateway", { createConnection: () => socket });
  const stream = session.request({ ":method": "POST", ":path": "/svc.provider.v1.ProviderRPC/GetStatus" });
  const [headers] = await once(stream, "response");
  expect(headers[":status"]).toBe(415);
  session.destroy();
});
