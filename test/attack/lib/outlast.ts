import { expect } from "vitest";
import { pause, waitFor } from "../../support/index.ts";
import type { Flooder } from "./flood.ts";
import { MemoryWatch, memoryBack, residentMiB } from "./memory.ts";

export interface Outlasting {
  readonly flooder: Flooder;
  /** Process id of the attacked server. */
  readonly pid: number;
  /** Asks the server on a new connection; resolves with the HTTP status. */
  readonly ask: () => Promise<number>;
}

const LASTING_MS = Number(process.env.SVC_TEST_ATTACK_MS ?? 1_000);
/** Maximum rise of memory above the idle server. */
const PEAK_MIB = 512;
const AFTERWARDS_MIB = 192;

/**
 * Lets a flood that has begun last for a while and ends it; checks that the server lives, that its memory stayed within bounds and
 * comes back, and that it answers a new client afterwards.
 */
export async function outlast(begin: () => Promise<void>, { flooder, pid, ask }: Outlasting): Promise<void> {
  const before = residentMiB(pid);
  const memory = new MemoryWatch(pid);
  await begin();
  await waitFor(async () => (await flooder.state()).begun > 0, "the first connection of the flood");
  await pause(LASTING_MS);
  const peak = memory.stop();
  const { begun, served } = await flooder.state();
  await flooder.end();
  console.log(`${begun} connections, ${Math.round(served)} rounds served; ${before} MiB before, ${peak} at most`);
  expect(peak - before, "memory while the flood lasts").toBeLessThan(PEAK_MIB);
  // Connections that waited behind the flood's last bytes may be cut, as too slow.
  expect(await waitFor(ask, "an answer after the flood", { timeoutMs: 60_000 })).toBe(200);
  await memoryBack(pid, before + AFTERWARDS_MIB);
}
