import { describe, expect, it } from "vitest";
import { KvApplication } from "../../../test/support/block-engine/kv-app.ts";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { type ConsensusParams, DEFAULT_CONSENSUS_PARAMS, type FinalizeBlock } from "../../abci/index.ts";
import { type Clock, equalBytes, fromUtf8, toHexUpper } from "../../util/index.ts";
import { votersWrite } from "./blocks/block-store.ts";
import { encodeBlock } from "./blocks/codec.ts";
import {
  blockIdFor,
  commitHash,
  consensusParamsHash,
  dataHash,
  resultsHash,
  txHash,
  validatorsHash,
} from "./blocks/hashes.ts";
import { formatRfc3339 } from "./blocks/time.ts";
import type { Block, BlockId } from "./blocks/types.ts";
import { verifyCommit } from "./blocks/vote.ts";
import type { EmbeddedEngine } from "./engine.ts";
import type { CommittedBlock } from "./events.ts";
import { nanoseconds } from "./schedule.ts";

/** The checks of a verifying client between two blocks. */
function checkChain(engine: EmbeddedEngine): void {
  let before: Block | undefined;
  for (let height = engine.blocks.base; height <= engine.blocks.height; height++) {
    const record = engine.blocks.record(height);
    const block = engine.blocks.block(height);
    if (record === undefined || block === undefined) throw new Error(`no block ${height}`);
    const { header, commit } = record;
    expect(idText(blockIdFor(header, encodeBlock(block)))).toBe(idText(commit.blockId));
    expect(verifyCommit(header.chainId, commit, engine.validators)).toBe(true);
    expect(toHexUpper(header.validatorsHash)).toBe(toHexUpper(validatorsHash(engine.validators)));
    expect(toHexUpper(header.dataHash)).toBe(toHexUpper(dataHash(block.txs.map(txHash))));
    expect(toHexUpper(header.lastCommitHash)).toBe(toHexUpper(commitHash(block.lastCommit)));
    if (before !== undefined) {
      const previous = engine.blocks.record(height - 1n);
      const results = engine.blocks.txs(height - 1n).map(({ result }) => result);
      expect(header.time > before.header.time).toBe(true);
      expect(header.time).toBe(block.lastCommit.signatures[0]?.timestamp);
      expect(toHexUpper(header.lastBlockId.hash)).toBe(toHexUpper(previous?.commit.blockId.hash ?? new Uint8Array()));
      expect(toHexUpper(header.appHash)).toBe(toHexUpper(previous?.appHash ?? new Uint8Array()));
      expect(toHexUpper(header.lastResultsHash)).toBe(toHexUpper(resultsHash(results)));
    }
    before = block;
  }
}

function idText({ hash, parts }: BlockId): string {
  return `${toHexUpper(hash)}:${parts.total}:${toHexUpper(parts.hash)}`;
}

function withMaxBytes(maxBytes: bigint): ConsensusParams {
  const { block, evidence, ...rest } = DEFAULT_CONSENSUS_PARAMS;
  return { ...rest, block: { ...block, maxBytes }, evidence: { ...evidence, maxBytes: 100n } };
}

function run(engine: EmbeddedEngine, ...blocks: string[][]): CommittedBlock[] {
  return blocks.map((txs) => {
    for (const tx of txs) engine.mempool.add(kvTx(tx));
    return engine.produceBlock();
  });
}

