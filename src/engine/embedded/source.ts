import type { ChainSource } from "../source.ts";
import type { EmbeddedEngine } from "./engine.ts";
import { searchBlocks, searchTxs } from "./index/search.ts";

/** The embedded engine as a source for servers; every answer comes at once. */
export function embeddedSource(engine: EmbeddedEngine): ChainSource {
  const { app, blocks, bus, genesis, index, mempool, validator } = engine;
  return {
    genesis,
    validator,
    app,
    events: bus,
    blocks: {
      record: (height) => blocks.record(height),
      block: (height) => blocks.block(height),
      txs: (height) => blocks.txs(height),
      validators: (height) => blocks.validators(height),
      consensusParams: (height) => blocks.consensusParams(height),
      heightOf: (hash) => index.blockHeight(hash),
      search: (page) => searchBlocks(engine, page),
    },
    txs: { find: (hash) => index.tx(hash), search: (page) => searchTxs(engine, page) },
    mempool: {
      add: (tx) => mempool.add(tx),
      list: (limit) => mempool.list(limit),
      size: () => ({ txs: mempool.size, bytes: mempool.bytes }),
    },
    status: () => ({
      engine: "embedded",
      height: blocks.height,
      base: blocks.base,
      latest: blocks.last,
      earliest: blocks.record(blocks.base),
      validators: engine.validators,
      catchingUp: false,
    }),
    consensus() {
      const { last } = blocks;
      const { nextBlockTime, validators } = engine;
      return {
        height: last === undefined ? genesis.initialHeight : last.header.height + 1n,
        startTime: nextBlockTime ?? last?.commit.signatures[0]?.timestamp ?? genesis.time,
        validators,
        last: last && { record: last, validators: blocks.validators(last.header.height) ?? [] },
      };
    },
  };
}
