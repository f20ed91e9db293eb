import type { WebSocket } from "ws";
import { LineQueue } from "../../shared/index.ts";
import { type ApiFailure, failureOf, unreachable } from "./failure.ts";
import { jsonOf, openSocket, type SocketOptions } from "./socket.ts";
import type { SocketTarget } from "./transport.ts";

/** Streams of a command in a container: its output, its input, and its end. */
export interface Channels {
  readonly output: AsyncIterable<{ readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }>;
  /** Resolves after the last output; rejects where the connection went first. */
  readonly exitCode: Promise<number>;
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  resize(width: number, height: number): void;
  /** Cuts the connection. */
  close(): void;
}

/** The protocol whose input can end while its output continues. */
const PROTOCOL = "v5.channel.k8s.io";
/** First byte of every message. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
/** Bytes of one sent message. */
const PIECE = 32 << 10;
/** Bytes of output that wait for the reader, and the overhead of each piece. */
const MAX_HELD = 1 << 20;
const PIECE_COST = 2_048;
/** Exit codes by which shells tell why a command was not started. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

export interface ChannelOptions extends SocketOptions {
  readonly stdin: boolean;
}

export async function openChannels(target: SocketTarget, options: ChannelOptions): Promise<Channels> {
  return new SocketChannels(await openSocket(target, PROTOCOL, options), options.stdin);
}

type Output = { readonly stream: "stdout" | "stderr"; readonly data: Uint8Array };

class SocketChannels implements Channels {
  readonly output: AsyncIterable<Output>;
  readonly exitCode: Promise<number>;
  readonly #socket: WebSocket;
  readonly #queue = new LineQueue<Output>(({ data }) => data.length);
  #isInputOver: boolean;
  /** Size of the waiting output, in bytes. */
  #held = 0;
  #outcome: number | ApiFailure | undefined;

  constructor(socket: WebSocket, stdin: boolean) {
    this.#socket = socket;
    this.#isInputOver = !stdin;
    this.output = this.#taken();
    socket.on("message", (data: Buffer) => this.#take(data));
    this.exitCode = new Promise((resolve, reject) => {
      let failure: unknown;
      socket.on("error", (error) => {
        failure ??= error;
      });
      socket.once("close", () => {
        this.#queue.end();
        const outcome = this.#outcome ?? unreachable(failure ?? new Error("the connection to the command was cut"));
        if (typeof outcome === "number") resolve(outcome);
        else reject(outcome);
      });
    });
    // A caller that never asks for the code must not bring the process down.
    this.exitCode.catch(() => {});
  }

  async write(data: Uint8Array): Promise<void> {
    for (let at = 0; at < data.length; at += PIECE) await this.#send(CHANNEL.stdin, data.subarray(at, at + PIECE));
  }

  endInput(): void {
    if (this.#isInputOver) return;
    void this.#send(CHANNEL.close, Uint8Array.of(CHANNEL.stdin));
    this.#isInputOver = true;
  }

  resize(width: number, height: number): void {
    void this.#send(CHANNEL.resize, Buffer.from(JSON.stringify({ Width: width, Height: height })));
  }

  close(): void {
    this.#socket.terminate();
    // The reader may have gone.
    this.#queue.end();
  }

  /** Resolves when the message has been sent, or when its reader is gone. */
  #send(channel: number, data: Uint8Array): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN || (this.#isInputOver && channel === CHANNEL.stdin)) {
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#socket.send(Buffer.concat([Uint8Array.of(channel), data]), () => resolve()));
  }

  #take(message: Buffer): void {
    const data = message.subarray(1);
    const [channel] = message;
    if (channel === CHANNEL.error) this.#outcome = this.#outcomeOf(data.toString("utf8"));
    else if (channel === CHANNEL.stdout) this.#pass("stdout", data);
    else if (channel === CHANNEL.stderr) this.#pass("stderr", data);
  }

  #pass(stream: Output["stream"], data: Uint8Array): void {
    if (data.length === 0) return;
    this.#held += costOf(data);
    if (this.#held > MAX_HELD) this.#socket.pause();
    void this.#queue.push({ stream, data });
  }

  /** Nothing more is read from the server while the reader is behind. */
  async *#taken(): AsyncGenerator<Output> {
    for await (const output of this.#queue) {
      this.#held -= costOf(output.data);
      if (this.#held <= MAX_HELD) this.#socket.resume();
      yield output;
    }
  }

  /** A command that could not be started is reported as shells do it: one line, and their exit code. */
  #outcomeOf(text: string): number | ApiFailure {
    const outcome = outcomeOf(text);
    if (typeof outcome === "number") return outcome;
    const code = startCode(outcome.message);
    if (code === undefined) return outcome;
    this.#pass("stderr", Buffer.from(`${outcome.message}\n`));
    return code;
  }
}

function costOf({ length }: Uint8Array): number {
  return length + PIECE_COST;
}

interface Outcome {
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly code?: unknown;
  readonly details?: { readonly causes?: readonly { readonly reason?: unknown; readonly message?: unknown }[] };
}

function outcomeOf(text: string): number | ApiFailure {
  const account: Outcome = Object(jsonOf(text));
  if (account.status === "Success") return 0;
  const causes = Array.isArray(account.details?.causes) ? account.details.causes : [];
  const exit = causes.find((cause) => cause?.reason === "ExitCode")?.message;
  if (account.reason === "NonZeroExitCode" && typeof exit === "string" && /^\d{1,3}$/.test(exit)) return Number(exit);
  return failureOf(typeof account.code === "number" ? account.code : 500, account, text);
}

/** The code of shells for a command that container runtimes could not start. */
function startCode(message: string): number | undefined {
  if (/executable file not found|no such file or directory/i.test(message)) return NOT_FOUND;
  return /permission denied|exec format error/i.test(message) ? NOT_RUNNABLE : undefined;
}
