import { readdirSync, readFileSync } from "node:fs";

/** Processes that any thread of a process started. */
export function childrenOf(pid: number): number[] {
  const threads = `/proc/${pid}/task`;
  const ids = readdirSync(threads).flatMap((id) => readFileSync(`${threads}/${id}/children`, "utf8").split(" "));
  return ids.filter(Boolean).map(Number);
}
