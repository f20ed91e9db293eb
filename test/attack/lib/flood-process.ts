import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import { FRAME, frame, requestHeaders, settings, streams } from "./http2.ts";

/**
 * The clients of a flood, in a process of their own: they must not keep the newcomer of a test waiting. It says on which port the
 * attacked service answers, and begins with the orders that come as lines of JSON.
 */

/** What a flood does. */
export interface FloodOrder {
  readonly port: number;
  /** `plain` is HTTP/1 without TLS; `handshakes` leave as soon as they are connected. */
  readonly kind: "plain" | "http2" | "handshakes";
  readonly host: string;
  readonly path: string;
  readonly addresses: readonly string[];
  /** Of each address. */
  readonly connections: number;
  /** That a connection asks for at a time. */
  readonly requests: number;
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const END_STREAM = 1;
/** So that a refused client does not come back faster than a process can. */
const AGAIN_MS = 20;

/** A connection before its first request. */
function open({ port, kind, host }: FloodOrder, localAddress: string, ready: (socket: Socket) => void): Socket {
  const place = { host: "127.0.0.1", port, localAddress };
  if (kind === "plain") {
    const socket = connect(place, () => ready(socket));
    return socket;
  }
  // The certificate does not matter to who only wants to make work.
  const options = { servername: host, ALPNProtocols: ["h2"], rejectUnauthorized: false };
  const socket = connectTls({ ...place, ...options }, () => ready(socket));
  return socket;
}

/** Sends all requests at once, and again whenever the last is answered. */
function askHttp1(socket: Socket, { host, path, requests }: FloodOrder): void {
  const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(requests);
  let waiting = requests;
  socket.write(text);
  socket.on("data", (data: Buffer) => {
    waiting -= data.toString("latin1").split("HTTP/1.1 ").length - 1;
    if (waiting > 0) return;
    waiting = requests;
    socket.write(text);
  });
}

function askHttp2(socket: Socket, { host, path, requests }: FloodOrder): void {
  const block = requestHeaders(host, path);
  let next = 1;
  let waiting = 0;
  const send = (): void => {
    waiting = requests;
    const all = streams(requests, next).map((stream) => frame(FRAME.headers, { stream, flags: 5, payload: block }));
    next += 2 * requests;
    socket.write(Buffer.concat(all));
  };
  socket.write(Buffer.concat([PREFACE, settings()]));
  send();
  let rest = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 9) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < 9 + length) break;
      const [kind, flags] = [rest[3], rest[4] ?? 0];
      if (kind === FRAME.settings && flags === 0) socket.write(frame(FRAME.settings, { flags: 1 }));
      if (kind === FRAME.reset || ((kind === FRAME.data || kind === FRAME.headers) && (flags & END_STREAM) !== 0))
        waiting--;
      rest = rest.subarray(9 + length);
    }
    if (waiting <= 0) send();
  });
}

function keep(order: FloodOrder, address: string): void {
  const socket = open(order, address, (it) => {
    if (order.kind === "handshakes") it.destroy();
    else if (order.kind === "http2") askHttp2(it, order);
    else askHttp1(it, order);
  });
  socket.on("error", () => {});
  socket.once("close", () => setTimeout(() => keep(order, address), AGAIN_MS));
}

function begin(order: FloodOrder): void {
  for (const address of order.addresses) for (let i = 0; i < order.connections; i++) keep(order, address);
}

/** The service of the attacked lease. */
const service = createServer((request, response) => {
  if (request.url !== "/never") response.end("cheap");
});
service.listen(0, "127.0.0.1", () => {
  const address = service.address();
  console.log(typeof address === "object" ? address?.port : 0);
});
createInterface({ input: process.stdin }).on("line", (line) => begin(JSON.parse(line) as FloodOrder));
