import { create, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { operatorAddress, orderOf, TestMarket } from "../../test/support/chain/index.ts";
import { simulateWhole } from "../../test/support/simulation/whole.ts";
import { NO_VOTERS } from "../abci/index.ts";
import { memoryDatabase } from "../store/index.ts";
import { type TestChain, testChain } from "../testing/index.ts";
import { Query as BankQuery } from "../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Query as DistributionQuery } from "../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { Query as SlashingQuery } from "../wire/gen/sdk/slashing/v1beta1/query_pb.js";
import { Query as StakingQuery } from "../wire/gen/sdk/staking/v1beta1/query_pb.js";
import { Query as DeploymentQuery } from "../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Query as EscrowQuery, type Payment } from "../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Query as MarketQuery } from "../wire/gen/svc/market/v1beta1/query_pb.js";
import { decodeAddress, decodeMessage, encodeMessage, methodPath } from "../wire/index.ts";
import { createApp } from "./app.ts";
import type { RestartState, SvcApplication } from "./application.ts";

const SEED = Number(process.env.SEED ?? 7346);
const OPERATIONS = 700;
const BLOCKS = 60n;
const ALL = { pagination: { limit: 1_000n } };

it.each([SEED])("goes on at height 1 as at any other, seed %d", (seed) => {
  const { chain } = simulateWhole({ seed, operations: 4 * OPERATIONS });
  const { height: last } = chain;
  const hash = chain.app.info().lastBlockAppHash;
  const state = need(chain.app.restartAt(last, {}));
  expect(chain.app.info().lastBlockAppHash).toEqual(hash);
  const again = begin(chain, state);
  // The new chain's blocks have no votes, so no validator may be punished for absence on the old chain either.
  chain.voters.absent.clear();
  const open: number[] = [];
  for (let height = 1n; height <= BLOCKS; height++) {
    chain.nextBlock();
    empty(again, height, chain.time);
    open.push(ask(again, EscrowQuery.method.payments, { state: "open", ...ALL }).payments.length);
    expect(earnings(again)).toEqual(earnings(chain.app));
    expect(ends(again, 0n, height)).toEqual(ends(chain.app, last, height));
  }
  const supply = (app: SvcApplication) => ask(app, BankQuery.method.totalSupply, ALL).supply;
  expect(supply(again)).toEqual(supply(chain.app));
  expect(open[0]).toBeGreaterThan(3);
  expect(open.at(-1)).toBeLessThan(open[0] ?? 0);
  expect(again.brokenInvariants()).toEqual([]);
});

it("keeps every height from the last block on, and pays all rewards", () => {
  const { chain } = simulateWhole({ seed: SEED + 2, operations: OPERATIONS });
  const { height: last } = chain;
  const again = begin(chain, need(chain.app.restartAt(last, {})));
  empty(again, 1n, chain.time);
  const deployments = ask(again, DeploymentQuery.method.deployments, ALL).deployments;
  const there = ask(chain.app, DeploymentQuery.method.deployments, ALL).deployments;
  expect(deployments.map(({ deployment }) => deployment?.createdAt)).toEqual(
    there.map(({ deployment }) => (deployment?.createdAt ?? 0n) - last),
  );
  expect(ask(again, DeploymentQuery.method.params, {}).numberBase).toBe(last);
  for (const { createdAt, expiresAt } of ask(again, MarketQuery.method.orders, {
    filters: { state: "open" },
    ...ALL,
  }).orders) {
    expect(createdAt).toBeLessThanOrEqual(0n);
    expect(expiresAt).toBeGreaterThan(0n);
  }
  for (const { startHeight } of ask(again, SlashingQuery.method.signingInfos, ALL).info) expect(startHeight).toBe(0n);
  for (const key of chain.keys.values()) {
    const delegatorAddress = key.address;
    expect(ask(again, DistributionQuery.method.delegationTotalRewards, { delegatorAddress }).total).toEqual([]);
  }
});

