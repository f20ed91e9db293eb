import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type ConsensusParams, DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../abci/index.ts";
import { type Context, defineGenesis, defineModule } from "../runtime/index.ts";
import { type Database, memoryDatabase } from "../store/index.ts";
import { signTx, type TestChain, testChain, testKey } from "../testing/index.ts";
import { MsgSendSchema } from "../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { GenesisStateSchema } from "../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { createApp, moduleSet } from "./index.ts";

const FEE = 500n;
const NOBODY = testKey("nobody").address;

function newChain(maxBlockGas: bigint): TestChain {
  return testChain({ modules: () => [], maxBlockGas });
}

/** Transfers of alice with consecutive sequences. */
function transfers(chain: TestChain, gas: readonly bigint[]): Uint8Array[] {
  const key = chain.key("alice");
  const { accountNumber, sequence } = chain.account(key.address);
  const message = create(MsgSendSchema, {
    fromAddress: key.address,
    toAddress: NOBODY,
    amount: [{ denom: "utoken", amount: "1" }],
  });
  return gas.map((limit, i) => {
    const signer = { key, accountNumber, sequence: sequence + BigInt(i) };
    return signTx(chain.chainId, [message], [signer], { gas: limit, fee: [{ denom: "utoken", amount: FEE }] });
  });
}

/** Gas that these transfers use where there is no limit. */
function gasUsed(limits: readonly bigint[]): bigint[] {
  const chain = newChain(-1n);
  return chain.block(transfers(chain, limits)).map(({ gasUsed: used }) => used);
}

function propose(chain: TestChain, txs: readonly Uint8Array[]) {
  return chain.app.prepareProposal({ ...place(chain), txs, maxBytes: 1 << 20 });
}

function accepts(chain: TestChain, txs: readonly Uint8Array[]): boolean {
  return chain.app.processProposal({ ...place(chain), txs, hash: new Uint8Array(32) });
}

function place(chain: TestChain) {
  return { ...NO_VOTERS, height: chain.height + 1n, time: chain.time + 1n, proposer: new Uint8Array(20) };
}

describe("a proposal", () => {
  test("asks for no more gas than a block has, and passes over what could never fit", () => {
    const chain = newChain(500_000n);
    chain.app.holdClaims();
    const [a, b, c, d] = transfers(chain, [200_000n, 600_000n, 300_000n, 1n]);
    const all = [a, b, c, d].filter((tx) => tx !== undefined);
    expect(propose(chain, all)).toEqual([a, c]);
  });

  test("ends at the first that no longer fits, because later ones build on it", () => {
    const chain = newChain(500_000n);
    const txs = transfers(chain, [200_000n, 301_000n, 100_000n]);
    expect(propose(chain, txs)).toEqual(txs.slice(0, 1));
  });

  test("is refused when it asks for more", () => {
    const chain = newChain(500_000n);
    expect(accepts(chain, transfers(chain, [200_000n, 300_000n]))).toBe(true);
    expect(accepts(chain, transfers(chain, [200_000n, 300_001n]))).toBe(false);
    expect(accepts(newChain(-1n), transfers(chain, [10n ** 15n, 10n ** 15n]))).toBe(true);
  });
});

