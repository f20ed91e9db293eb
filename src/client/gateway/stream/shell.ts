import * as v from "valibot";
import { concatBytes, fromUtf8 } from "../../../util/index.ts";
import { gatewayClientErrors } from "../errors.ts";
import type { GatewaySocket } from "./feed.ts";

/** First byte of the binary messages of a shell. */
const FRAME = { stdout: 100, stderr: 101, result: 102, failure: 103, stdin: 104, resize: 105 } as const;

/** Input is sent in chunks small enough for the provider. */
const MAX_INPUT = 32 << 10;

/** A piece of a command's output. */
export interface ShellOutput {
  readonly stream: "stdout" | "stderr";
  readonly data: Uint8Array;
}

/** How a command ended. */
export interface ShellResult {
  readonly exitCode: number;
  /** Why the command could not be run; empty if it ran. */
  readonly message: string;
}

const resultSchema = v.object({ exit_code: v.pipe(v.number(), v.integer()), message: v.optional(v.string(), "") });

/** A command that runs in a replica. Output must be read to its end before the result is available. */
export class ShellSession {
  readonly #socket: GatewaySocket;
  #result: ShellResult | undefined;

  /** @internal `GatewayClient.shell` makes sessions. */
  constructor(socket: GatewaySocket) {
    this.#socket = socket;
  }

  /** Output of the command, until it ends. */
  async *output(): AsyncGenerator<ShellOutput> {
    for await (const message of this.#socket.messages()) {
      const data = message.subarray(1);
      if (message[0] === FRAME.stdout) yield { stream: "stdout", data };
      if (message[0] === FRAME.stderr) yield { stream: "stderr", data };
      if (message[0] === FRAME.result) this.#result = readResult(data);
    }
  }

  /** How the command ended; throws if the provider did not say. */
  result(): ShellResult {
    if (this.#result !== undefined) return this.#result;
    throw this.#socket.end ?? gatewayClientErrors.ended("the command is still running");
  }

  /** Standard input of the command. */
  write(data: Uint8Array): void {
    for (let at = 0; at < data.length; at += MAX_INPUT) this.#send(FRAME.stdin, data.subarray(at, at + MAX_INPUT));
  }

  /** Closes the command's input. */
  endInput(): void {
    this.#send(FRAME.stdin, new Uint8Array());
  }

  /** Size of the terminal in characters. */
  resize(width: number, height: number): void {
    const size = new Uint8Array(4);
    const view = new DataView(size.buffer);
    view.setUint16(0, Math.min(width, 0xffff));
    view.setUint16(2, Math.min(height, 0xffff));
    this.#send(FRAME.resize, size);
  }

  /** Ends the command. */
  close(): void {
    this.#socket.close();
  }

  #send(type: number, data: Uint8Array): void {
    this.#socket.send(concatBytes(Uint8Array.of(type), data));
  }
}

function readResult(data: Uint8Array): ShellResult {
  try {
    const { exit_code: exitCode, message } = v.parse(resultSchema, JSON.parse(fromUtf8(data)));
    return { exitCode, message };
  } catch (cause) {
    throw gatewayClientErrors.badAnswer("result of the command", { cause });
  }
}
