import { Context } from "../../../src/runtime/index.ts";
import { memoryDatabase, StateStore } from "../../../src/store/index.ts";

/** A context over empty stores in memory, for tests of keepers without a chain around them. */
export function emptyContext(...stores: readonly string[]): Context {
  const block = { chainId: "test-1", height: 1n, time: 0n, proposer: new Uint8Array(20) };
  return new Context({ block, mode: "block", stores: StateStore.open(memoryDatabase(), [...stores]).branch() });
}
