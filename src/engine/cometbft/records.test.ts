import { expect, test } from "vitest";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { type Database, memoryDatabase } from "../../store/index.ts";
import { toHex } from "../../util/index.ts";
import { BlockStore } from "../embedded/blocks/block-store.ts";
import { headerHash } from "../embedded/blocks/hashes.ts";
import type { CommittedBlock } from "../embedded/events.ts";
import { TxIndex } from "../embedded/index/tx-index.ts";
import { KEEP_ALL, type Retention } from "../embedded/retain.ts";
import type { DecidedBlock } from "./abci/calls.ts";
import { Records } from "./records.ts";

/** Blocks that an engine decided, with one transaction each, and the rows of the embedded engine. */
function decided(count: number) {
  const network = new KvNetwork();
  const engine = network.engine();
  const blocks = Array.from({ length: count }, (_, i) => {
    engine.mempool.add(kvTx(`key=${i}`));
    return engine.produceBlock();
  });
  return { ...network, blocks };
}

type Decided = ReturnType<typeof decided>;

function recordsOf({ genesis }: Decided, retention: Retention = KEEP_ALL) {
  const database = memoryDatabase();
  const open = () => {
    const blocks = new BlockStore(database);
    const index = new TxIndex(database, blocks);
    return { blocks, index, records: new Records({ database, blocks, index, genesis, retention, onCommit: () => {} }) };
  };
  return { database, open };
}

/** The request of a decided block. */
function requestOf({ block: { header, txs } }: CommittedBlock): DecidedBlock {
  const { height, time, nextValidatorsHash, proposerAddress: proposer } = header;
  const evidence = { lastCommit: { round: 0, votes: [] }, misbehavior: [] };
  return { height, time, nextValidatorsHash, proposer, ...evidence, txs, hash: headerHash(header), isProposed: false };
}

function dump(database: Database): string[] {
  const tables = ["engine/blocks", "engine/txs", "engine/validators", "engine/params", "index/txs", "index/blocks"];
  return tables.flatMap((name) =>
    [...database.table(name).iterate()].map(([key, value]) => `${name} ${toHex(key)} ${toHex(value)}`),
  );
}

function execute(records: Records, database: Database, block: CommittedBlock): bigint {
  const request = requestOf(block);
  database.write(records.writes(request, block));
  return records.committed(request);
}

const complete = (records: Records, { block: { header }, commit }: CommittedBlock) => {
  const executed = records.pending;
  if (executed === undefined) throw new Error("no block waits for its header");
  return records.complete(executed, { header, commit, before: undefined, voters: undefined, size: undefined });
};

test("a block of CometBFT has the rows that one of the embedded engine has", () => {
  const chain = decided(3);
  const { database, open } = recordsOf(chain);
  const { records } = open();
  records.begun(chain.genesis.validators);
  for (const block of chain.blocks) {
    execute(records, database, block);
    complete(records, block);
  }
  expect(dump(database)).toEqual(dump(chain.database));
  expect(records.pending).toBeUndefined();
});

test("an executed block is visible when its header is there, also after a restart in between", () => {
  const chain = decided(2);
  const [first, second] = chain.blocks;
  if (first === undefined || second === undefined) throw new Error("two blocks");
  const { database, open } = recordsOf(chain);
  const before = open();
  before.records.begun(chain.genesis.validators);
  execute(before.records, database, first);
  complete(before.records, first);
  execute(before.records, database, second);

  const [hash] = second.txHashes;
  if (hash === undefined) throw new Error("one transaction");
  const { records, blocks, index } = open();
  expect([blocks.height, index.tx(hash), index.blockHeight(second.commit.blockId.hash)]).toEqual([
    1n,
    undefined,
    undefined,
  ]);
  complete(records, second);
  expect([blocks.height, index.tx(hash)?.height]).toEqual([2n, 2n]);
  expect(dump(database)).toEqual(dump(chain.database));
});