describe("a block", () => {
  test("undoes the messages that go beyond its gas, and runs nothing after them", () => {
    const limits = [200_000n, 200_000n, 200_000n, 200_000n];
    const [first = 0n, second = 0n, third = 0n] = gasUsed(limits);
    const chain = newChain(first + second + third - 1n);
    const txs = transfers(chain, limits);
    const results = chain.block(txs);
    expect(results.map(({ code, codespace }) => `${codespace}/${code}`)).toEqual(["/0", "/0", "sdk/11", "sdk/11"]);
    expect(results[2]).toMatchObject({ gasWanted: 200_000n, data: new Uint8Array() });
    expect(results[2]?.log).toBe(
      `out of gas in location: block gas meter; gasWanted: 200000, gasUsed: ${third}: out of gas`,
    );
    expect(results[3]).toMatchObject({
      log: "no block gas left to run tx: out of gas",
      gasWanted: 0n,
      gasUsed: 0n,
      events: [],
    });
    expect(chain.balance(NOBODY)).toBe(2n);
    // The third paid for the checks and counts; the fourth was not even checked.
    expect(chain.account(chain.key("alice").address).sequence).toBe(3n);
    expect(chain.balance(chain.key("alice").address)).toBe(10n ** 12n - 2n - 3n * FEE);
    expect(chain.block(txs.slice(3))[0]?.code).toBe(0);
  });

  test("counts the gas that was used, but no more than the transaction asked for", () => {
    const limits = [1_000n, 1_000n, 200_000n];
    const [used = 0n] = gasUsed([200_000n]);
    const run = (maxBlockGas: bigint, wanted: readonly bigint[]) => {
      const chain = newChain(maxBlockGas);
      return chain.block(transfers(chain, wanted)).map(({ code }) => code);
    };
    // The ante checks of the first two end for lack of gas, so the third has a wrong sequence unless it is the first.
    expect(run(2_000n, limits)).toEqual([11, 11, 11]);
    expect(run(2_001n, limits)).toEqual([11, 11, 32]);
    expect(run(used, [200_000n])).toEqual([0]);
    expect(run(used - 1n, [200_000n])).toEqual([11]);
  });

  test("counts nothing for a transaction that cannot be read", () => {
    const chain = newChain(200_000n);
    const rubbish = Array.from({ length: 20 }, () => Uint8Array.of(0, 0, 0));
    const results = chain.block([...rubbish, ...transfers(chain, [200_000n])]);
    expect(results.at(-1)?.code).toBe(0);
  });
});

describe("the limit", () => {
  const limited = (maxGas: bigint): ConsensusParams => ({
    ...DEFAULT_CONSENSUS_PARAMS,
    block: { ...DEFAULT_CONSENSUS_PARAMS.block, maxGas },
  });

  function appOn(database: Database, changed?: ConsensusParams) {
    const part = {
      schema: GenesisStateSchema,
      defaults: () => create(GenesisStateSchema),
      init: () => {},
      export: () => create(GenesisStateSchema),
    };
    const set = moduleSet(({ consensus }) => {
      const endBlock = (ctx: Context): undefined => {
        if (changed !== undefined) consensus.setParams(ctx, changed);
      };
      return [defineModule({ name: "one", genesis: defineGenesis(part), endBlock })];
    });
    return createApp({ database, set });
  }

  const check = (app: ReturnType<typeof appOn>, gas: bigint) =>
    app.checkTx({ tx: transfers(newChain(-1n), [gas])[0] ?? new Uint8Array(), kind: "new" }).code;

  function block(app: ReturnType<typeof appOn>, height: bigint): void {
    const at = { ...NO_VOTERS, height, time: height, proposer: new Uint8Array(20) };
    app.finalizeBlock({ ...at, txs: [], hash: new Uint8Array(32) });
    app.commit();
  }

  test("is that of genesis, also after a restart, and follows the parameters of consensus", () => {
    const database = memoryDatabase();
    const app = appOn(database);
    const genesis = { chainId: "test-1", time: 1n, initialHeight: 1n, validators: [], appState: {} };
    app.initChain({ ...genesis, consensusParams: limited(50_000n) });
    expect([check(app, 50_001n), check(app, 50_000n)]).toEqual([41, 9]);
    block(app, 1n);
    const again = appOn(database, limited(40_000n));
    expect([check(again, 50_001n), check(again, 50_000n)]).toEqual([41, 9]);
    block(again, 2n);
    expect([check(again, 40_001n), check(again, 40_000n)]).toEqual([41, 9]);
    expect([check(appOn(database), 40_001n), check(appOn(database), 40_000n)]).toEqual([41, 9]);
  });
});