describe("the embedded engine", () => {
  it("tells the application who voted on the block before", () => {
    const network = new KvNetwork();
    const seen: FinalizeBlock[] = [];
    const app = new KvApplication(network.database);
    const finalize = app.finalizeBlock.bind(app);
    app.finalizeBlock = (request) => {
      seen.push(request);
      return finalize(request);
    };
    const engine = network.engine({ app });
    const { address } = engine.validator;
    run(engine, [], []);
    expect(seen.map(({ lastCommit, misbehavior }) => ({ ...lastCommit, misbehavior }))).toEqual([
      { round: 0, votes: [], misbehavior: [] },
      { round: 0, votes: [{ flag: 2, validator: { address, power: 10n } }], misbehavior: [] },
    ]);
    expect(toHexUpper(seen[1]?.nextValidatorsHash ?? new Uint8Array())).toBe(
      toHexUpper(validatorsHash(engine.validators)),
    );
  });

  it("follows the application's parameters of consensus from the next block on, also after a restart", () => {
    const network = new KvNetwork();
    const changing = (limit: bigint) => {
      const app = new KvApplication(network.database);
      const finalize = app.finalizeBlock.bind(app);
      app.finalizeBlock = (request) => ({
        ...finalize(request),
        consensusParamUpdates: request.height === 2n ? withMaxBytes(limit) : undefined,
      });
      return network.engine({ app });
    };
    const small = withMaxBytes(2_200n);
    const engine = changing(2_200n);
    const begun = network.genesis.consensusParams;
    const hashAt = (height: bigint) =>
      toHexUpper(engine.blocks.record(height)?.header.consensusHash ?? new Uint8Array());
    const large = `k=${"v".repeat(200)}`;
    run(engine, [], []);
    engine.mempool.add(kvTx("a=1"));
    expect(() => engine.mempool.add(kvTx(large))).toThrow("tx too large. Max size is");
    run(engine, []);
    expect([1n, 2n, 3n].map(hashAt)).toEqual(
      [begun, begun, small].map((each) => toHexUpper(consensusParamsHash(each))),
    );
    expect([1n, 2n, 3n, 4n].map((height) => engine.blocks.consensusParams(height))).toEqual([
      begun,
      begun,
      small,
      small,
    ]);
    expect(engine.blocks.record(2n)?.consensusParamUpdates).toEqual(small);
    expect(engine.blocks.record(3n)?.consensusParamUpdates).toBeUndefined();
    expect(engine.blocks.txs(3n)).toHaveLength(1);
    const again = network.engine();
    expect(again.params).toEqual(small);
    expect(() => again.mempool.add(kvTx(large))).toThrow("tx too large. Max size is");
    run(again, ["c=1"]);
    checkChain(again);
  });

  it("drops waiting transactions when blocks become too small for them, with those that build on them", () => {
    const network = new KvNetwork();
    const app = new KvApplication(network.database);
    const finalize = app.finalizeBlock.bind(app);
    const add = (text: string) => engine.mempool.add(kvTx(text));
    app.finalizeBlock = (request) => {
      // The transactions come during the block that makes blocks smaller.
      for (const text of [`amy/1=${"v".repeat(300)}`, "amy/2=x", "bob/1=y"]) add(text);
      return { ...finalize(request), consensusParamUpdates: withMaxBytes(2_200n) };
    };
    const engine = network.engine({ app });
    engine.produceBlock();
    expect(engine.mempool.list(10).map((tx) => fromUtf8(tx))).toEqual(["bob/1=y"]);
  });

  it("makes blocks that a verifying client accepts", () => {
    const network = new KvNetwork();
    const engine = network.engine();
    run(
      engine,
      ["a=1", "b=2"],
      [],
      ["bad=3"],
      Array.from({ length: 70 }, (_, i) => `k${i}=${i}`),
    );
    checkChain(engine);
    expect(engine.blocks.height).toBe(4n);
    expect(formatRfc3339(engine.blocks.record(1n)?.header.time ?? 0n)).toBe("2026-11-21T09:00:00Z");
    expect(engine.blocks.txs(4n)).toHaveLength(70);
    expect(fromUtf8(engine.blocks.tx(4n, 69)?.result.data ?? new Uint8Array())).toBe("69");
    expect(engine.blocks.tx(4n, 70)).toBeUndefined();
    expect(engine.blocks.tx(3n, 0)?.result).toMatchObject({ code: 1, log: "bad key", codespace: "kv" });
  });

  it("keeps times strictly increasing when the clock stands still or goes back", () => {
    const network = new KvNetwork();
    const engine = network.engine();
    run(engine, [], [], []);
    network.clock.skip(-3_600_000);
    run(engine, [], []);
    checkChain(engine);
  });

  it("goes on after a restart with every block", () => {
    const network = new KvNetwork();
    run(network.engine(), ["a=1"], ["b=2", "c=3"]);
    const engine = network.engine();
    expect(engine.blocks.height).toBe(2n);
    run(engine, ["d=4"]);
    checkChain(engine);
    expect(engine.index.tx(txHash(kvTx("c=3")))).toMatchObject({ height: 2n, index: 1 });
    expect(engine.index.tx(txHash(kvTx("d=4")))).toMatchObject({ height: 3n, index: 0 });
    expect(engine.index.tx(txHash(kvTx("x=4")))).toBeUndefined();
    const hash = engine.blocks.record(2n)?.commit.blockId.hash ?? new Uint8Array();
    expect(engine.index.blockHeight(hash)).toBe(2n);
    expect(engine.index.blockHeight(hash.map((byte) => byte ^ 1))).toBeUndefined();
  });

  it("votes in the next round when a vote for the height may be out already", () => {
    const network = new KvNetwork();
    run(network.engine(), ["a=1"]);
    const app = new KvApplication(network.database);
    app.commit = () => {
      throw new Error("no space left on device");
    };
    const errors: unknown[] = [];
    const failing = network.engine({ app, onEnd: (error) => errors.push(error) });
    expect(() => run(failing, ["b=2"])).toThrow("no space left on device");
    expect(errors).toHaveLength(1);
    expect(() => failing.produceBlock()).toThrow("the engine has stopped");
    const engine = network.engine();
    expect(engine.blocks.height).toBe(1n);
    run(engine, ["b=2"]);
    expect(engine.blocks.record(2n)?.commit.round).toBe(1);
    run(engine, []);
    expect(engine.blocks.record(3n)?.commit.round).toBe(0);
    checkChain(engine);
  });

  it("refuses data, genesis and key that do not belong together", () => {
    const network = new KvNetwork();
    run(network.engine(), [], []);
    const other = new KvNetwork();
    expect(() => other.engine({ database: network.database })).toThrow(
      "the state is at height 0 but the last block is 2",
    );
    expect(() => network.engine({ genesis: { ...network.genesis, chainId: "kv-2" } })).toThrow("of chain kv-1 but");
    expect(() => new KvNetwork().engine({ genesis: network.genesis })).toThrow("its only validator");
    network.signState.save({ height: 9n, round: 0 });
    expect(() => network.engine()).toThrow("already signed height 9 but the next block here is 3");
  });

  it("ends at the halt height", () => {
    const network = new KvNetwork();
    const ends: unknown[] = [];
    const engine = network.engine({ haltHeight: 2n, onEnd: (error) => ends.push(error) });
    run(engine, [], []);
    expect(ends).toEqual([undefined]);
    expect(() => engine.produceBlock()).toThrow("stopped");
    const again = network.engine({ haltHeight: 2n, onEnd: (error) => ends.push(error) });
    again.start();
    expect(ends).toEqual([undefined, undefined]);
  });

  it("makes full or empty blocks at the interval, whatever it did in between", () => {
    const network = new KvNetwork();
    const engine = network.engine({ blockInterval: 100 });
    const heights: string[] = [];
    engine.bus.listen(({ block }) => heights.push(`${block.header.height}/${block.txs.length}`));
    engine.start();
    expect(heights).toEqual([]);
    network.clock.advance(0);
    expect(heights).toEqual(["1/0"]);
    network.clock.advance(99);
    engine.mempool.add(kvTx("a=1"));
    network.clock.advance(101);
    expect(heights).toEqual(["1/0", "2/1", "3/0"]);
    network.clock.skip(1030);
    network.clock.advance(0);
    expect(heights).toEqual(["1/0", "2/1", "3/0", "4/0"]);
    network.clock.advance(69);
    expect(heights).toHaveLength(4);
    network.clock.advance(1);
    expect(heights).toHaveLength(5);
    void engine.stop();
    network.clock.advance(1000);
    expect(heights).toHaveLength(5);
  });

  it("takes no transaction that no block has room for, so that none stands before the others for ever", () => {
    const network = new KvNetwork();
    const { consensusParams } = network.genesis;
    const block = { ...consensusParams.block, maxBytes: 3_000n };
    const engine = network.engine({ genesis: { ...network.genesis, consensusParams: { ...consensusParams, block } } });
    const room = 3_000 - 2_048 - 5;
    expect(() => engine.mempool.add(kvTx(`a=${"x".repeat(room - 1)}`))).toThrow(`tx too large. Max size is ${room}`);
    engine.mempool.add(kvTx(`a=${"x".repeat(room - 2)}`));
    engine.mempool.add(kvTx("b=1"));
    expect([engine.produceBlock(), engine.produceBlock()].map((made) => made.block.txs.length)).toEqual([1, 1]);
  });

  it("keeps the interval over a restart", () => {
    const network = new KvNetwork();
    const engine = network.engine({ blockInterval: 100 });
    engine.start();
    network.clock.advance(130);
    void engine.stop();
    const again = network.engine({ blockInterval: 100 });
    again.start();
    network.clock.advance(69);
    expect(again.blocks.height).toBe(2n);
    network.clock.advance(1);
    expect(again.blocks.height).toBe(3n);
  });

  it("waits for the genesis time", () => {
    const network = new KvNetwork();
    const time = nanoseconds(network.clock) + 5_000_000_000n;
    const engine = network.engine({ blockInterval: 100, genesis: { ...network.genesis, time } });
    engine.start();
    network.clock.advance(4999);
    expect(engine.blocks.height).toBe(0n);
    network.clock.advance(101);
    expect(engine.blocks.height).toBe(2n);
    checkChain(engine);
  });

  it("waits for a time beyond any timer, and sees a clock that is set right", () => {
    const network = new KvNetwork();
    const year = 365 * 24 * 3_600_000;
    const genesis = { ...network.genesis, time: nanoseconds(network.clock) + BigInt(year) * 1_000_000n };
    const sleeps: number[] = [];
    const clock: Clock = {
      now: () => network.clock.now(),
      after(milliseconds, run) {
        sleeps.push(milliseconds);
        return network.clock.after(milliseconds, run);
      },
    };
    const engine = network.engine({ blockInterval: 100, genesis, clock });
    expect(engine.nextBlockTime).toBe(genesis.time);
    engine.start();
    network.clock.advance(3_600_000);
    expect(engine.blocks.height).toBe(0n);
    expect(Math.max(...sleeps)).toBeLessThanOrEqual(60_000);
    network.clock.skip(year);
    network.clock.advance(60_000);
    expect(engine.blocks.height).toBeGreaterThan(0n);
  });

  it("begins at the initial height of the genesis file", () => {
    const network = new KvNetwork();
    const engine = network.engine({ genesis: { ...network.genesis, initialHeight: 50n } });
    run(engine, ["a=1"], []);
    expect(engine.blocks.base).toBe(50n);
    expect(engine.blocks.height).toBe(51n);
    checkChain(engine);
  });

  it("changes the power of its own key two blocks later", () => {
    const network = new KvNetwork();
    const [own] = network.genesis.validators;
    if (own === undefined) throw new Error("no validator");
    const app = new KvApplication(network.database);
    const finalize = app.finalizeBlock.bind(app);
    app.finalizeBlock = (request) => {
      const validatorUpdates = request.height === 1n ? [{ pubKey: own.pubKey, power: 77n }] : [];
      return { ...finalize(request), validatorUpdates };
    };
    const engine = network.engine({ app });
    run(engine, [], []);
    expect(engine.validators[0]?.power).toBe(77n);
    expect(network.engine().validators[0]?.power).toBe(77n);
    expect([1n, 2n, 3n].map((height) => engine.blocks.validators(height)?.[0]?.power)).toEqual([10n, 10n, 77n]);
    const second = engine.blocks.record(2n)?.header;
    expect(equalBytes(second?.validatorsHash ?? own.pubKey, second?.nextValidatorsHash ?? own.pubKey)).toBe(false);
  });

  it("goes on alone when others become voters, and reports them as absent, also after a restart", () => {
    const network = new KvNetwork();
    const [own] = network.genesis.validators;
    if (own === undefined) throw new Error("no validator");
    const other = new Uint8Array(32).fill(9);
    const updates: Readonly<Record<string, { pubKey: Uint8Array; power: bigint }[]>> = {
      1: [{ pubKey: other, power: 5n }],
      4: [{ pubKey: own.pubKey, power: 0n }],
      6: [{ pubKey: other, power: 0n }],
    };
    const seen: string[][] = [];
    const open = () => {
      const app = new KvApplication(network.database);
      const finalize = app.finalizeBlock.bind(app);
      app.finalizeBlock = (request) => {
        seen.push(request.lastCommit.votes.map(({ flag, validator }) => `${validator.power} ${flag}`));
        return { ...finalize(request), validatorUpdates: updates[`${request.height}`] ?? [] };
      };
      return network.engine({ app });
    };
    run(open(), [], [], [], []);
    // Reopened, the engine knows who the others are.
    const engine = open();
    run(engine, [], [], [], [], []);
    expect(seen).toEqual([
      [],
      ["10 2"],
      ["10 2"],
      ["10 2", "5 1"],
      ["10 2", "5 1"],
      ["10 2", "5 1"],
      ["5 1"],
      ["5 1"],
      [],
    ]);
    expect(engine.validators.map(({ power }) => power)).toEqual([10n]);
    for (const height of [1n, 4n, 9n])
      expect(engine.blocks.record(height)?.commit.signatures.map(({ flag }) => flag)).toEqual([2]);
    checkChain(engine);
  });

  it("begins no chain whose genesis has voters with other keys, whoever has the most power", () => {
    const network = new KvNetwork();
    const [own] = network.genesis.validators;
    if (own === undefined) throw new Error("no validator");
    const others = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
    const begin = (...voters: { pubKey: Uint8Array; power: bigint }[]) => {
      const app = new KvApplication(network.database);
      const init = app.initChain.bind(app);
      app.initChain = (request) => ({ ...init(request), validators: voters });
      return network.engine({ app });
    };
    const [first = own.pubKey, second = own.pubKey] = others;
    const mine = { pubKey: own.pubKey, power: 1n };
    expect(() => begin(mine, { pubKey: first, power: 9n })).toThrow(
      "the genesis file has a validator with another key: this engine signs with the key of its home alone",
    );
    expect(() => begin({ pubKey: first, power: 1n }, { pubKey: second, power: 1n })).toThrow(
      "the genesis file has 2 validators with other keys",
    );
    const listed = { ...network.genesis, validators: [own, { ...own, pubKey: first, name: "other" }] };
    expect(() => network.engine({ genesis: listed })).toThrow("a validator with another key");
    expect(network.engine().blocks.last).toBeUndefined();
    expect(begin(mine).produceBlock().block.header.height).toBe(1n);
  });

  it("goes on with voters of other keys that an earlier version began with, and names them", () => {
    const network = new KvNetwork();
    network.engine().produceBlock();
    const [own] = network.genesis.validators;
    if (own === undefined) throw new Error("no validator");
    const other = { pubKey: new Uint8Array(32).fill(3), power: 90n, address: new Uint8Array(20).fill(3) };
    network.database.write([votersWrite(1n, [own, other])]);
    const app = new KvApplication(network.database);
    const finalize = app.finalizeBlock.bind(app);
    const seen: string[][] = [];
    app.finalizeBlock = (request) => {
      seen.push(request.lastCommit.votes.map(({ flag, validator }) => `${validator.power} ${flag}`));
      return finalize(request);
    };
    const engine = network.engine({ app });
    expect(engine.absent.map(({ power }) => power)).toEqual([90n]);
    run(engine, [], []);
    expect(seen).toEqual([
      ["10 2", "90 1"],
      ["10 2", "90 1"],
    ]);
    checkChain(engine);
  });
});
