import type { IncomingMessage, ServerResponse } from "node:http";
import type { ByteBudget, HeldBytes } from "./byte-budget.ts";
import { MAX_BODY_PARTS, PART_BYTES } from "./limits.ts";

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly sent: ByteBudget;
}

/**
 * The body's text; undefined when it is too large or the client has gone. A body that comes in more than one part counts among the
 * requests of all clients until it is answered.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes: limit, sent }: BodyLimits,
): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let held: HeldBytes | undefined;
    let size = 0;
    const stop = (): void => {
      parts.length = 0;
      resolve(undefined);
    };
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Most bodies come in one part, which does not count.
      if (size > chunk.length) held ??= heldUntilAnswered(response, sent);
      const isHeld = size > limit || held === undefined || held.add(chunk.length + PART_BYTES);
      if (!isHeld || parts.length >= MAX_BODY_PARTS) response.destroy();
      else if (size > limit) stop();
      else parts.push(ownBytes(chunk));
    });
    request.on("end", () => resolve(Buffer.concat(parts, size).toString("utf8")));
    request.on("close", stop);
  });
}

/** Parts larger than this are kept as they were read. */
const LARGE_BYTES = 16 * 1024;

/** A small part, copied: it would keep the whole block of memory that the connection was read into. */
export function ownBytes(part: Buffer): Buffer {
  return part.length < LARGE_BYTES ? Buffer.from(part) : part;
}

function heldUntilAnswered(response: ServerResponse, sent: ByteBudget): HeldBytes {
  const held = sent.begin(() => response.destroy());
  if (response.destroyed) held.release();
  else response.on("close", () => held.release());
  return held;
}

/** The sentence that refuses a compressed body: its contents could be a thousand times as large. */
export function encodingRefusal(request: IncomingMessage): string | undefined {
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return undefined;
  return `content encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported`;
}
