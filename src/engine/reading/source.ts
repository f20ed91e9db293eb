import type { Database } from "../../store/index.ts";
import { BLOCK_TABLES, BlockReader } from "../embedded/blocks/block-store.ts";
import { searchBlocks, searchTxs } from "../embedded/index/search.ts";
import { INDEX_TABLES, TxReader } from "../embedded/index/tx-index.ts";
import type { Genesis } from "../genesis.ts";
import type { BlockSource, ChainStatus, TxSource } from "../source.ts";

/** The tables that hold blocks, results and the index of transactions. */
export const CHAIN_TABLES: readonly string[] = [...BLOCK_TABLES, ...INDEX_TABLES];

/** Caches facts about the last block until there is a newer one. */
export class StatusMemo {
  #status: ChainStatus | undefined;

  at(height: bigint, read: () => ChainStatus): ChainStatus {
    if (this.#status?.height !== height) this.#status = read();
    return this.#status;
  }
}

export interface ChainReaderParts {
  readonly tables: Pick<Database, "table">;
  readonly genesis: Pick<Genesis, "validators">;
  readonly memo: StatusMemo;
  /** The engine that makes the blocks; the embedded one when it is left out. */
  readonly engine?: ChainStatus["engine"];
}

/** The parts of a chain source that are in its tables, no matter who writes them: a commit is visible at once. */
export interface ChainReader {
  readonly blocks: BlockSource;
  readonly txs: TxSource;
  status(): ChainStatus;
}

export function chainReader({ tables, genesis, memo, engine = "embedded" }: ChainReaderParts): ChainReader {
  const blocks = new BlockReader(tables);
  const index = new TxReader(tables, blocks);
  const at = { blocks, index };
  return {
    blocks: {
      record: (height) => blocks.record(height),
      block: (height) => blocks.block(height),
      txs: (height) => blocks.txs(height),
      validators: (height) => blocks.validators(height),
      consensusParams: (height) => blocks.consensusParams(height),
      heightOf: (hash) => index.blockHeight(hash),
      search: (page) => searchBlocks(at, page),
    },
    txs: { find: (hash) => index.tx(hash), search: (page) => searchTxs(at, page) },
    status: () => memo.at(blocks.height, () => statusOf(blocks, { genesis, engine })),
  };
}

/** Before the first block, the voters come from the genesis file. */
function statusOf(
  blocks: BlockReader,
  { genesis, engine }: Pick<Required<ChainReaderParts>, "genesis" | "engine">,
): ChainStatus {
  const { last, base } = blocks;
  const height = last?.header.height ?? 0n;
  return {
    engine,
    height,
    base,
    latest: last,
    earliest: blocks.record(base),
    validators: blocks.validators(height + 1n) ?? genesis.validators,
    catchingUp: blocks.isBehind,
  };
}
