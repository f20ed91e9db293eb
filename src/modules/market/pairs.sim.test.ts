import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { coin, groupSpec, MIN_DEPOSIT, orderOf, price, TestMarket } from "../../../test/support/chain/index.ts";
import { sampled } from "../../../test/support/runs.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { signTx, type TestKey, testChain } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { GenesisStateSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import {
  MsgCloseBidSchema,
  MsgCloseLeaseSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesSchema,
} from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgDeleteProviderSchema, MsgUpdateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { encodeAddress, toJson } from "../../wire/index.ts";
import { defaultParams } from "../deployment/params.ts";

/** A lease may begin with money for one block. */
const PARAMS = { ...defaultParams(), minStartBlocks: 1n };
const GENESIS = { deployment: toJson(GenesisStateSchema, create(GenesisStateSchema, { params: PARAMS })) };

interface Act {
  readonly from: TestKey;
  readonly message: Message;
}

/**
 * A deployment with a lease (group 1), an open order with a bid (group 2) and a paused group (group 3), whose money
 * ends in the block of the test; and every possible message about it.
 */
function stage() {
  const chain = testChain({ genesis: GENESIS });
  const market = new TestMarket(chain);
  const [alice, bob, carol, dave] = [chain.key("alice"), chain.key("bob"), chain.key("carol"), chain.key("dave")];
  market.register(bob, carol, dave);
  const groups = [groupSpec("a", { price: "2000000" }), groupSpec("b"), groupSpec("c")];
  const id = market.deploy(alice, { dseq: 1n, groups, deposit: { denom: NATIVE_DENOM, amount: MIN_DEPOSIT } });
  chain.mustSend(create(MsgPauseGroupSchema, { id: { ...id, gseq: 3 } }), { from: alice });
  market.bid(carol, orderOf(id, 2), "0.4");
  const lease = market.leased(alice, orderOf(id, 1), { provider: bob, price: "2000000" });
  while (market.account(id).exhaustsAt > chain.height + 1n) chain.nextBlock();
  const bid = { ...orderOf(id, 2), provider: carol.address };
  const newBid = { order: orderOf(id, 2), provider: dave.address, price: price("0.3"), deposit: coin(MIN_DEPOSIT) };
  const moved = { owner: bob.address, hostUri: "https://elsewhere.test:8443" };
  const acts: Readonly<Record<string, Act>> = {
    deposit: { from: alice, message: create(MsgDepositDeploymentSchema, { id, amount: coin(MIN_DEPOSIT) }) },
    update: { from: alice, message: create(MsgUpdateDeploymentSchema, { id, version: new Uint8Array(32) }) },
    "close deployment": { from: alice, message: create(MsgCloseDeploymentSchema, { id }) },
    "close group": { from: alice, message: create(MsgCloseGroupSchema, { id: { ...id, gseq: 1 } }) },
    "pause leased group": { from: alice, message: create(MsgPauseGroupSchema, { id: { ...id, gseq: 1 } }) },
    "pause open group": { from: alice, message: create(MsgPauseGroupSchema, { id: { ...id, gseq: 2 } }) },
    "start group": { from: alice, message: create(MsgStartGroupSchema, { id: { ...id, gseq: 3 } }) },
    bid: { from: dave, message: create(MsgCreateBidSchema, newBid) },
    "close winning bid": { from: bob, message: create(MsgCloseBidSchema, { bidId: lease }) },
    "close open bid": { from: carol, message: create(MsgCloseBidSchema, { bidId: bid }) },
    lease: { from: alice, message: create(MsgCreateLeaseSchema, { bidId: bid }) },
    "close lease": { from: alice, message: create(MsgCloseLeaseSchema, { leaseId: lease }) },
    "close lease and reopen": { from: alice, message: create(MsgCloseLeaseSchema, { leaseId: lease, reopen: true }) },
    withdraw: { from: bob, message: create(MsgWithdrawLeaseSchema, { bidId: lease }) },
    "withdraw all": { from: bob, message: create(MsgWithdrawLeasesSchema, { provider: bob.address }) },
    "delete provider": { from: carol, message: create(MsgDeleteProviderSchema, { owner: carol.address }) },
    "update provider": { from: bob, message: create(MsgUpdateProviderSchema, moved) },
  };
  return { chain, id, alice, acts };
}

/** All pairs take a minute. */
const NTH = 5;

describe("two messages about one deployment in the block in which its money ends", () => {
  const { chain: staged, id, alice, acts } = stage();
  const names = Object.keys(acts);

  it.each(names)("%s, and then each other one, leave a sound state", (first) => {
    for (const second of sampled(names.slice(names.indexOf(first)).concat(names.slice(0, names.indexOf(first))), NTH)) {
      const chain = staged.fork();
      const market = new TestMarket(chain);
      const pair = [acts[first], acts[second]].filter((act) => act !== undefined);
      const sequences = new Map<string, bigint>();
      const txs = pair.map(({ from, message }) => {
        const { accountNumber, sequence } = chain.account(from.address);
        const used = sequences.get(from.name) ?? 0n;
        sequences.set(from.name, used + 1n);
        return signTx(chain.chainId, [message], [{ key: from, accountNumber, sequence: sequence + used }]);
      });
      // The invariants run after the block, and a programming error in a message fails the test.
      const [done] = chain.block(txs);
      // These three need money that is no longer there.
      const isPoor = ["start group", "close lease and reopen", "lease"].includes(first);
      if (!isPoor) expect([first, done?.code]).toEqual([first, 0]);
      chain.nextBlock();
      if (market.deployment(id).isActive) expect([second, market.closeDeployment(alice, id).code]).toEqual([second, 0]);
      expect([second, chain.balance(encodeAddress(moduleAddress("escrow")))]).toEqual([second, 0n]);
    }
  });
});
