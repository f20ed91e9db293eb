import { readFileSync } from "node:fs";
import { spawnSync } from "./bounded.ts";

/** Opens this many connections from a separate process, and reports how many the system had accepted after a while. */
const PROGRAM = `
const { connect } = require("node:net");
const [port, count] = process.argv.slice(1).map(Number);
let taken = 0;
const done = () => { process.stdout.write(String(taken)); process.exit(0); };
setTimeout(done, 20_000);
for (let i = 0; i < count; i++) connect(port, "127.0.0.1").on("error", () => {}).on("connect", () => ++taken === count && done());
`;

/**
 * How many of this many connections wait at a listener of this process, which accepts none meanwhile, because this call
 * blocks it. If the queue is full, the system takes a connection only after a second or later, if at all.
 */
export function waitingConnections(port: number, count: number): number {
  const { stdout } = spawnSync(process.execPath, ["-e", PROGRAM, String(port), String(count)], { encoding: "utf8" });
  return Number(stdout);
}

/** The longest queue that the system grants a listener; 0 if it does not say. */
export function longestAcceptQueue(): number {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch {
    return 0;
  }
}
