import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { errorText, keysOf, type Logger } from "../../util/index.ts";
import type { NodeConfig } from "../config.ts";
import { type FromServing, THREAD_WORD, type ThreadData, type ToServing } from "./entry.ts";
import { RESTART_MS, STEADY_MS, STOP_WITHIN_MS, THREAD_HEAP_MB } from "./limits.ts";
import { type BlockThread, errorOf, LinkServer } from "./link/link.ts";
import type { Addresses } from "./servers/index.ts";

export interface ServingHostParts {
  /** Start data of the thread. */
  readonly file: URL;
  readonly data: Omit<ThreadData, "role" | "link">;
  readonly logger: Logger;
}

/** Messages that conclude a start. */
type Heard = (message: FromServing | { readonly ended: Error }) => void;

/**
 * The serving thread as the block thread sees it: started, informed of blocks, and started again when it ends by
 * itself. Whatever happens to it, blocks continue.
 */
export class ServingHost {
  readonly #parts: ServingHostParts;
  #data: ServingHostParts["data"];
  #links: LinkServer[] = [];
  /** The link of a thread that began before the chain was open. */
  #early: MessagePort | undefined;
  #blockThread: BlockThread | undefined;
  #worker: Worker | undefined;
  #isStopped = false;
  #heard: Heard = () => {};
  #restart: NodeJS.Timeout | undefined;
  #restartMs: number = RESTART_MS.first;
  #startedAt = 0;

  constructor(parts: ServingHostParts) {
    this.#parts = parts;
    this.#data = parts.data;
  }

  /** Resolves when the thread has started. It does not listen yet. */
  async start(): Promise<void> {
    const ready = this.#hear((message) => message === "ready");
    this.#spawn();
    await ready;
  }

  /**
   * Begins to serve a chain; returns the addresses. Throws one sentence when it cannot. From then on the thread is kept
   * up.
   */
  async listen(blockThread: BlockThread): Promise<Addresses> {
    this.#blockThread = blockThread;
    if (this.#early !== undefined) this.#link(this.#early);
    const addresses = await this.#listen();
    // After a restart it takes the same ports.
    this.#data = { ...this.#data, config: atPorts(this.#data.config, addresses) };
    this.#keepUp();
    return addresses;
  }

  /** Informs the thread, and the threads that it started, of a durable block. */
  tell(height: bigint): void {
    this.#links = this.#links.filter(({ isClosed }) => !isClosed);
    for (const link of this.#links) link.tell(height);
  }

  /** Ends the thread in order, or after a while in any case. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker !== undefined) {
      const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      this.#tellServing("close");
      const late = setTimeout(() => void worker.terminate(), STOP_WITHIN_MS);
      await ended;
      clearTimeout(late);
    }
    for (const link of this.#links) link.close();
  }

  #keepUp(): void {
    this.#heard = (message) => {
      if (typeof message === "object" && "ended" in message) this.#startAgain(message.ended);
    };
  }

  async #listen(): Promise<Addresses> {
    const heard = this.#hear(
      (message) => typeof message === "object" && ("listening" in message || "refused" in message),
    );
    this.#tellServing("listen");
    const message = await heard;
    if (typeof message === "object" && "refused" in message) throw errorOf(message.refused);
    if (typeof message === "object" && "listening" in message) return message.listening;
    throw new Error("the serving thread sent an unexpected message");
  }

  /** Resolves with the first message of a kind. Rejects when the thread ends first. */
  #hear(isWanted: (message: FromServing) => boolean): Promise<FromServing> {
    return new Promise((resolve, reject) => {
      this.#heard = (message) => {
        if (typeof message === "object" && "ended" in message) reject(message.ended);
        else if (isWanted(message)) resolve(message);
      };
    });
  }

  #tellServing(message: ToServing): void {
    this.#worker?.postMessage(message);
  }

  #spawn(): void {
    const { port1, port2 } = new MessageChannel();
    this.#link(port1);
    this.#startedAt = performance.now();
    const worker = new Worker(this.#parts.file, {
      argv: [THREAD_WORD],
      workerData: { ...this.#data, role: "serving", link: port2 } satisfies ThreadData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    this.#worker = worker;
    let reason = new Error("the serving thread ended");
    worker.on("message", (message: FromServing) => this.#take(message));
    worker.on("error", (error) => {
      reason = error instanceof Error ? error : new Error(errorText(error));
    });
    worker.on("exit", () => {
      this.#worker = undefined;
      for (const link of this.#links.splice(0)) link.close();
      this.#heard({ ended: reason });
    });
  }

  #take(message: FromServing): void {
    if (typeof message === "object" && "log" in message) {
      const { level, message: text, fields } = message.log;
      this.#parts.logger[level](text, fields);
    } else if (typeof message === "object" && "link" in message) {
      this.#link(message.link);
    } else this.#heard(message);
  }

  #link(port: MessagePort): void {
    if (this.#blockThread === undefined) this.#early = port;
    else this.#links.push(new LinkServer(port, this.#blockThread));
  }

  #startAgain(error: Error): void {
    if (this.#isStopped) return;
    if (performance.now() - this.#startedAt > STEADY_MS) this.#restartMs = RESTART_MS.first;
    const logger = this.#parts.logger.child({ module: "serving" });
    logger.error("the serving thread ended and is restarted", { error, "in-ms": this.#restartMs });
    this.#restart = setTimeout(() => void this.#tryAgain(), this.#restartMs);
    this.#restartMs = Math.min(this.#restartMs * 2, RESTART_MS.most);
  }

  /** Never rejects. */
  async #tryAgain(): Promise<void> {
    try {
      await this.start();
      await this.#listen();
      this.#keepUp();
    } catch (error) {
      await this.#worker?.terminate();
      this.#startAgain(error instanceof Error ? error : new Error(errorText(error)));
    }
  }
}

/** The settings with the ports that were chosen. */
function atPorts(config: NodeConfig, addresses: Addresses): NodeConfig {
  const servers = keysOf(addresses).map((key) => [key, { ...config[key], port: addresses[key]?.port }]);
  return { ...config, ...Object.fromEntries(servers) };
}
