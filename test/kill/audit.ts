import { NO_VOTERS } from "../../src/abci/index.ts";
import { createApp } from "../../src/app/index.ts";
import {
  type BlockRecord,
  BlockStore,
  type Genesis,
  headerHash,
  parseGenesis,
  verifyCommit,
} from "../../src/engine/index.ts";
import { homePaths, readGenesisText } from "../../src/node/index.ts";
import { memoryDatabase, openLmdb, type StateStore } from "../../src/store/index.ts";
import { toHexUpper } from "../../src/util/index.ts";
import { txHash, verifyStoreProof } from "../../src/wire/index.ts";

export interface AuditedChain {
  readonly height: bigint;
  /** Height of each transaction by its hash. */
  readonly heights: ReadonlyMap<string, bigint>;
  /** Every committed transaction that the replay executed with success. */
  readonly succeeded: number;
}

/**
 * Reads the data of an ended node, and checks it from the first block: links, hashes and votes of the headers; that
 * executing the blocks again from genesis, in memory, gives the application hash of each header; that the state on disk
 * has the last hash, and the kept history proves the older ones.
 */
export function auditChain(home: string): AuditedChain {
  const genesis = parseGenesis(readGenesisText(home));
  const database = openLmdb(homePaths(home).database);
  try {
    const blocks = new BlockStore(database);
    const app = createApp({ database });
    const { lastBlockHeight, lastBlockAppHash } = app.info();
    const last = need(blocks.last, "last block");
    same("height of the state", lastBlockHeight, blocks.height);
    same("hash of the state", toHexUpper(lastBlockAppHash), toHexUpper(last.appHash));
    checkHeaders(blocks, genesis);
    checkPast(app.state, blocks);
    return { height: blocks.height, ...replay(blocks, genesis) };
  } finally {
    database.close();
  }
}

function checkHeaders(blocks: BlockStore, genesis: Genesis): void {
  let before: BlockRecord | undefined;
  for (let height = blocks.base; height <= blocks.height; height++) {
    const record = need(blocks.record(height), `block ${height}`);
    const { header, commit } = record;
    same(`hash of block ${height}`, toHexUpper(headerHash(header)), toHexUpper(commit.blockId.hash));
    const voters = need(blocks.validators(height), `validators of block ${height}`);
    if (!verifyCommit(genesis.chainId, commit, voters)) throw new Error(`the votes for block ${height} are not valid`);
    if (before !== undefined) {
      same(`link of block ${height}`, toHexUpper(header.lastBlockId.hash), toHexUpper(before.commit.blockId.hash));
      same(`app hash of block ${height}`, toHexUpper(header.appHash), toHexUpper(before.appHash));
    }
    before = record;
  }
}

/** The trees of older heights are made from the old values that blocks kept: each must lead to the hash of its header. */
function checkPast(state: StateStore, blocks: BlockStore): void {
  const key = Uint8Array.of(0xff);
  for (let height = state.lowestProven; height <= blocks.height; height++) {
    const { appHash } = need(blocks.record(height), `block ${height}`);
    const { value, ops } = state.prove("bank", key, height);
    verifyStoreProof(ops, { appHash, store: "bank", key, value });
  }
}

function replay(blocks: BlockStore, genesis: Genesis): Pick<AuditedChain, "heights" | "succeeded"> {
  const app = createApp({ database: memoryDatabase(), checkInvariants: true });
  app.initChain({ ...genesis, appState: genesis.appState });
  const heights = new Map<string, bigint>();
  let succeeded = 0;
  for (let height = blocks.base; height <= blocks.height; height++) {
    const { header, txs } = need(blocks.block(height), `block ${height}`);
    const { commit, appHash } = need(blocks.record(height), `block ${height}`);
    const request = {
      ...NO_VOTERS,
      txs,
      height,
      time: header.time,
      proposer: header.proposerAddress,
      nextValidatorsHash: header.nextValidatorsHash,
      hash: commit.blockId.hash,
    };
    const result = app.finalizeBlock(request);
    app.commit();
    same(`app hash after block ${height}, executed again`, toHexUpper(result.appHash), toHexUpper(appHash));
    for (const tx of txs) {
      const hash = txHash(tx);
      if (heights.has(hash)) throw new Error(`${hash} is in blocks ${heights.get(hash)} and ${height}`);
      heights.set(hash, height);
    }
    succeeded += result.txResults.filter(({ code }) => code === 0).length;
  }
  return { heights, succeeded };
}

function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the ${what} is missing`);
  return value;
}

function same<T>(what: string, actual: T, wanted: T): void {
  if (actual !== wanted) throw new Error(`${what}: ${actual}, but it should be ${wanted}`);
}
