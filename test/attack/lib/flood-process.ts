import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import { END_STREAM, endsStream, FRAME, frame, onFrames, requestHeaders, settings, streams } from "./http2.ts";
import { Served } from "./served.ts";

/**
 * The clients of a flood, and the replica of the attacked lease, in a process of their own: they must not keep the newcomer of a test
 * waiting. It says on which port the replica answers, begins with the orders that come as lines of JSON, answers questions that come so,
 * and ends with who started it.
 */

/** Behaviour of a flood's connections. */
export type FloodKind =
  /** Requests of HTTP/1, several at a time. */
  | "http1"
  /** The same as streams of HTTP/2, always with TLS. */
  | "http2"
  /** Leave as soon as they are connected. */
  | "handshakes"
  /** Bodies in parts of one byte, over HTTP/1 and HTTP/2. */
  | "parts"
  | "parts of http2"
  /** Frames of a few bytes over websockets, in both directions. */
  | "websockets";

export interface FloodOrder {
  readonly port: number;
  readonly kind: FloodKind;
  readonly isSecure: boolean;
  readonly host: string;
  readonly path: string;
  readonly addresses: readonly string[];
  /** Connections of each address. */
  readonly connections: number;
  /** That a connection asks for at a time. */
  readonly requests: number;
  /** Bytes of a round of large answers: 64 KiB unless given. */
  readonly roundBytes?: number;
}

/** Asks what the flood was served between two moments of `clockMs`. */
export interface FloodQuestion {
  readonly from: number;
  readonly to: number;
}

export interface FloodState {
  /** In rounds: in one, a connection gets all that it asks for at a time. */
  readonly served: number;
  /** Connections that were let in so far. */
  readonly begun: number;
}

const served = new Served();
let begun = 0;

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** So that a refused client does not come back faster than a process can. */
const AGAIN_MS = 20;
/** One byte in a chunk of its own. */
const CHUNK = "1\r\nx\r\n";
const MANY_CHUNKS = Buffer.from(CHUNK.repeat(10_000));
/** A text of one letter (RFC 6455 section 5.2), masked. */
const SMALL_FRAME = Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x41]);
const SMALL_EVERY_MS = 5;
/** Maximum frames read of one connection at a time. */
const FRAMES_AT_A_TIME = 8;
/** Bytes read of a connection at a time. */
const READ_BYTES = 64 << 10;

/** A connection before its first request. */
function connectTo(
  { port, kind, isSecure, host }: FloodOrder,
  localAddress: string,
  ready: (socket: Socket) => void,
): Socket {
  const place = { host: "127.0.0.1", port, localAddress };
  if (!isSecure) {
    const socket = connect(place, () => ready(socket));
    return socket;
  }
  // The certificate does not matter to who only wants to make work.
  const options = { servername: host, ALPNProtocols: [isHttp2(kind) ? "h2" : "http/1.1"], rejectUnauthorized: false };
  const socket = connectTls({ ...place, ...options }, () => ready(socket));
  return socket;
}

const isHttp2 = (kind: FloodKind) => kind === "http2" || kind === "parts of http2";

/** Counts answers of HTTP/1. */
function answersIn(data: Buffer): number {
  return data.toString("latin1").split("HTTP/1.1 ").length - 1;
}

