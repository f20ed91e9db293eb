import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { errorText, type Logger, makePrivateDirectory } from "../../../util/index.ts";
import { RequestSchema, ResponseSchema } from "../../../wire/gen/comet/v1/app_pb.js";
import { decodeStrictly, wireErrors } from "../../../wire/index.ts";
import type { AbciCalls } from "./calls.ts";
import { Refusal } from "./convert.ts";
import { FrameReader, frameHead } from "./frames.ts";
import { MAX_CONNECTIONS, MAX_UNREAD } from "./limits.ts";

export interface AbciServerParts {
  readonly calls: AbciCalls;
  readonly logger: Logger;
  /** Called once, for an error after which the application cannot go on. */
  readonly onFault: (error: unknown) => void;
}

/** A path of a unix socket, or a port of this machine. */
export type EnginePlace = { readonly path: string } | { readonly host: string; readonly port: number };

/** The socket of the application for one engine, whose calls are answered in their order. */
export class AbciServer {
  readonly #parts: AbciServerParts;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  #isClosed = false;

  constructor(parts: AbciServerParts) {
    this.#parts = parts;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** Listens; returns the port, or 0 for a unix socket, which only this user can open. */
  async listen(address: EnginePlace): Promise<number> {
    if ("path" in address) {
      makePrivateDirectory(dirname(address.path));
      rmSync(address.path, { force: true });
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(address, () => resolve());
    });
    if ("path" in address) chmodSync(address.path, 0o600);
    const bound = this.#server.address();
    return typeof bound === "object" && bound !== null ? bound.port : 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    if (this.#connections.size >= MAX_CONNECTIONS) {
      this.#parts.logger.warn("a second engine is refused: the first one has all connections");
      socket.destroy();
      return;
    }
    this.#connections.add(socket);
    const frames = new FrameReader(() => this.#parts.calls.frameLimit);
    socket.on("data", (chunk) => this.#take(socket, frames, chunk));
    socket.on("error", () => undefined);
    socket.on("close", () => this.#connections.delete(socket));
  }

  #take(socket: Socket, frames: FrameReader, chunk: Uint8Array): void {
    try {
      socket.cork();
      for (const frame of frames.push(chunk)) {
        const answer = this.#answer(frame);
        if (this.#isClosed) throw new Error("the application has ended");
        socket.write(frameHead(answer.length));
        socket.write(answer);
      }
    } catch (error) {
      this.#parts.logger.warn("a connection of the engine is closed", { error: errorText(error) });
      socket.destroy();
      return;
    } finally {
      socket.uncork();
    }
    if (socket.writableLength < MAX_UNREAD) return;
    socket.pause();
    socket.once("drain", () => socket.resume());
  }

  #answer(frame: Uint8Array): Uint8Array {
    const request = decodeStrictly(RequestSchema, frame, wireErrors.malformed);
    try {
      return encode(this.#parts.calls.answer(request));
    } catch (error) {
      this.#parts.logger.error("a call of the engine failed", { call: request.value.case, error });
      if (!(error instanceof Refusal)) this.#fail(error);
      return encode({ case: "exception", value: { error: errorText(error) } });
    }
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts.onFault(error);
  }
}

function encode(value: ReturnType<AbciCalls["answer"]>): Uint8Array {
  return toBinary(ResponseSchema, create(ResponseSchema, { value }));
}
