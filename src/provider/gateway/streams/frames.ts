import { concatBytes, toUtf8 } from "../../../util/index.ts";

/** First byte of the binary messages of a shell. */
export const FRAME = { stdout: 100, stderr: 101, result: 102, failure: 103, stdin: 104, resize: 105 } as const;

/** Output longer than this goes in several messages. */
const MAX_OUTPUT = 32 << 10;

/** A message from the client of a shell; an empty `stdin` ends the input. */
export type ShellInput =
  | { readonly kind: "stdin"; readonly data: Uint8Array }
  | { readonly kind: "resize"; readonly width: number; readonly height: number };

/** Reads a message of the client; undefined if it is malformed. */
export function readInput(message: Uint8Array): ShellInput | undefined {
  const data = message.subarray(1);
  if (message[0] === FRAME.stdin) return { kind: "stdin", data };
  if (message[0] !== FRAME.resize || data.length !== 4) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [width, height] = [view.getUint16(0), view.getUint16(2)];
  return width === 0 || height === 0 ? undefined : { kind: "resize", width, height };
}

export function outputFrames(stream: "stdout" | "stderr", data: Uint8Array): Uint8Array[] {
  const count = Math.ceil(data.length / MAX_OUTPUT);
  return Array.from({ length: count }, (_, index) =>
    frame(FRAME[stream], data.subarray(index * MAX_OUTPUT, (index + 1) * MAX_OUTPUT)),
  );
}

/** The last message of a command that ended or, with a text, could not be started. */
export function resultFrame(exitCode: number, message = ""): Uint8Array {
  return frame(FRAME.result, toUtf8(JSON.stringify({ exit_code: exitCode, message })));
}

export function failureFrame(): Uint8Array {
  return frame(FRAME.failure, new Uint8Array());
}

function frame(type: number, data: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(type), data);
}
