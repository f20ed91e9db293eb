import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  coin,
  groupSpec,
  MIN_DEPOSIT,
  orderOf,
  price,
  resourceRow,
  TestMarket,
} from "../../../test/support/chain/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestMessage, testChain } from "../../testing/index.ts";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { Lease_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import {
  MsgCloseBidSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesSchema,
} from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { encodeAddress } from "../../wire/index.ts";

const ESCROW = encodeAddress(moduleAddress("escrow"));
const MAX_INT64 = 2n ** 63n - 1n;

function setUp(coins?: bigint) {
  const chain = testChain(coins === undefined ? {} : { coins: { utoken: coins } });
  const market = new TestMarket(chain);
  const [alice, bob, carol] = [chain.key("alice"), chain.key("bob"), chain.key("carol")];
  market.register(bob, carol);
  return { chain, market, alice, bob, carol };
}

describe("numbers at their ends", () => {
  it("a deployment with the largest number lives, is found and survives an export", () => {
    const { chain, market, alice, bob } = setUp();
    const dseq = 2n ** 64n - 1n;
    const id = market.deploy(alice, { dseq });
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "1" });
    for (const filters of [{ dseq }, { owner: alice.address, dseq }, { provider: bob.address, dseq }])
      expect(chain.query(Query.method.leases, { filters }).leases).toHaveLength(1);
    expect(chain.query(Query.method.leases, { filters: { dseq: dseq - 1n } }).leases).toEqual([]);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
    expect(market.withdraw(bob, orderOf(id)).code).toBe(0);
    expect(market.closeDeployment(alice, id).code).toBe(0);
    expect(market.leaseOf(lease).state).toBe(Lease_State.closed);
    expect(chain.balance(ESCROW)).toBe(0n);
  });

  it("the smallest price over the largest deposit ends in no block that there is, and nothing is lost", () => {
    const all = 2n ** 254n;
    const { chain, market, alice, bob } = setUp(all / 4n);
    const deposit = { denom: "utoken", amount: all / 8n };
    const before = chain.balance(alice.address);
    const id = market.deploy(alice, { dseq: 1n, deposit });
    market.leased(alice, orderOf(id), { provider: bob, price: "0.000000000000000001" });
    expect(market.account(id).exhaustsAt).toBe(MAX_INT64);
    chain.nextBlock(3);
    expect(market.withdraw(bob, orderOf(id)).code).toBe(0);
    expect(market.closeDeployment(alice, id).code).toBe(0);
    expect(chain.balance(alice.address)).toBe(before);
    expect(chain.balance(ESCROW)).toBe(0n);
  });

  it("the largest price of the largest group is paid to the last block", () => {
    const { chain, market, alice, bob } = setUp(10n ** 14n);
    const rows = Array.from({ length: 20 }, (_, i) => resourceRow({ id: i + 1, count: 50, price: "10000000" }));
    const group = { ...groupSpec("large"), resources: rows };
    const deposit = { denom: "utoken", amount: 1_005_000_000_000n };
    const id = market.deploy(alice, { dseq: 1n, groups: [group], deposit });
    const over = create(MsgCreateBidSchema, {
      order: orderOf(id),
      provider: bob.address,
      price: price("10000000000.000000000000000001"),
      deposit: coin(MIN_DEPOSIT),
    });
    expect(chain.send(over, { from: bob })).toMatchObject({ codespace: "market", code: 4 });
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "10000000000" });
    chain.nextBlock(100);
    expect(market.leaseOf(lease).state).toBe(Lease_State.insufficient_funds);
    expect(market.payment(lease).withdrawn).toMatchObject(coin(1_000_000_000_000n));
    expect(market.account(id).balance).toMatchObject(coin(5_000_000_000n));
  });
});

