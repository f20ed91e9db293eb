import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AnswerLine,
  PLANE_FOLDER,
  PLANE_WORD,
  type PlaneCall,
  type PlaneCalls,
  readLines,
  writeLine,
} from "./protocol.ts";

/** Paths of sockets can have 107 bytes; longer ones are reached through an open folder. */
const MAX_SOCKET_PATH = 100;
const CALL_MS = 40_000;
/** Milliseconds that a plane has to end before it is killed. */
const END_MS = 5_000;
const POLL_MS = 20;

/** A connection to one plane. */
export class PlaneConnection {
  readonly socket: Socket;
  readonly pid: number;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #last = 0;

  constructor(socket: Socket, pid: number) {
    this.socket = socket;
    this.pid = pid;
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the data plane has ended"));
      this.#waiting.clear();
    });
    readLines<AnswerLine>(socket, ({ id, answer, error }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(error));
    });
  }

  call<C extends PlaneCall>(call: C, request: PlaneCalls[C][0], patienceMs = CALL_MS): Promise<PlaneCalls[C][1]> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed) return reject(new Error("the data plane has ended"));
      const timer = setTimeout(() => this.socket.destroy(), patienceMs);
      const settled = () => clearTimeout(timer);
      this.#waiting.set(id, {
        resolve: (value) => {
          settled();
          // A plane of the same program answers each call in its form.
          resolve(value as PlaneCalls[C][1]);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      writeLine(this.socket, { id, call, request });
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

function connectTo(folder: string, name: string): Promise<PlaneConnection> {
  const path = join(folder, name);
  const descriptor = Buffer.byteLength(path) > MAX_SOCKET_PATH ? openSync(folder, "r") : undefined;
  const socket = connect(descriptor === undefined ? path : `/proc/self/fd/${descriptor}/${name}`);
  return new Promise<PlaneConnection>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(new PlaneConnection(socket, pidOf(name)));
    });
  }).finally(() => {
    if (descriptor !== undefined) closeSync(descriptor);
  });
}

/** Planes that run for the folder. Sockets without a process behind them are removed. */
export async function runningPlanes(stateDir: string): Promise<PlaneConnection[]> {
  const folder = join(stateDir, PLANE_FOLDER);
  const found: PlaneConnection[] = [];
  for (const name of socketNames(folder)) {
    try {
      found.push(await connectTo(folder, name));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ECONNREFUSED") {
        rmSync(join(folder, name), { force: true });
      }
    }
  }
  return found;
}

/** Sockets are named after their processes. */
function pidOf(name: string): number {
  return Number.parseInt(name, 10);
}

function socketNames(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".sock"));
  } catch {
    return [];
  }
}

/** Whether a data plane runs for a provider's folder. */
export function hasPlane(stateDir: string): boolean {
  return socketNames(join(stateDir, PLANE_FOLDER)).some((name) => isPlane(pidOf(name), stateDir));
}

/** Ends the data plane of a provider's folder, if one runs. One that does not answer is killed. */
export async function endPlane(stateDir: string): Promise<void> {
  for (const plane of await runningPlanes(stateDir)) {
    const gone = new Promise((resolve) => plane.socket.once("close", resolve));
    await plane.call("end", null, END_MS).catch(() => killPlane(plane.pid, stateDir));
    await gone;
  }
}

/** Kills a plane that does not answer, and waits until its ports are free. */
export async function killPlane(pid: number, stateDir: string): Promise<void> {
  if (!isPlane(pid, stateDir)) return;
  process.kill(pid, "SIGKILL");
  const deadline = performance.now() + END_MS;
  while (isThere(pid) && performance.now() < deadline) await pause(POLL_MS);
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether a process is a plane of the folder; a socket may be older than the process that has its number. */
function isPlane(pid: number, stateDir: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.includes(PLANE_WORD) && words.includes(stateDir);
  } catch {
    return false;
  }
}
