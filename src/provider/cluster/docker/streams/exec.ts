import { once } from "node:events";
import { readlink } from "node:fs/promises";
import { clusterErrors, type ExecRequest, type ExecSession, replicaName } from "../../contract/index.ts";
import { LineQueue } from "../../shared/index.ts";
import type { ExecHandle, ExecState } from "../api/api.ts";
import { FrameReader } from "../api/frames.ts";
import type { DriverContext } from "../context.ts";
import type { Lease } from "../lease/lease.ts";
import type { Observed } from "../replica/observe.ts";
import { type Output, StartWords } from "./exec-start.ts";

/** The engine reports the exit code a moment after the stream ended, and a process a moment after the stream began. */
const POLL = { attempts: 50, wait: 50 };

/** Starts a command in a running replica. */
export async function openExec(context: DriverContext, lease: Lease, request: ExecRequest): Promise<ExecSession> {
  if (request.command.length === 0) throw clusterErrors.unsupported("no command to run");
  const unit = runningReplica(lease, request);
  const handle = await context.api.exec(unit.id, request);
  return new EngineExec(handle, unit.pid, request);
}

function runningReplica(lease: Lease, request: ExecRequest): Observed {
  const { state } = lease;
  const service = lease.spec.group.services.find((entry) => entry.name === request.service);
  if (service === undefined) {
    const names = lease.spec.group.services.map((entry) => entry.name).join(", ");
    throw clusterErrors.noReplica(`service "${request.service}" is not in the lease, it has ${names}`);
  }
  const units = state.units.filter(
    (unit) => unit.service === request.service && unit.index === request.replica && unit.running,
  );
  const unit = units.find((entry) => state.historyOf(entry).ready) ?? units[0];
  if (unit === undefined) throw clusterErrors.noReplica(replicaName(request.service, request.replica));
  return unit;
}

class EngineExec implements ExecSession {
  readonly output: AsyncIterable<Output>;
  readonly exitCode: Promise<number>;
  readonly #handle: ExecHandle;
  readonly #containerPid: number;
  readonly #outputEnd: Promise<void>;
  #drained: Promise<void> | undefined;
  #ended = false;
  #killed = false;

  constructor(handle: ExecHandle, containerPid: number, request: ExecRequest) {
    this.#handle = handle;
    this.#containerPid = containerPid;
    const queue = new LineQueue<Output>(({ data }) => data.length);
    this.output = queue;
    const pumped = this.#pump(queue, request);
    this.#outputEnd = pumped.then(
      () => {},
      () => {},
    );
    this.exitCode = pumped;
    // A caller that never asks for the code must not bring the process down.
    this.exitCode.catch(() => {});
    if (!request.stdin) handle.stream.end();
  }

  async write(data: Uint8Array): Promise<void> {
    if (this.#ended || this.#handle.stream.write(data)) return;
    this.#drained ??= this.#awaitDrain();
    await this.#drained;
  }

  endInput(): void {
    this.#handle.stream.end();
  }

  /** An end of the output is an end of the command: it reads no more. */
  async #awaitDrain(): Promise<void> {
    await Promise.race([once(this.#handle.stream, "drain").catch(() => {}), this.#outputEnd]);
    this.#drained = undefined;
  }

  async resize(width: number, height: number): Promise<void> {
    if (!this.#ended) await this.#handle.resize(width, height);
  }

  /** Engines leave a command running when its stream closes, so the process itself is ended. */
  kill(): void {
    if (this.#ended || this.#killed) return;
    this.#killed = true;
    void this.#killProcess();
  }

  /** Returns the exit code. */
  async #pump(queue: LineQueue<Output>, { tty, command }: ExecRequest): Promise<number> {
    const frames = new FrameReader();
    const words = new StartWords(command);
    try {
      for await (const chunk of this.#handle.stream) {
        const data = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        const outputs: Iterable<Output> = tty ? [{ stream: "stdout", data }] : frames.push(data);
        for (const output of outputs) for (const passed of words.pass(output)) await queue.push(passed);
      }
      if (words.isHolding) {
        const { outputs, exitCode } = words.end(await this.#awaitExit());
        for (const output of outputs) await queue.push(output);
        return exitCode;
      }
    } catch (error) {
      if (!this.#killed) throw error;
    } finally {
      this.#ended = true;
      queue.end();
    }
    return this.#awaitExit();
  }

  async #awaitExit(): Promise<number> {
    for (let attempt = 0; attempt < POLL.attempts; attempt++) {
      const state = await this.#handle.inspect();
      if (!state.running) return state.exitCode;
      await new Promise((resolve) => setTimeout(resolve, POLL.wait));
    }
    throw clusterErrors.refused("the command's output ended but the engine does not report its exit code");
  }

  /** A command that is ended at once may not run yet, and would run on. */
  async #process(): Promise<ExecState> {
    const none = { begun: true, running: false, exitCode: 0, pid: 0 };
    for (let attempt = 1; ; attempt++) {
      const state = await this.#handle.inspect().catch(() => none);
      if ((state.begun && !(state.running && state.pid === 0)) || attempt === POLL.attempts) return state;
      await new Promise((resolve) => setTimeout(resolve, POLL.wait));
    }
  }

  async #killProcess(): Promise<void> {
    const { pid, running } = await this.#process();
    if (running && pid > 1 && (await sharesNamespace(pid, this.#containerPid))) return signalTree(pid);
    if ("destroy" in this.#handle.stream && typeof this.#handle.stream.destroy === "function") {
      this.#handle.stream.destroy();
    }
  }
}

/** The number could belong to another process by now: it is only used inside the container's own process namespace. */
async function sharesNamespace(pid: number, containerPid: number): Promise<boolean> {
  try {
    const [one, other] = await Promise.all([readlink(`/proc/${pid}/ns/pid`), readlink(`/proc/${containerPid}/ns/pid`)]);
    return one === other;
  } catch {
    return false;
  }
}

/** Signals the command and, if it leads a process group, its group. */
function signalTree(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // It has ended, or leads no group.
    }
  }
}