it("takes along a lease that ended in the last block, and what it cost", () => {
  const chain = testChain();
  const market = new TestMarket(chain);
  const [tenant, provider] = [chain.key("alice"), chain.key("bob")];
  market.register(provider);
  const order = orderOf(market.deploy(tenant, { dseq: 1n }));
  const lease = market.leased(tenant, order, { provider, price: "0.5" });
  chain.nextBlock(3);
  market.closeLease(tenant, order, { provider });
  const payment = market.payment(lease);
  const state = need(chain.app.restartAt(chain.height, {}));
  const again = begin(chain, state);
  empty(again, 1n, chain.time);
  expect(again.brokenInvariants()).toEqual([]);
  const [moved] = ask(again, EscrowQuery.method.payments, ALL).payments.filter(
    ({ state: each }) => each === payment.state,
  );
  expect(moved).toMatchObject({ closedAt: -1n, startedAt: payment.startedAt - payment.closedAt - 1n });
});

it("jails the validators it is told to, on the new chain alone", () => {
  const { chain } = simulateWhole({ seed: SEED + 3, operations: OPERATIONS });
  const { validators } = ask(chain.app, StakingQuery.method.validators, { status: "BOND_STATUS_BONDED", ...ALL });
  const stays = need(validators.find(({ jailed }) => !jailed)).operatorAddress;
  const unjailed = [decodeAddress(stays, "valoper")];
  const state = need(chain.app.restartAt(chain.height, { unjailed }));
  expect(state.before).toHaveLength(validators.length);
  expect(state.voters).toHaveLength(1);
  const again = begin(chain, state);
  empty(again, 1n, chain.time);
  const after = ask(again, StakingQuery.method.validators, ALL).validators;
  expect(after.filter(({ jailed }) => !jailed).map((each) => each.operatorAddress)).toEqual([stays]);
  expect(ask(chain.app, StakingQuery.method.validators, { status: "BOND_STATUS_BONDED", ...ALL }).validators).toEqual(
    validators,
  );
  expect([...chain.keys.values()].map(operatorAddress)).toContain(stays);
});

it("continues a chain that was continued before", () => {
  const { chain } = simulateWhole({ seed: SEED + 4, operations: 400 });
  const second = begin(chain, need(chain.app.restartAt(chain.height, {})));
  for (let height = 1n; height <= 3n; height++) empty(second, height, chain.time);
  const third = begin(chain, need(second.restartAt(3n, {})));
  empty(third, 1n, chain.time);
  expect(ask(third, DeploymentQuery.method.params, {}).numberBase).toBe(chain.height + 3n);
  for (let i = 0; i < 4; i++) chain.nextBlock();
  expect(earnings(third)).toEqual(earnings(chain.app));
});

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it is there");
  return value;
}

function begin({ time }: TestChain, { consensusParams, appState }: RestartState): SvcApplication {
  const app = createApp({ database: memoryDatabase(), checkInvariants: true });
  app.initChain({ chainId: "again-1", time, initialHeight: 1n, validators: [], consensusParams, appState });
  return app;
}

function empty(app: SvcApplication, height: bigint, time: bigint): void {
  const place = { height, time, proposer: new Uint8Array(20), hash: new Uint8Array(32) };
  app.finalizeBlock({ ...NO_VOTERS, ...place, txs: [] });
  app.commit();
}

/** Earnings of each payment, paid out or not. */
function earnings(app: SvcApplication): Map<string, bigint> {
  const { payments } = ask(app, EscrowQuery.method.payments, ALL);
  const amount = ({ withdrawn, accrued }: Payment) => BigInt(withdrawn?.amount ?? "0") + BigInt(accrued?.amount ?? "0");
  return new Map(payments.map((each) => [`${each.accountId?.xid} ${each.paymentId}`, amount(each)]));
}

/** The number of blocks until the money of each account with an open payment ends. */
function ends(app: SvcApplication, base: bigint, height: bigint): Map<string, bigint> {
  const { accounts } = ask(app, EscrowQuery.method.accounts, { state: "open", ...ALL });
  const paying = accounts.filter(({ exhaustsAt }) => exhaustsAt > base + height);
  return new Map(paying.map(({ id, exhaustsAt }) => [id?.xid ?? "", exhaustsAt - base - height]));
}

function ask<M extends DescMethod>(
  app: SvcApplication,
  method: M,
  request: MessageInitShape<M["input"]>,
): MessageShape<M["output"]> {
  const data = encodeMessage(method.input, create(method.input, request));
  const { code, log, value } = app.query({ path: methodPath(method), data, height: 0n, prove: false });
  if (code !== 0) throw new Error(log);
  return decodeMessage<M["output"]>(method.output, value);
}