test("the next block decides which votes on a block are stored", () => {
  const chain = decided(2);
  const [first, second] = chain.blocks;
  if (first === undefined || second === undefined) throw new Error("two blocks");
  const { database, open } = recordsOf(chain);
  const { records, blocks } = open();
  records.begun(chain.genesis.validators);
  execute(records, database, first);
  const late = { ...first.commit, signatures: first.commit.signatures.map((each) => ({ ...each, timestamp: 7n })) };
  complete(records, { ...first, commit: late });
  execute(records, database, second);
  const signed = { header: second.block.header, commit: second.commit };
  expect(records.needsVotesBefore(signed)).toBe(true);
  const executed = records.pending;
  if (executed === undefined) throw new Error("no block waits for its header");
  records.complete(executed, { ...signed, before: first.commit, voters: undefined, size: undefined });
  expect(blocks.record(1n)?.commit.signatures[0]?.timestamp).toBe(first.commit.signatures[0]?.timestamp);
});

test("behind a snapshot, the engine tells the votes and voters that earlier blocks would have; lower heights are gone", () => {
  const chain = decided(4);
  const { database, open } = recordsOf(chain);
  const { consensusParams: params } = chain.genesis;
  database.write([...open().records.restored({ height: 2n, params })]);
  expect(open().records.isEmpty).toBe(true);
  for (const block of chain.blocks.slice(2)) {
    // Opened again before each block.
    const { records } = open();
    execute(records, database, block);
    expect(records.isEmpty).toBe(false);
    const signed = { header: block.block.header, commit: block.commit };
    const isFirst = block.block.header.height === 3n;
    expect([records.needsVotesBefore(signed), records.needsVoters(signed)]).toEqual([isFirst, isFirst]);
    const [before, voters] = isFirst ? [chain.blocks[1]?.commit, new BlockStore(chain.database).validators(3n)] : [];
    const executed = records.pending;
    if (executed === undefined) throw new Error("no block waits for its header");
    records.complete(executed, { ...signed, before, voters, size: undefined });
  }
  const [ours, theirs] = [open().blocks, new BlockStore(chain.database)];
  for (const height of [3n, 4n]) {
    expect(ours.block(height)).toEqual(theirs.block(height));
    expect(ours.record(height)).toEqual(theirs.record(height));
    expect(ours.validators(height)).toEqual(theirs.validators(height));
    expect(ours.consensusParams(height)).toEqual(theirs.consensusParams(height));
  }
  expect([ours.base, ours.record(2n), ours.block(2n), ours.isOutside]).toEqual([3n, undefined, undefined, true]);
});

test("a header of another block is refused", () => {
  const chain = decided(1);
  const [first] = chain.blocks;
  if (first === undefined) throw new Error("a block");
  const { database, open } = recordsOf(chain);
  const { records } = open();
  records.begun(chain.genesis.validators);
  execute(records, database, first);
  const header = { ...first.block.header, time: 1n };
  expect(() => complete(records, { ...first, block: { ...first.block, header } })).toThrow("another block 1");
});

test("the engine keeps blocks whose headers are still to come", () => {
  const chain = decided(6);
  const { evidence, ...params } = chain.genesis.consensusParams;
  const consensusParams = { ...params, evidence: { ...evidence, maxAgeNumBlocks: 1n } };
  const genesis = { ...chain.genesis, consensusParams };
  const { database, open } = recordsOf({ ...chain, genesis }, { minBlocks: 1n, snapshotBlocks: 0n });
  const { records } = open();
  records.begun(genesis.validators);
  const [last] = chain.blocks.slice(-1);
  if (last === undefined) throw new Error("six blocks");
  for (const block of chain.blocks.slice(0, -1)) expect(execute(records, database, block)).toBe(0n);
  while (records.pending !== undefined) {
    const [block] = chain.blocks.filter(({ block: { header } }) => header.height === records.pending?.header.height);
    if (block !== undefined) complete(records, block);
  }
  expect(execute(records, database, last)).toBe(5n);
});

test("a node is behind until its engine takes part in a decision, also when that falls back later", () => {
  const chain = decided(3);
  const { database, open } = recordsOf(chain);
  const { records, blocks } = open();
  records.begun(chain.genesis.validators);
  records.starting();
  const seen = chain.blocks.map((block, i) => {
    database.write(records.writes({ ...requestOf(block), isProposed: i === 1 }, block));
    return blocks.isBehind;
  });
  expect(seen).toEqual([true, false, false]);
  open().records.starting();
  expect(blocks.isBehind).toBe(true);
});
