import { setImmediate as turn } from "node:timers/promises";
import { EmbeddedEngine, type EmbeddedEngineOptions } from "./engine.ts";

/** Executes the blocks that came with a snapshot. */
export async function catchUp(engine: Pick<EmbeddedEngine, "isBehind" | "produceBlock">): Promise<void> {
  while (engine.isBehind) {
    engine.produceBlock();
    await turn();
  }
}

/** The same for a chain that no node runs. */
export async function catchUpOnce(options: Omit<EmbeddedEngineOptions, "blockInterval">): Promise<void> {
  await catchUp(new EmbeddedEngine({ ...options, blockInterval: 0 }));
}
