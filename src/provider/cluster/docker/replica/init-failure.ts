import { setTimeout as pause } from "node:timers/promises";
import type { ContainerState } from "../api/answers.ts";
import type { EngineApi } from "../api/api.ts";
import { plainLogTail } from "../api/logs.ts";

/** Exit codes with which init processes end when they cannot start the program. */
const CODES: ReadonlySet<number> = new Set([1, 126, 127]);
/** How they say so: catatonit, which Podman has, and tini, which Docker has. */
const WORDS = /^(?:ERROR \(catatonit:\d+\): failed to exec pid1: (.+)|\[FATAL\s+tini \(\d+\)\] exec \S+ failed: (.+))$/;

/** Pauses before further looks, milliseconds: a busy engine is late with the last line. */
const FURTHER_LOOKS_MS: readonly number[] = [200, 800];

/** Why the init process of a container could not start its program; undefined where it did. */
export async function initFailure(
  api: Pick<EngineApi, "logs">,
  { id, exitCode }: Pick<ContainerState, "id" | "exitCode">,
): Promise<string | undefined> {
  if (!CODES.has(exitCode)) return undefined;
  return readInitFailure(await lastLine(api, id));
}

/** An engine may tell the end of a container before it has the last line of its log. */
async function lastLine(api: Pick<EngineApi, "logs">, id: string): Promise<string> {
  let line = await plainLogTail(api, id, 1).catch(() => "");
  for (const wait of FURTHER_LOOKS_MS) {
    if (line !== "") return line;
    await pause(wait);
    line = await plainLogTail(api, id, 1).catch(() => "");
  }
  return line;
}

export function readInitFailure(line: string): string | undefined {
  const match = WORDS.exec(line.trim());
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}
