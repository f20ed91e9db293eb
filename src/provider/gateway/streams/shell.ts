import type { LeaseKey } from "../../../wire/index.ts";
import type { ExecSession } from "../../cluster/index.ts";
import type { LeaseService } from "../../leases/index.ts";
import { toFailure } from "../errors.ts";
import type { ShellParameters } from "../parameters.ts";
import { failureFrame, outputFrames, readInput, resultFrame } from "./frames.ts";
import { CLOSE, type GatewayStream } from "./stream.ts";

/** Exit code of a command that was never started. */
const NOT_STARTED = 126;

/** Messages that may wait for the command to start, or to read them, before the client has to wait. */
const MAX_UNREAD = 16;

/** Runs a command in a replica over an open stream; the command ends with the stream. */
export async function runShell(
  stream: GatewayStream,
  leases: LeaseService,
  target: { readonly lease: LeaseKey; readonly parameters: ShellParameters },
): Promise<void> {
  const inputs = new Inputs(stream);
  const session = await open(stream, leases, target);
  if (session === undefined) return inputs.drop();
  const kill = () => session.kill();
  stream.signal.addEventListener("abort", kill, { once: true });
  if (stream.signal.aborted) session.kill();
  inputs.connect(session, target.parameters.stdin);
  try {
    for await (const { stream: name, data } of session.output) {
      for (const frame of outputFrames(name, data)) await stream.send(frame);
    }
    await stream.send(resultFrame(await session.exitCode));
    stream.end(CLOSE.done);
  } catch (error) {
    session.kill();
    if (stream.signal.aborted) return;
    await stream.send(failureFrame()).catch(() => {});
    stream.fail(error);
  } finally {
    stream.signal.removeEventListener("abort", kill);
  }
}

async function open(
  stream: GatewayStream,
  leases: LeaseService,
  { lease, parameters }: { readonly lease: LeaseKey; readonly parameters: ShellParameters },
): Promise<ExecSession | undefined> {
  try {
    return await leases.exec(lease, parameters);
  } catch (error) {
    await stream.send(resultFrame(NOT_STARTED, toFailure(error).body.message)).catch(() => {});
    stream.fail(error);
    return undefined;
  }
}

/** The client's input, kept while the command is being started or does not read. */
class Inputs {
  readonly #socket: GatewayStream["socket"];
  readonly #sizes = new Sizes();
  #unread = 0;
  #early: Uint8Array[] = [];
  #ended = false;
  #take: ((message: Uint8Array) => void) | undefined;

  constructor(stream: GatewayStream) {
    this.#socket = stream.socket;
    stream.socket.on("message", (message, isBinary) => {
      if (!isBinary || !(message instanceof Buffer)) return stream.end(1003, "binary messages only");
      if (this.#take !== undefined) return this.#take(message);
      if (this.#early.push(message) >= MAX_UNREAD) this.#socket.pause();
    });
  }

  connect(session: ExecSession, stdin: boolean): void {
    this.#take = (message) => {
      const input = readInput(message);
      if (input?.kind === "resize") this.#sizes.set(session, input);
      // Data after the end of the input would be an error of the command's stream, and end the command.
      if (input?.kind !== "stdin" || !stdin || this.#ended) return;
      this.#ended = input.data.length === 0;
      if (this.#ended) session.endInput();
      else void this.#write(session, input.data);
    };
    for (const message of this.#early.splice(0)) this.#take(message);
    if (this.#unread < MAX_UNREAD) this.#socket.resume();
  }

  /** Discards input; the client's answer to the end of the stream still has to be read. */
  drop(): void {
    this.#take = () => {};
    this.#early = [];
    this.#socket.resume();
  }

  async #write(session: ExecSession, data: Uint8Array): Promise<void> {
    this.#unread += 1;
    if (this.#unread >= MAX_UNREAD) this.#socket.pause();
    await session.write(data);
    this.#unread -= 1;
    if (this.#unread < MAX_UNREAD) this.#socket.resume();
  }
}

type Size = Parameters<ExecSession["resize"]>;

/**
 * Terminal sizes: each is a request to the engine, so one is set at a time, and only the last of newer ones follows.
 */
class Sizes {
  #next: Size | undefined;
  #isSetting = false;

  set(session: ExecSession, { width, height }: { readonly width: number; readonly height: number }): void {
    this.#next = [width, height];
    if (!this.#isSetting) void this.#setAll(session);
  }

  async #setAll(session: ExecSession): Promise<void> {
    this.#isSetting = true;
    for (let size = this.#take(); size !== undefined; size = this.#take()) {
      await session.resize(...size).catch(() => {});
    }
    this.#isSetting = false;
  }

  #take(): Size | undefined {
    const size = this.#next;
    this.#next = undefined;
    return size;
  }
}
