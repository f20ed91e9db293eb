import type { IncomingMessage, ServerResponse } from "node:http";
import type { Reading } from "../../util/index.ts";
import type { ByteBudget, HeldBytes } from "./byte-budget.ts";
import { Gathered } from "./gathered.ts";
import { forget } from "./lent-memory.ts";

/** What a body may take. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly sent: ByteBudget;
  readonly reading: Reading;
}

/**
 * The body's text; undefined when it is too large or the client has gone. Where a body comes in more than one part, it counts
 * among the requests of all clients, until it is answered.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBodyBytes: limit, sent, reading }: BodyLimits,
): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const gathered = new Gathered();
    let held: HeldBytes | undefined;
    let size = 0;
    const stop = (): void => {
      gathered.release();
      resolve(undefined);
    };
    request.on("data", (chunk: Buffer) => {
      reading.worked();
      size += chunk.length;
      // Most bodies come in one part, which does not count.
      if (size > chunk.length) held ??= heldUntilAnswered(response, sent);
      const isHeld = size > limit || held === undefined || held.add(chunk.length);
      if (!isHeld) response.destroy();
      else if (size > limit) stop();
      else gathered.add(chunk);
      // Nobody else has it: Node.js makes one of its own for each part of a body.
      forget(chunk);
    });
    request.on("end", () => resolve(gathered.bytes().toString("utf8")));
    request.on("close", stop);
  });
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

/** Headers of the answer to a body that is too large; the rest of the body is not read. */
export function cutOff(request: IncomingMessage, response: ServerResponse): { Connection: string } {
  response.once("finish", () => request.destroy());
  return { Connection: "close" };
}
