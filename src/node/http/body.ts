import type { IncomingMessage, ServerResponse } from "node:http";

/** The body's text; undefined when it is too large or the client has gone. */
export function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(undefined);
    });
    request.on("end", () => {
      const [first] = chunks;
      resolve((chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)).toString("utf8"));
    });
    request.on("close", () => resolve(undefined));
  });
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
