import type { ChainSource } from "../../../src/engine/source.ts";

/** A source that answers asynchronously, like one in another process. */
export function later(source: ChainSource): ChainSource {
  const { blocks, txs, mempool, app } = source;
  const { status, consensus } = delayed(source);
  const parts = { blocks: delayed(blocks), txs: delayed(txs), mempool: delayed(mempool), app: delayed(app) };
  return { ...source, ...parts, status, consensus };
}

function delayed<T extends object>(part: T): T {
  return new Proxy(part, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        await new Promise((resolve) => setImmediate(resolve));
        return value.apply(target, args);
      };
    },
  });
}
