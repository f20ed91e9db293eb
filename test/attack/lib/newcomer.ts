import { readdirSync, readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { pause } from "../../support/index.ts";
import { clockMs } from "./served.ts";
import type { Door } from "./sockets.ts";

/** Processor time that each thread of a process has used so far, in milliseconds. */
function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [spent] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    times.set(thread, Number(spent) / 1e6);
  }
  return times;
}

/** What the busiest thread of a process did meanwhile, in milliseconds of its own: how busy the machine is does not count. */
export async function threadTimeDuring(pid: number, run: () => Promise<unknown>): Promise<number> {
  const before = threadTimes(pid);
  await run();
  return Math.max(...[...threadTimes(pid)].map(([thread, spent]) => spent - (before.get(thread) ?? spent)));
}

export interface Watched {
  readonly ask: () => Promise<unknown>;
  /** What the flood was served between two moments of `clockMs`, in rounds: in one, a connection gets all that it asks for at a time. */
  readonly served: (from: number, to: number) => number | Promise<number>;
  /** Of the process that serves. */
  readonly pid: number;
  readonly times: number;
}

const BETWEEN_MS = 50;

/** Of the thread that serves: who has waited for less was not kept waiting, however little of that a round takes. */
const FAIR_MS = 150;

/**
 * Asks several times beside a flood; how many rounds the flood could be served in the time of the thread that each takes, in the median.
 * How fast and how busy the machine is does not count: what a round takes is measured in the same time. Of a flood that is served
 * nothing no round is known: then nobody may be kept waiting.
 */
export async function roundsBeside({ ask, served, pid, times }: Watched): Promise<number> {
  const waits: number[] = [];
  const from = clockMs();
  const whole = await threadTimeDuring(pid, async () => {
    for (let i = 0; i < times; i++) {
      waits.push(await threadTimeDuring(pid, ask));
      await pause(BETWEEN_MS);
    }
  });
  const amount = await served(from, clockMs());
  const each = amount === 0 ? 0 : whole / amount;
  const rounds = waits.map((wait) => (wait < FAIR_MS ? 0 : Math.round(wait / each)));
  console.log(`${rounds.join(" ")} rounds of ${each.toFixed(2)} ms, in ${waits.map(Math.round).join(" ")} ms of CPU`);
  return rounds.sort((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

/** Makes a call with an empty request of gRPC, on a new connection from an address; its status. */
export function callFrom(localAddress: string, door: Door, path: string): Promise<string> {
  const socket = connect({ ...door, localAddress });
  const session = connectHttp2(`http://${door.host}:${door.port}`, { createConnection: () => socket });
  return new Promise((resolve, reject) => {
    const call = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
    let status = "none";
    const told = (headers: { readonly "grpc-status"?: string | string[] | undefined }): void => {
      status = String(headers["grpc-status"] ?? status);
    };
    call.on("response", told).on("trailers", told);
    session.on("error", reject);
    call.on("error", reject).on("close", () => {
      session.destroy();
      resolve(status);
    });
    call.resume().end(Buffer.alloc(5));
  });
}
