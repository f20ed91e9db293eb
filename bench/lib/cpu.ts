import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Clock ticks of `/proc` a second; fixed by Linux for user space. */
const TICKS = 100;

export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** User and system time of a command with all its children, to the millisecond, as bash reports them. */
export function costOf(command: readonly string[], env: NodeJS.ProcessEnv): Cost {
  const script = 'TIMEFORMAT="%U %S %R"; { time "$@" >/dev/null 2>&3; } 3>/dev/null';
  const stderr = execFileSync("bash", ["-c", `{ ${script}; } 2>&1`, "bash", ...command], { env, encoding: "utf8" });
  const [user = Number.NaN, system = Number.NaN, real = Number.NaN] = stderr.trim().split(" ").map(Number);
  return { cpuMs: (user + system) * 1000, wallMs: real * 1000 };
}

/** CPU time that a running process has used so far, in milliseconds. */
export function cpuOfProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Fields are counted after the name of the program, which may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}
