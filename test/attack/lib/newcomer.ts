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

/** What a flood was served between two moments of `clockMs`, in rounds: in one, a connection gets all that it asks for at a time. */
export type ServedBetween = (from: number, to: number) => number | Promise<number>;

export interface Watched {
  readonly ask: () => Promise<unknown>;
  readonly served: ServedBetween;
  /** Of who serves; its times are shown, and hold nothing: they depend on the machine. */
  readonly pid: number;
  readonly times: number;
}

const BETWEEN_MS = 50;

/** Asks several times beside a flood; what the flood is served meanwhile, in the median. How fast the machine is does not count. */
export async function roundsBeside({ ask, served, pid, times }: Watched): Promise<number> {
  const [rounds, cpu]: [number[], number[]] = [[], []];
  for (let i = 0; i < times; i++) {
    const from = clockMs();
    cpu.push(Math.round(await threadTimeDuring(pid, ask)));
    const to = clockMs();
    await pause(BETWEEN_MS);
    rounds.push(Math.round(await served(from, to)));
  }
  const sorted = rounds.toSorted((a, b) => a - b);
  console.log(`served meanwhile: ${rounds.join(" ")} rounds in ${cpu.join(" ")} ms of CPU of the thread`);
  return sorted[Math.floor(times / 2)] ?? 0;
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
