import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Bytes that a parser gets at a time; a head in which they end is not cut. */
const PORTION_BYTES = 512;
/** The end of a request's head. */
const HEAD_END = "\r\n\r\n";

/** Number of requests in the latest data of each connection. */
const brought = new WeakMap<Socket, number>();

/** A request that counts, also where Node.js answers it by itself. */
export class CountedRequest extends IncomingMessage {
  constructor(socket: Socket) {
    super(socket);
    brought.set(socket, (brought.get(socket) ?? 0) + 1);
  }
}

/**
 * Parses the data of a connection in small portions, and ends a connection that sends too many requests at once. Node.js would make thousands
 * of requests of the 64 KiB that it reads, and keep them until it has read all connections. The server has to have the connection already,
 * and to make `CountedRequest`s.
 */
export function readInPortions(socket: Socket, mostRequests: number): void {
  if (!brought.has(socket)) cutData(socket);
  // With a listener for data, the parser of Node.js does not read the connection by itself.
  socket.on("data", () => {
    const isMany = (brought.get(socket) ?? 0) > mostRequests;
    if (isMany || socket.destroyed) socket.pause().destroy();
  });
}

function cutData(socket: Socket): void {
  const { push } = socket;
  brought.set(socket, 0);
  socket.push = (data: Buffer | null): boolean => {
    brought.set(socket, 0);
    if (data === null) return push.call(socket, null);
    let isWanted = true;
    for (let at = 0, end = 0; at < data.length && !socket.destroyed; at = end) {
      end = portionEnd(data, at);
      isWanted = push.call(socket, data.subarray(at, end));
    }
    return isWanted;
  };
}

function portionEnd(data: Buffer, from: number): number {
  const least = from + PORTION_BYTES;
  const end = least < data.length ? data.indexOf(HEAD_END, least - HEAD_END.length) : -1;
  return end < 0 ? data.length : end + HEAD_END.length;
}
