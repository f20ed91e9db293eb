import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { closed } from "../../../test/support/closed.ts";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import { FRAME } from "./streams/frames.ts";
import { CLOSE } from "./streams/stream.ts";

/** Clients and tenants that would take all that the gateway has. */

const NEIGHBOUR = "127.0.0.2";
/** Timeouts of idle connections, too long to matter in a test. */
const LONG = { handshakeTimeout: 600_000, requestTimeout: 600_000, headersTimeout: 600_000 };
const SHELL = "/lease/1/1/1/shell?service=job&podIndex=0&tty=0&stdin=1&cmd0=cat";

let gateway: GatewayHarness;
const sockets: Socket[] = [];
afterEach(async () => {
  // Before their handshake the gateway waits for them.
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway.close();
});

async function connection(localAddress: string): Promise<Socket> {
  const socket = connect({ port: gateway.port, host: "127.0.0.1", localAddress });
  sockets.push(socket);
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  return socket;
}

const gone = async (socket: Socket): Promise<void> => (socket.closed ? undefined : closed(socket));

it("closes a connection of the network with the most where all places are taken", async () => {
  gateway = await GatewayHarness.open({ ...LONG, connections: 4, connectionsPerAddress: 4 });
  const crowd: Socket[] = [];
  for (let i = 0; i < 4; i++) crowd.push(await connection("127.0.0.1"));
  const neighbour = await connection(NEIGHBOUR);
  await gone(crowd[3] ?? expect.fail());
  // The network with the most connections gets no one else's place.
  await gone(await connection("127.0.0.1"));
  expect([...crowd.slice(0, 3), neighbour].map(({ closed: isClosed }) => isClosed)).toEqual(Array(4).fill(false));
  expect((await gateway.request("/address", { localAddress: NEIGHBOUR })).status).toBe(200);
});

it("refuses a body for which there is no room", async () => {
  gateway = await GatewayHarness.open({ bodiesPerNetwork: 500 });
  const ask = async (bytes: number) =>
    (await gateway.request("/validate", { method: "POST", body: "x".repeat(bytes) })).status;
  expect([await ask(501), await ask(500)]).toEqual([429, 422]);
});

async function shell(): Promise<WebSocket> {
  const { certificate: cert, privateKey: key } = gateway.certificate;
  const socket = new WebSocket(`wss://127.0.0.1:${gateway.port}${SHELL}`, { rejectUnauthorized: false, cert, key });
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

it("makes a client wait while its command is being started", async () => {
  gateway = await GatewayHarness.open();
  await gateway.run(1n, { job: "sleep 1000" });
  const { driver } = gateway.world;
  const { exec } = driver;
  let start = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const [count, size] = [600, 60_000];
  let taken = 0;
  driver.exec = async (...request) => {
    await started;
    const session = await exec.apply(driver, request);
    return {
      ...session,
      write: async ({ length }) => {
        taken += length;
        if (taken === count * size) session.endInput();
      },
    };
  };
  const socket = await shell();
  const ended = once(socket, "close");
  const message = Buffer.alloc(1 + size, "x");
  message[0] = FRAME.stdin;
  for (let i = 0; i < count; i++) socket.send(message);
  // Long enough for a gateway that does not wait to take everything.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(socket.bufferedAmount).toBeGreaterThan(0);
  start();
  expect((await ended)[0]).toBe(CLOSE.done);
  expect(taken).toBe(count * size);
});
