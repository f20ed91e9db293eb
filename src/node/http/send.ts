import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { endAfterBody } from "../../util/servers/index.ts";
import type { ByteBudget } from "./byte-budget.ts";

/**
 * Resolves when all requests that have come in are read: their answers go out one after the other, and wake a client with many
 * connections once.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const type = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  response.writeHead(status, { ...type, "Content-Length": Buffer.byteLength(text), ...headers });
  response.end(text);
}

export function sendEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { ...headers, "Content-Length": 0 });
  response.end();
}

/** Refuses a body that is too large; the rest of it is dropped, and the connection closed. */
export function sendTooLarge(response: ServerResponse, text: string, type = "text/plain; charset=utf-8"): void {
  const headers = { "Content-Type": type, "X-Content-Type-Options": "nosniff", Connection: "close" };
  response.writeHead(413, { ...headers, "Content-Length": Buffer.byteLength(text) });
  endAfterBody(response, text);
}

/** The bounds of answers that clients have not read. */
export interface ReadLimits {
  readonly unread: ByteBudget;
  /** Time within which a client must have read an answer. */
  readonly readWithinMs: number;
}

/**
 * Sends an answer, counts it until its client has read it, and disconnects a client that reads too slowly. Unread
 * answers of all clients share a limit; beyond it, the client that has been reading longest is disconnected. Returns
 * false, and sends nothing, if even then there is no room, or the client has gone.
 */
export function sendHeld(
  response: ServerResponse,
  { bytes, send }: { readonly bytes: number; readonly send: () => void },
  { unread, readWithinMs }: ReadLimits,
): boolean {
  // No later event would report that its client has gone.
  if (response.destroyed) return false;
  const release = unread.hold(bytes, () => response.destroy());
  if (release === undefined) return false;
  send();
  // The system took all of it at once, as it does with almost every answer.
  if (response.writableLength === 0) release();
  else holdUntilRead(response, release, readWithinMs);
  return true;
}

function holdUntilRead(response: ServerResponse, release: () => void, readWithinMs: number): void {
  const deadline = setTimeout(() => response.destroy(), readWithinMs);
  response.on("close", () => {
    clearTimeout(deadline);
    release();
  });
}