/** Sends all requests at once, and again whenever the last is answered. */
function askHttp1(socket: Socket, { host, path, requests, roundBytes = READ_BYTES }: FloodOrder): void {
  const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(requests);
  let waiting = requests;
  socket.write(text);
  socket.on("data", (data: Buffer) => {
    const answered = answersIn(data);
    waiting -= answered;
    served.add(answered / requests + data.length / roundBytes);
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
  onFrames(socket, (kind, flags) => {
    if (kind === FRAME.settings && flags === 0) socket.write(frame(FRAME.settings, { flags: 1 }));
    if (!endsStream(kind, flags)) return;
    served.add(1 / requests);
    if (--waiting === 0) send();
  });
}

/** Bodies in parts of one byte; each ends before it would be too large, and the next follows. */
function sendParts(socket: Socket, { host, path }: FloodOrder): void {
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const text = Buffer.concat([Buffer.from(head), MANY_CHUNKS, Buffer.from("0\r\n\r\n")]);
  socket.on("data", (data: Buffer) => served.add(answersIn(data)));
  repeat(socket, () => text);
}

/** As many streams as one connection may have, and the window that it begins with. */
function sendPartsOfHttp2(socket: Socket, { host, path }: FloodOrder): void {
  const block = requestHeaders(host, path);
  socket.write(Buffer.concat([PREFACE, settings(), frame(FRAME.settings, { flags: 1 })]));
  onFrames(socket, (kind, flags) => {
    if (endsStream(kind, flags)) served.add(1);
  });
  let stream = -1;
  repeat(socket, () => {
    stream += 2;
    const part = frame(FRAME.data, { stream, payload: Buffer.of(0) });
    const last = frame(FRAME.data, { stream, flags: END_STREAM });
    return Buffer.concat([
      frame(FRAME.headers, { stream, flags: 4, payload: block }),
      ...Array(3_000).fill(part),
      last,
    ]);
  });
}

/** Writes as fast as the other end reads, one part after the other, so that the flood can be asked meanwhile. */
function repeat(socket: Socket, next: () => Buffer): void {
  const more = (): void => {
    if (!socket.destroyed) socket.write(next(), () => setImmediate(more));
  };
  socket.resume();
  more();
}

function sendFrames(socket: Socket, { host, path }: FloodOrder): void {
  const key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13";
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n\r\n`);
  socket.once("data", () => sendOften(socket)).on("data", () => served.add(1 / FRAMES_AT_A_TIME));
}

function sendOften(socket: Socket): void {
  const timer = setInterval(() => socket.write(SMALL_FRAME), SMALL_EVERY_MS);
  socket.once("close", () => clearInterval(timer));
}

function keep(order: FloodOrder, address: string): void {
  const begin: Readonly<Record<FloodKind, (socket: Socket, order: FloodOrder) => void>> = {
    http1: askHttp1,
    http2: askHttp2,
    handshakes: (it) => it.destroy(),
    parts: sendParts,
    "parts of http2": sendPartsOfHttp2,
    websockets: sendFrames,
  };
  let isOpen = false;
  const socket = connectTo(order, address, (it) => {
    begun += 1;
    isOpen = true;
    begin[order.kind](it, order);
  });
  socket.on("error", () => {});
  socket.once("close", () => {
    // To be closed, too, is all that some get; one that was refused got nothing.
    if (isOpen) served.add(1);
    setTimeout(() => keep(order, address), AGAIN_MS);
  });
}

function begin(order: FloodOrder): void {
  for (const address of order.addresses) for (let i = 0; i < order.connections; i++) keep(order, address);
}

const OK = "HTTP/1.1 200 OK\r\n";
const CHEAP = Buffer.from(`${OK}Content-Length: 5\r\n\r\ncheap`);
const BIG = Buffer.concat([Buffer.from(`${OK}Content-Length: ${1 << 20}\r\n\r\n`), Buffer.alloc(1 << 20)]);

/** Answers of the attacked lease, by path. */
const ANSWERS: Readonly<Record<string, (socket: Socket) => void>> = {
  "/cheap": (socket) => socket.write(CHEAP),
  "/big": (socket) => socket.write(BIG),
  "/never": () => {},
  "/slow": (socket) => setTimeout(() => socket.write(CHEAP), 100),
  "/bytes": (socket) => {
    socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
    repeat(socket, () => MANY_CHUNKS);
  },
  "/informations": (socket) => repeat(socket, () => Buffer.from("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000))),
  "/headers": (socket) => {
    socket.write(OK);
    repeat(socket, () => Buffer.from("X-Header: value\r\n".repeat(1_000)));
  },
  "/frames": (socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    sendOften(socket);
  },
};

const replica = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (data: Buffer) => {
    for (const [, path = ""] of data.toString("latin1").matchAll(/^(?:GET|POST) (\S+) HTTP/gm)) ANSWERS[path]?.(socket);
  });
});
replica.listen(0, "127.0.0.1", () => {
  const address = replica.address();
  console.log(typeof address === "object" ? address?.port : 0);
});

function answer({ from, to }: FloodQuestion): void {
  const state: FloodState = { served: served.between(from, to), begun };
  console.log(JSON.stringify(state));
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const asked = JSON.parse(line) as FloodOrder | FloodQuestion;
    if ("kind" in asked) begin(asked);
    else answer(asked);
  })
  // A test that was stopped leaves no flood behind.
  .on("close", () => process.exit());
