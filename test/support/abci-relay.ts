import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { FrameReader, frameHead } from "../../src/engine/cometbft/abci/frames.ts";
import { type Request, RequestSchema, ResponseSchema } from "../../src/wire/gen/comet/v1/app_pb.js";
import type { Fixture } from "./fixture.ts";

export type AbciCall = NonNullable<Request["value"]["case"]>;

/** A moment of a call: before the application has it, or when the engine would get the answer. */
export interface AbciMoment {
  readonly call: AbciCall;
  readonly when: "request" | "answer";
}

const NO_LIMIT = (): number => 2 ** 30;

/** Between an engine and its application, on two ports of loopback; it stops at a moment. */
export class AbciRelay {
  readonly #ports: { readonly engine: number; readonly application: number };
  readonly #sockets = new Set<Socket>();
  #stop: { readonly moment: AbciMoment; readonly reached: () => void } | undefined;
  #isStopped = false;

  private constructor(ports: { readonly engine: number; readonly application: number }) {
    this.#ports = ports;
  }

  static async open(fixture: Fixture, ports: { readonly engine: number; readonly application: number }) {
    const relay = new AbciRelay(ports);
    const server = createServer((socket) => relay.#accept(socket));
    await once(server.listen(ports.engine, "127.0.0.1"), "listening");
    fixture.defer(() => {
      relay.breakOff();
      server.close();
    });
    return relay;
  }

  /** Passes nothing on from that moment; resolves there. */
  stopAt(moment: AbciMoment): Promise<void> {
    return new Promise((resolve) => {
      this.#stop = { moment, reached: resolve };
    });
  }

  /** Ends all connections; later ones are passed on again. */
  breakOff(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#isStopped = false;
  }

  #accept(engine: Socket): void {
    const application = connect(this.#ports.application, "127.0.0.1");
    for (const socket of [engine, application]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        engine.destroy();
        application.destroy();
      });
    }
    const callOf = (frame: Uint8Array) => fromBinary(RequestSchema, frame).value.case;
    const answerOf = (frame: Uint8Array) => fromBinary(ResponseSchema, frame).value.case;
    this.#pass(engine, application, (frame) => this.#isReached("request", callOf(frame)));
    this.#pass(application, engine, (frame) => this.#isReached("answer", answerOf(frame)));
  }

  #pass(from: Socket, to: Socket, isReached: (frame: Uint8Array) => boolean): void {
    const frames = new FrameReader(NO_LIMIT);
    from.on("data", (chunk) => {
      for (const frame of frames.push(chunk)) {
        if (this.#isStopped || isReached(frame)) return;
        to.write(frameHead(frame.length));
        to.write(frame);
      }
    });
  }

  #isReached(when: AbciMoment["when"], call: string | undefined): boolean {
    if (this.#stop?.moment.when !== when || this.#stop.moment.call !== call) return false;
    this.#isStopped = true;
    this.#stop.reached();
    this.#stop = undefined;
    return true;
  }
}
