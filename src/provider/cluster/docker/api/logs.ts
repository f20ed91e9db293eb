import { append } from "../../../../util/index.ts";
import type { EngineApi } from "./api.ts";
import { FrameReader } from "./frames.ts";

/** A line with the time the engine gave it, seconds since the epoch. */
export interface TimedLine {
  readonly time: number;
  readonly text: string;
}

/** Longer lines are delivered in pieces, so that one program cannot fill the memory. */
const MAX_LINE = 64 << 10;

/** Turns frames into lines. A program's two streams are separate: half a line of one does not mix with the other. */
export class LineReader {
  readonly #frames = new FrameReader();
  readonly #partial = { stdout: "", stderr: "" };

  push(chunk: Buffer): TimedLine[] {
    const lines: TimedLine[] = [];
    for (const { stream, data } of this.#frames.push(chunk)) {
      const parts = (this.#partial[stream] + data.toString("utf8")).split("\n");
      this.#partial[stream] = parts.pop() ?? "";
      if (this.#partial[stream].length > MAX_LINE) {
        parts.push(this.#partial[stream]);
        this.#partial[stream] = "";
      }
      append(lines, parts.map(timedLine));
    }
    return lines;
  }

  /** What was left without a line end. */
  end(): TimedLine[] {
    return [this.#partial.stdout, this.#partial.stderr].filter((text) => text !== "").map(timedLine);
  }
}

function timedLine(text: string): TimedLine {
  const match = /^(\d{4}-\d\d-\d\dT\S+) ?(.*)$/s.exec(text.replace(/\r$/, ""));
  const time = match?.[1] === undefined ? Number.NaN : Date.parse(match[1]) / 1000;
  return Number.isNaN(time) ? { time: 0, text } : { time, text: match?.[2] ?? "" };
}

/** The lines that a container has written so far; `tail` from the end, -1 for all. */
export async function readLines(api: EngineApi, id: string, tail: number): Promise<TimedLine[]> {
  const reader = new LineReader();
  const lines: TimedLine[] = [];
  for await (const chunk of await api.logs(id, { follow: false, tail })) append(lines, reader.push(chunk));
  append(lines, reader.end());
  return lines;
}

/** Last output of a container on one bounded line. */
export async function plainLogTail(api: EngineApi, id: string, tail: number): Promise<string> {
  const lines = await readLines(api, id, tail);
  return lines
    .map((line) => line.text)
    .join(" | ")
    .slice(-500);
}
