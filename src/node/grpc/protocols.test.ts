import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, createServer as createServer2 } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  beginCall,
  callHeaders,
  FRAME,
  frame,
  openHttp2,
  resetStream,
  settings,
  streams,
} from "../../../test/attack/lib/http2.ts";
import { closed } from "../../../test/support/closed.ts";
import { pause } from "../../../test/support/index.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { READING_SLICE_MS } from "../../util/servers/fairness/limits.ts";
import { limitServer, Reading } from "../http/index.ts";
import { FIRST_CONNECTIONS, MAX_PARTS, MAX_TAKEN_BACK } from "./limits.ts";
import { TwoProtocols } from "./protocols.ts";

let isFlooded = false;
/** More than the system takes of an answer that is not read. */
const MUCH = 32 * 1024 * 1024;
const LIMIT = FIRST_CONNECTIONS + 2;

const GIBI = Buffer.of(0x40, 0, 0, 0);
/** A client that lets the server send what it wants. */
const ANY_WINDOW = Buffer.concat([settings([4, 2 ** 30]), frame(FRAME.window, { payload: GIBI })]);
const MUCH_ASKED = frame(FRAME.headers, { stream: 1, flags: 5, payload: callHeaders("/much") });

let http1: Server;
let reading = new Reading();
let port = 0;
let close = (): void => {};
const sockets: Socket[] = [];

beforeEach(async () => {
  isFlooded = false;
  http1 = createServer((_request, response) => void response.end("1"));
  reading = new Reading();
  const connections = limitServer(http1, { maxOpenConnections: LIMIT, reading });
  const http2 = (maxConcurrentStreams: number) =>
    createServer2({ settings: { maxConcurrentStreams } }, (request, response) => {
      request.resume();
      if (request.url === "/much") return void response.write(Buffer.alloc(MUCH));
      // The answer comes when the call is whole, and does not end.
      request.once("end", () => response.write("2"));
    });
  const seen = {
    worked: () => reading.worked(),
    handOver: (socket: Socket) => reading.handOver(socket),
    get isFlooded() {
      return isFlooded;
    },
  };
  const both = new TwoProtocols({
    http1,
    http2: { first: http2(100), further: http2(10) },
    connections,
    reading: seen,
  });
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
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket.on("error", () => {}));
  return socket;
}

/** A session whose calls are under way; `isWhole` if their bodies have come. */
async function session(isWhole: boolean): Promise<ClientHttp2Session> {
  const client = connectHttp2(`http://127.0.0.1:${port}`, { createConnection: open });
  client.on("error", () => {});
  const call = client.request({ ":method": "POST" });
  call.on("error", () => {});
  if (isWhole) call.end();
  else call.write("x");
  await new Promise((resolve) => (isWhole ? call.once("data", resolve) : client.once("remoteSettings", resolve)));
  return client;
}

it("drops connections in both protocols that have no whole call, the oldest first", async () => {
  const asked = await session(true);
  const slow = await session(false);
  const silent = Array.from({ length: LIMIT - 2 }, open);
  await Promise.all(silent.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
  open();
  await waitFor(() => slow.destroyed, "the end of the session without a whole call");
  for (let i = 0; i < LIMIT; i++) open();
  await waitFor(() => silent.every(({ destroyed }) => destroyed), "the end of those that say nothing");
  expect(asked.destroyed).toBe(false);
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

it("gives each connection many calls at a time, and in a flood few to further ones of a client", async () => {
  const open = async (isFlood: boolean): Promise<number | undefined> => {
    isFlooded = isFlood;
    return (await session(true)).remoteSettings.maxConcurrentStreams;
  };
  const most: (number | undefined)[] = [];
  for (let i = 0; i < FIRST_CONNECTIONS; i++) most.push(await open(true));
  most.push(await open(true), await open(false));
  expect(most).toEqual([...Array(FIRST_CONNECTIONS).fill(100), 10, 100]);
});

it("ends a connection that sends bodies in very many parts at once, and no other", async () => {
  const inParts = (count: number): Socket => {
    const parts = Array.from({ length: count }, () => frame(FRAME.data, { stream: 1, payload: Buffer.of(0) }));
    const socket = openHttp2({ host: "127.0.0.1", port }, Buffer.concat([settings(), beginCall(1, callHeaders("/"))]));
    sockets.push(socket);
    // What comes before the call is looked at comes in one part.
    socket.once("data", () => void setImmediate(() => socket.write(Buffer.concat(parts))));
    return socket;
  };
  const [few, many] = [inParts(MAX_PARTS), inParts(MAX_PARTS + 1)];
  await waitFor(() => many.destroyed, "the end of the connection that sends many parts");
  expect(few.destroyed).toBe(false);
});

it("reads nothing more of a connection that does not read, also after its turn has come", async () => {
  const accepted = new Promise<Socket>((resolve) => http1.once("connection", resolve));
  const deaf = openHttp2({ host: "127.0.0.1", port }, Buffer.concat([ANY_WINDOW, MUCH_ASKED])).pause();
  sockets.push(deaf);
  const socket = await accepted;
  await waitFor(() => writesWait(socket), "an answer that is not read");
  const part = frame(FRAME.data, { stream: 3, payload: Buffer.of(0) });
  deaf.write(Buffer.concat([beginCall(3, callHeaders("/")), ...Array.from({ length: MAX_PARTS }, () => part)]));
  const before = socket.bytesRead;
  press();
  for (let i = 0; i < 10; i++) await pause(10);
  expect(socket.bytesRead).toBe(before);
  deaf.resume();
  await waitFor(() => socket.bytesRead > before + MAX_PARTS * part.length, "what it sends, once it reads");
});

/** All connections stop, and are read again in their turns. */
function press(): void {
  reading.worked();
  const end = performance.now() + READING_SLICE_MS;
  while (performance.now() < end);
  reading.worked();
  expect(reading.isPressed).toBe(true);
}

function writesWait({ _handle: handle }: Socket & { readonly _handle?: { readonly writeQueueSize: number } }): boolean {
  return (handle?.writeQueueSize ?? 0) > 0;
}
