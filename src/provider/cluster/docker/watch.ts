import { setTimeout as pause } from "node:timers/promises";
import { errorText } from "../../../util/index.ts";
import type { ContainerEvent } from "./api/api.ts";
import type { DriverContext } from "./context.ts";
import { LABEL } from "./labels.ts";

const RECONNECT_MS = { first: 250, max: 10_000 };

export interface WatchHandlers {
  /** The engine answers, for the first time or again. */
  connected(): Promise<void>;
  event(event: ContainerEvent): void;
}

/**
 * Keeps one event stream of the engine open, forever and with back-off; reports when the engine appears and
 * disappears.
 */
export class EngineWatch {
  readonly #context: DriverContext;
  readonly #handlers: WatchHandlers;
  readonly #stop = new AbortController();
  #wait = RECONNECT_MS.first;
  #running: Promise<void> = Promise.resolve();

  constructor(context: DriverContext, handlers: WatchHandlers) {
    this.#context = context;
    this.#handlers = handlers;
  }

  /** Resolves after the first attempt to connect, successful or not. */
  async start(): Promise<void> {
    const first = await this.#connect();
    this.#running = this.#run(first);
  }

  /** Resolves when nothing of it is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(first: boolean): Promise<void> {
    let connected = first;
    while (!this.#stop.signal.aborted) {
      if (connected) await this.#listen();
      else await this.#pause();
      if (!this.#stop.signal.aborted) connected = await this.#connect();
    }
  }

  async #connect(): Promise<boolean> {
    const { api, health } = this.#context;
    api.forgetInfo();
    try {
      health.up((await api.ping()).kind);
      await this.#handlers.connected();
      this.#wait = RECONNECT_MS.first;
      return true;
    } catch (error) {
      health.down(errorText(error));
      return false;
    }
  }

  async #listen(): Promise<void> {
    const { api, naming } = this.#context;
    try {
      const stream = await api.events({ [LABEL.home]: naming.prefix }, this.#stop.signal);
      let pending = "";
      for await (const chunk of stream) {
        const lines = (pending + String(chunk)).split("\n");
        pending = lines.pop() ?? "";
        for (const line of lines) this.#deliver(line);
        // Podman ends an event with a line end or not, depending on its version.
        if (pending.endsWith("}") && this.#deliver(pending)) pending = "";
      }
    } catch {
      // The next attempt to connect shows whether the engine is down or only ended the stream.
    }
    await this.#pause();
  }

  /** Tells whether the line was a whole event. */
  #deliver(line: string): boolean {
    const event = parseEvent(line);
    if (event !== undefined) this.#handlers.event(event);
    return event !== undefined;
  }

  #pause(): Promise<void> {
    const wait = this.#wait;
    this.#wait = Math.min(wait * 2, RECONNECT_MS.max);
    return pause(wait, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}

function parseEvent(line: string): ContainerEvent | undefined {
  if (line.trim() === "") return undefined;
  try {
    const event = JSON.parse(line) as { Action?: string; Actor?: { ID?: string; Attributes?: Record<string, string> } };
    const { Action: action, Actor: actor } = event;
    if (action === undefined || actor?.ID === undefined) return undefined;
    return { id: actor.ID, action, labels: actor.Attributes ?? {} };
  } catch {
    return undefined;
  }
}
