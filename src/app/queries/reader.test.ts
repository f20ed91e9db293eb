import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { DEFAULT_CONSENSUS_PARAMS, NO_VOTERS } from "../../abci/index.ts";
import { GivenUp } from "../../runtime/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { signTx, type TestKey, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { QueryAccountRequestSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { QueryBalanceRequestSchema } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Service } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { decodeMessage, encodeAddress, encodeMessage } from "../../wire/index.ts";
import { AppReader, createApp, standardModules } from "../index.ts";

const CHAIN_ID = "read-1";
const SIMULATE = "/cosmos.tx.v1beta1.Service/Simulate";
const [ALICE, BOB] = [testKey("alice"), testKey("bob")];
const FEE = [{ denom: NATIVE_DENOM, amount: 400n }];
const freely = { checkTime: () => {} };

/** A chain with two accounts, and a reader of its tables. */
function chain() {
  const database = memoryDatabase();
  const app = createApp({ database, version: "v1" });
  const balances = [ALICE, BOB].map(({ address }) => ({ address, coins: [{ denom: NATIVE_DENOM, amount: "1000" }] }));
  const accounts = [ALICE, BOB].map(({ address }, number) => ({
    "@type": "/sdk.auth.v1beta1.BaseAccount",
    address,
    account_number: `${number}`,
    sequence: "0",
  }));
  app.initChain({
    chainId: CHAIN_ID,
    time: 5n,
    initialHeight: 1n,
    validators: [],
    consensusParams: DEFAULT_CONSENSUS_PARAMS,
    appState: { auth: { accounts }, bank: { balances } },
  });
  let height = 0n;
  const block = (txs: readonly Uint8Array[] = []) => {
    height += 1n;
    const place = { height, time: height * 10n, proposer: new Uint8Array(20), hash: new Uint8Array(32) };
    const { txResults } = app.finalizeBlock({ ...NO_VOTERS, ...place, txs });
    app.commit();
    return txResults;
  };
  const reader = new AppReader({ set: standardModules(), version: "v1" });
  return { app, block, database, reader };
}

function send(from: TestKey, sequence: bigint, amount = "1"): Uint8Array {
  const coins = [{ denom: NATIVE_DENOM, amount }];
  const message = create(MsgSendSchema, { fromAddress: from.address, toAddress: BOB.address, amount: coins });
  return signTx(CHAIN_ID, [message], [{ key: from, accountNumber: 0n, sequence }], { gas: 200_000n, fee: FEE });
}

const query = (path: string, data: Uint8Array = new Uint8Array(), height = 0n) => ({
  path,
  data,
  height,
  prove: false,
});
const simulate = (tx: Uint8Array) =>
  query(SIMULATE, encodeMessage(Service.method.simulate.input, create(Service.method.simulate.input, { txBytes: tx })));

it("answers as the application does that makes the blocks, at every height", () => {
  const { app, block, database, reader } = chain();
  const account = encodeMessage(
    QueryAccountRequestSchema,
    create(QueryAccountRequestSchema, { address: ALICE.address }),
  );
  const balance = create(QueryBalanceRequestSchema, { address: BOB.address, denom: NATIVE_DENOM });
  const queries = [
    query("/cosmos.auth.v1beta1.Query/Account", account),
    query("/sdk.bank.v1beta1.Query/Balance", encodeMessage(QueryBalanceRequestSchema, balance)),
    query("/svc.market.v1beta1.Query/Orders"),
    query("/sdk.bank.v1beta1.Query/Balance", Uint8Array.of(0xff)),
    query("/sdk.bank.v1beta1.Query/Balance", new Uint8Array(), 9n),
    query("/store/auth/key", Uint8Array.of(2)),
    query("/store/auth/key", new Uint8Array()),
    query("/app/version"),
    query("/nowhere"),
  ];
  const same = () => {
    for (const each of queries) expect(reader.query(database, each, freely)).toEqual(app.query(each));
  };
  same();
  for (const txs of [[], [send(ALICE, 0n)], [send(ALICE, 1n)]]) {
    expect(block(txs).every(({ code }) => code === 0)).toBe(true);
    same();
  }
});

it("simulates behind the transactions of the same signer that wait for a block", () => {
  const { app, block, database, reader } = chain();
  block();
  expect(app.checkTx({ tx: send(ALICE, 0n), kind: "new" }).code).toBe(0);
  const next = simulate(send(ALICE, 1n));
  expect(reader.query(database, next, freely)).toMatchObject({ info: "sdk/32" });
  const pending = app.pending(reader.signersOf(next));
  expect(pending.height).toBe(1n);
  const answer = reader.query(database, next, { ...freely, pending });
  expect(answer).toMatchObject({ code: 0, log: "" });
  expect(decodeMessage(Service.method.simulate.output, answer.value).gasInfo?.gasUsed).toBeGreaterThan(0n);
  // The fee of the waiting transaction is spent, as the simulated one's will be.
  const tooMuch = simulate(send(ALICE, 1n, "201"));
  expect(reader.query(database, tooMuch, { ...freely, pending }).log).toContain("200utoken is smaller than 201utoken");
  expect(app.pending([BOB.bytes]).claimed.size).toBe(0);
});

it("knows whose pending transactions a simulation needs, and that other queries need none", () => {
  const { reader } = chain();
  expect(reader.signersOf(simulate(send(ALICE, 0n))).map((each) => encodeAddress(each))).toEqual([ALICE.address]);
  expect(reader.signersOf(simulate(Uint8Array.of(1)))).toEqual([]);
  expect(reader.signersOf(query("/sdk.bank.v1beta1.Query/Balance"))).toEqual([]);
});

it("gives a simulation up at any check of its budget, without a result", () => {
  const { block, database, reader } = chain();
  block();
  let looks = 0;
  const count = {
    checkTime: () => {
      looks += 1;
    },
  };
  reader.query(database, simulate(send(ALICE, 0n)), count);
  // It is called before the message, and whenever gas is taken before and during it.
  expect(looks).toBeGreaterThan(3);
  for (let last = 1; last <= looks; last++) {
    let left = last;
    const checkTime = () => {
      left -= 1;
      if (left === 0) throw new GivenUp();
    };
    expect(() => reader.query(database, simulate(send(ALICE, 0n)), { checkTime })).toThrow(GivenUp);
  }
});
