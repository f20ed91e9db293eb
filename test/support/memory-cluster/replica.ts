import { createServer, type Server } from "node:http";
import { type BackoffPolicy, restartDelay } from "../../../src/provider/cluster/shared/index.ts";
import type { ManifestService } from "../../../src/sdl/index.ts";
import { runProgram } from "./shell.ts";

export interface ReplicaCallbacks {
  readonly event: (type: "Normal" | "Warning", reason: string, note: string) => void;
  readonly log: (stream: "stdout" | "stderr", line: string) => void;
  /** It began or ceased to be ready. */
  readonly moved: () => void;
}

/** One simulated container: a real HTTP server on loopback per exposed TCP port, or a little script. */
export class MemoryReplica {
  readonly name: string;
  readonly index: number;
  /** Text that names what it was made from. */
  readonly config: string;
  readonly service: ManifestService;
  readonly #policy: BackoffPolicy;
  readonly #callbacks: ReplicaCallbacks;
  readonly #servers = new Map<number, Server>();
  #abort = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #removed = false;
  ready = false;
  /** Starts so far. */
  runs = 0;
  restarts = 0;
  error: string | undefined;

  constructor(
    service: ManifestService,
    index: number,
    options: { config: string; policy: BackoffPolicy; callbacks: ReplicaCallbacks },
  ) {
    this.service = service;
    this.index = index;
    this.name = `${service.name}-${index}`;
    this.config = options.config;
    this.#policy = options.policy;
    this.#callbacks = options.callbacks;
    this.#callbacks.event("Normal", "Created", `container of ${this.name} created`);
  }

  /** Aborted when the program ends. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get state(): string {
    if (this.ready) return "running";
    return this.error === undefined ? "starting" : "backoff";
  }

  async start(): Promise<void> {
    if (this.#removed) return;
    this.#abort = new AbortController();
    this.runs++;
    this.#callbacks.event("Normal", "Started", `${this.name} started`);
    if (this.service.command === null) await this.#serve();
    else void this.#script([...this.service.command, ...(this.service.args ?? [])]);
    this.ready = !this.#removed;
  }

  /** Address of a port, as a list of zero or one. */
  address(port: number): string[] {
    const address = this.#servers.get(port)?.address();
    return this.ready && typeof address === "object" && address !== null ? [`127.0.0.1:${address.port}`] : [];
  }

  /** Ends the program as a crash would. */
  crash(exitCode: number): void {
    if (this.ready) this.#exited(exitCode);
  }

  /** Ends the program and starts it, as its tenant asked. */
  async restart(): Promise<void> {
    if (!this.ready) return;
    this.#callbacks.event("Normal", "Restarting", `${this.name} restarts on request`);
    this.#halt();
    this.restarts++;
    await this.start();
  }

  remove(): void {
    this.#removed = true;
    clearTimeout(this.#timer);
    this.#halt();
  }

  async #serve(): Promise<void> {
    const ports = new Set(this.service.expose.filter((expose) => expose.proto === "TCP").map((expose) => expose.port));
    for (const port of ports) {
      const server = createServer((_request, response) => response.end(`hello from ${this.name}\n`));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      this.#servers.set(port, server);
    }
    if (this.#removed) this.#halt();
  }

  async #script(command: readonly string[]): Promise<void> {
    const env = new Map((this.service.env ?? []).map((entry) => entry.split("=", 2) as [string, string]));
    const { signal } = this.#abort;
    const write = (stream: "stdout" | "stderr", text: string) => {
      for (const line of text.replace(/\n$/, "").split("\n")) this.#callbacks.log(stream, line);
    };
    const code = await runProgram(command, { write, input: noInput(), env, signal });
    if (!signal.aborted) this.#exited(code);
  }

  #exited(exitCode: number): void {
    this.#halt();
    this.error = `${this.name}: the program ended with exit code ${exitCode}`;
    const delay = restartDelay(++this.#failures, this.#policy);
    this.#callbacks.moved();
    this.#callbacks.event("Warning", "Failed", this.error);
    this.#callbacks.event("Warning", "BackOff", `${this.name} restarts in ${Math.round(delay / 1000)} s`);
    this.#timer = setTimeout(() => {
      this.restarts++;
      void this.start().then(() => this.#callbacks.moved());
    }, delay);
    this.#timer.unref();
  }

  #halt(): void {
    this.ready = false;
    this.#abort.abort();
    for (const server of this.#servers.values()) {
      server.close();
      server.closeAllConnections();
    }
    this.#servers.clear();
  }
}

async function* noInput(): AsyncIterable<Uint8Array> {}
