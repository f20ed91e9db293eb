import type { Socket } from "node:net";
import { type Door, openSocket } from "./sockets.ts";

/** Kinds of frames of HTTP/2 (RFC 9113, section 6). */
export const FRAME = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, window: 8, more: 9 } as const;
export const END_STREAM = 1;
const FLAG = { none: 0, endStream: END_STREAM, endHeaders: 4 } as const;

interface FrameParts {
  readonly stream?: number;
  readonly flags?: number;
  readonly payload?: Uint8Array;
}

export function frame(kind: number, parts: FrameParts = {}): Buffer {
  const { stream = 0, flags = FLAG.none, payload = new Uint8Array(0) } = parts;
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = kind;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** A setting of the connection: its number (RFC 9113, section 6.5.2) and its value. */
export function settings(...pairs: readonly (readonly [number: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length);
  pairs.forEach(([number, value], i) => {
    payload.writeUInt16BE(number, 6 * i);
    payload.writeUInt32BE(value, 6 * i + 2);
  });
  return frame(FRAME.settings, { payload });
}

/** A connection of HTTP/2 that sends only the given bytes, and discards the answers. */
export function openHttp2(door: Door, first: Uint8Array = settings()): Socket {
  const socket = openSocket(door, Buffer.concat([PREFACE, first]));
  socket.resume();
  return socket;
}

function text(value: string): Buffer {
  if (value.length > 126) throw new Error("this writes short texts only");
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
}

/** Where HPACK has the names that every call has, and the mark that they must not be remembered (RFC 7541, 6.2.2). */
const GET = 0x82;
const POST = 0x83;
const HTTP = 0x86;
const HTTPS = 0x87;
const AUTHORITY = Buffer.of(0x01);
const PATH = Buffer.of(0x04);
const CONTENT_TYPE = Buffer.of(0x0f, 0x10);

/** The headers of a call of gRPC, packed. */
export function callHeaders(path: string): Buffer {
  const named = [AUTHORITY, text("127.0.0.1"), PATH, text(path), CONTENT_TYPE, text("application/grpc")];
  return Buffer.concat([Buffer.of(POST, HTTP), ...named]);
}

/** The headers of a request over TLS without a body, packed. */
export function requestHeaders(host: string, path: string): Buffer {
  return Buffer.concat([Buffer.of(GET, HTTPS), AUTHORITY, text(host), PATH, text(path)]);
}

/** A header of a long value that the other side is to remember (RFC 7541, 6.2.1). */
export function remembered(name: string, value: string): Buffer {
  const length = value.length - 127;
  const parts: number[] = [];
  let rest = length;
  for (; rest >= 128; rest = Math.floor(rest / 128)) parts.push((rest % 128) + 128);
  parts.push(rest);
  return Buffer.concat([Buffer.of(0x40), text(name), Buffer.of(127, ...parts), Buffer.from(value)]);
}

/** The header that was remembered last, in one byte. */
export const AGAIN = Buffer.of(0xbe);

/** Begins a call whose body does not end. */
export function beginCall(stream: number, block: Uint8Array): Buffer {
  return frame(FRAME.headers, { stream, flags: FLAG.endHeaders, payload: block });
}

/** Headers that more headers follow. */
export function beginHeaders(stream: number, block: Uint8Array): Buffer {
  return frame(FRAME.headers, { stream, payload: block });
}

/** A whole call with this body. */
export function wholeCall(stream: number, block: Uint8Array, body: Uint8Array): Buffer {
  return Buffer.concat([beginCall(stream, block), frame(FRAME.data, { stream, flags: FLAG.endStream, payload: body })]);
}

export function resetStream(stream: number): Buffer {
  return frame(FRAME.reset, { stream, payload: Buffer.from([0, 0, 0, 8]) });
}

/** Numbers of the streams that a client opens. */
export function streams(count: number, first = 1): number[] {
  return Array.from({ length: count }, (_, i) => first + 2 * i);
}

/** Tells of each frame that comes. */
export function onFrames(socket: Socket, take: (kind: number, flags: number) => void): void {
  let rest = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 9) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < 9 + length) break;
      take(rest[3] ?? 0, rest[4] ?? 0);
      rest = rest.subarray(9 + length);
    }
  });
}

/** Whether a frame ends what the other side says in its stream. */
export function endsStream(kind: number, flags: number): boolean {
  return kind === FRAME.reset || ((kind === FRAME.data || kind === FRAME.headers) && (flags & END_STREAM) !== 0);
}
