import { readdirSync, readFileSync } from "node:fs";

/** Processor time that each thread of a process has used so far, in milliseconds. */
function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [spent] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
    times.set(thread, Number(spent) / 1e6);
  }
  return times;
}

/** CPU time of a process's busiest thread meanwhile, in milliseconds: load of the machine does not count. */
export async function threadTimeDuring(pid: number, run: () => Promise<unknown>): Promise<number> {
  const before = threadTimes(pid);
  await run();
  return Math.max(...[...threadTimes(pid)].map(([thread, spent]) => spent - (before.get(thread) ?? spent)));
}
