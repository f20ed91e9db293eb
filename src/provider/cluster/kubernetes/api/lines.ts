import type { Readable } from "node:stream";
import { ApiFailure } from "./failure.ts";

const NEWLINE = 0x0a;

/** The lines of a stream as the reader takes them; one that is longer than the most ends the stream with a failure. */
export async function* readLines(stream: Readable, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) throw new ApiFailure("refused", `a line of more than ${maxBytes} bytes`);
    parts.push(part);
  };
  for await (const chunk of stream) {
    const data: Buffer = chunk;
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end >= 0; end = data.indexOf(NEWLINE, start)) {
      take(data.subarray(start, end));
      yield Buffer.concat(parts).toString("utf8");
      parts = [];
      bytes = 0;
      start = end + 1;
    }
    if (start < data.length) take(data.subarray(start));
  }
  if (bytes > 0) yield Buffer.concat(parts).toString("utf8");
}