describe("one transaction of several people", () => {
  const parts = () => {
    const world = setUp();
    const { market, alice, bob } = world;
    const id = market.deploy(alice, { dseq: 1n });
    const bidId = { ...orderOf(id), provider: bob.address };
    const offer = { order: orderOf(id), provider: bob.address, price: price("1"), deposit: coin(MIN_DEPOSIT) };
    const whole: TestMessage[] = [
      create(MsgCreateBidSchema, offer),
      create(MsgCreateLeaseSchema, { bidId }),
      create(MsgWithdrawLeaseSchema, { bidId }),
      create(MsgCloseDeploymentSchema, { id }),
    ];
    return { ...world, id, bidId, whole };
  };

  it("runs a whole lease, with everybody's signature", () => {
    const { chain, market, alice, bob, id, whole, bidId } = parts();
    expect(chain.send(whole, { from: bob })).toMatchObject({ codespace: "sdk", code: 4 });
    expect(chain.send(whole, { from: alice, with: [bob] }).code).not.toBe(0);
    expect(chain.send(whole, { from: bob, with: [alice] }).code).toBe(0);
    expect(market.deployment(id).isActive).toBe(false);
    expect(market.leaseOf(bidId)).toMatchObject({ state: Lease_State.closed, closedOn: chain.height });
    expect(chain.balance(ESCROW)).toBe(0n);
  });

  it("leaves nothing when its last message fails", () => {
    const { chain, alice, bob, whole, id } = parts();
    const before = chain.balance(ESCROW);
    const again = create(MsgCloseDeploymentSchema, { id });
    expect(chain.send([...whole, again], { from: bob, with: [alice] })).toMatchObject({
      codespace: "deployment",
      code: 5,
    });
    expect(chain.balance(ESCROW)).toBe(before);
    expect(chain.query(Query.method.bids, {}).bids).toEqual([]);
  });

  it.each<[string, (bidId: ReturnType<typeof parts>["bidId"]) => TestMessage, number]>([
    ["create lease", (bidId) => create(MsgCreateLeaseSchema, { bidId }), 12],
    ["close bid", (bidId) => create(MsgCloseBidSchema, { bidId }), 6],
    ["close deployment", ({ owner, dseq }) => create(MsgCloseDeploymentSchema, { id: { owner, dseq } }), 5],
    ["pause group", ({ owner, dseq }) => create(MsgPauseGroupSchema, { id: { owner, dseq, gseq: 1 } }), 17],
    [
      "update deployment",
      ({ owner, dseq }) =>
        create(MsgUpdateDeploymentSchema, { id: { owner, dseq }, version: new Uint8Array(32).fill(9) }),
      10,
    ],
    [
      "create deployment",
      ({ owner }) =>
        create(MsgCreateDeploymentSchema, {
          id: { owner, dseq: 2n },
          groups: [groupSpec("web")],
          version: new Uint8Array(32),
          deposit: coin(MIN_DEPOSIT),
        }),
      3,
    ],
  ])("does not %s twice", (name, make, code) => {
    const { chain, market, alice, bob, bidId } = parts();
    market.bid(bob, bidId, "1");
    const message = make(bidId);
    const from = name === "close bid" ? bob : alice;
    const sent = chain.send([message, message], { from });
    expect(sent.code).toBe(code);
    expect(sent.log).toContain("message index: 1");
    expect(chain.send(message, { from }).code).toBe(0);
  });

  it("pays in and out twice as it says", () => {
    const { chain, market, alice, bob, bidId, id } = parts();
    market.leased(alice, bidId, { provider: bob, price: "1" });
    const deposit = create(MsgDepositDeploymentSchema, { id, amount: coin(7n) });
    chain.mustSend([deposit, deposit], { from: alice });
    expect(market.account(id).balance).toMatchObject(coin(MIN_DEPOSIT + 14n - 1n));
    const collect = create(MsgWithdrawLeasesSchema, { provider: bob.address, ids: [bidId, bidId] });
    chain.mustSend([collect, collect], { from: bob });
    expect(market.payment(bidId).withdrawn).toMatchObject(coin(2n));
  });
});
