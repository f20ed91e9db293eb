import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { coin, groupSpec, MIN_DEPOSIT, marketEvents, orderOf, TestMarket } from "../../../test/support/chain/index.ts";
import { sized } from "../../../test/support/runs.ts";
import { type TestChain, type TestKey, testChain } from "../../testing/index.ts";
import {
  GenesisStateSchema as DeploymentGenesis,
  type Params as DeploymentParams,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query as DeploymentQuery } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { MsgCloseDeploymentSchema, MsgCreateDeploymentSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { Query } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { type DeploymentKey, toJson } from "../../wire/index.ts";
import { defaultParams } from "../deployment/params.ts";
import { MAX_FAR_NUMBERS } from "../deployment/pruning.ts";

const RETENTION = 10n;
const PROVIDERS = ["p1", "p2", "p3"];

function setUp(change: Partial<DeploymentParams> = {}, accounts: readonly string[] = ["alice", "bob"]) {
  const params = { ...defaultParams(), minStartBlocks: 1n, retentionBlocks: RETENTION, ...change };
  const chain = testChain({
    accounts: [...accounts, ...PROVIDERS],
    genesis: { deployment: toJson(DeploymentGenesis, create(DeploymentGenesis, { params })) },
  });
  const market = new TestMarket(chain);
  const providers = PROVIDERS.map((name) => chain.key(name));
  market.register(...providers);
  return { chain, market, providers, alice: chain.key("alice"), bob: chain.key("bob") };
}

const MARKETPLACE = ["deployment", "market", "escrow"];

/** Keys of the marketplace by store. */
function keyCounts(chain: TestChain): Record<string, number> {
  const count = (store: string) => [...chain.app.state.store(store).iterate()].length;
  return Object.fromEntries(MARKETPLACE.map((store) => [store, count(store)]));
}

/** A deployment with a lease, two lost bids and a second group, which ran for a block. */
function leased({ market, providers }: ReturnType<typeof setUp>, owner: TestKey, dseq: bigint): DeploymentKey {
  const id = market.deploy(owner, { dseq, groups: [groupSpec("web"), groupSpec("db")] });
  const [winner, ...losers] = providers;
  if (winner === undefined) throw new Error("somebody bids");
  for (const loser of losers) market.bid(loser, orderOf(id), "1");
  market.leased(owner, orderOf(id), { provider: winner, price: "1" });
  return id;
}

function isPruned(chain: TestChain, id: DeploymentKey): boolean {
  return chain.query(DeploymentQuery.method.pruned, { id }).pruned;
}

describe("a closed deployment", () => {
  it("leaves the state after its period with everything of it, and leaves one number behind", () => {
    const world = setUp();
    const { chain, market, alice } = world;
    const before = keyCounts(chain);
    const id = leased(world, alice, chain.height);
    const lease = { ...orderOf(id), provider: world.providers[0]?.address ?? "" };
    market.closeDeployment(alice, id);
    const closedOn = chain.height;
    chain.nextBlock(Number(RETENTION) - 1);
    expect(market.leaseOf(lease)).toMatchObject({ closedOn });
    expect(isPruned(chain, id)).toBe(false);
    chain.nextBlock();
    expect(marketEvents({ events: chain.blockEvents })).toMatchObject([
      { module: "deployment", action: "deployment-pruned", owner: id.owner, dseq: `${id.dseq}` },
    ]);
    expect(isPruned(chain, id)).toBe(true);
    const { deployment = 0, ...rest } = before;
    expect(keyCounts(chain)).toEqual({ ...rest, deployment: deployment + 1 });
    for (const list of [Query.method.orders, Query.method.bids, Query.method.leases]) {
      const answer = chain.query(list, { filters: { owner: id.owner } });
      expect(Object.values(answer).filter(Array.isArray)).toEqual([[]]);
    }
    expect(() => chain.query(Query.method.lease, { id: lease })).toThrow("lease not found");
  });

  it("is reported as having existed", () => {
    const world = setUp();
    const { chain, market, alice } = world;
    const id = leased(world, alice, 3n);
    market.closeDeployment(alice, id);
    chain.nextBlock(Number(RETENTION));
    expect(() => chain.query(DeploymentQuery.method.deployment, { id })).toThrow(
      `${id.owner}/3 was closed and is no longer kept: deployment not found`,
    );
    expect(() => chain.query(DeploymentQuery.method.deployment, { id: { ...id, dseq: 4n } })).toThrow(
      `${id.owner}/4: deployment not found`,
    );
    const { pruned, height } = chain.query(DeploymentQuery.method.pruned, { id });
    expect([pruned, height]).toEqual([true, chain.height]);
  });

  it("reports in its last events what was paid and what went back", () => {
    const world = setUp();
    const { chain, market, alice } = world;
    const id = leased(world, alice, 3n);
    chain.nextBlock(4);
    const events = marketEvents(market.closeDeployment(alice, id));
    expect(events.find(({ action }) => action === "lease-closed")).toMatchObject({
      amount: "5utoken",
      reason: "owner",
    });
    expect(events.find(({ action }) => action === "deployment-closed")).toMatchObject({
      ...{ paid: "5utoken", returned: `${MIN_DEPOSIT - 5n}utoken` },
      reason: "owner",
    });
  });

  it("stays while it is not closed, however old", () => {
    const world = setUp();
    const { chain, market, alice, bob } = world;
    const id = leased(world, alice, 3n);
    const other = leased(world, bob, 3n);
    market.closeDeployment(bob, other);
    chain.nextBlock(5 * Number(RETENTION));
    expect([isPruned(chain, id), isPruned(chain, other)]).toEqual([false, true]);
    expect(market.deployment(id).isActive).toBe(true);
  });
});

describe("a number that was used", () => {
  const tryToCreate = ({ chain }: ReturnType<typeof setUp>, owner: TestKey, dseq: bigint) =>
    chain.send(
      create(MsgCreateDeploymentSchema, {
        ...{ id: { owner: owner.address, dseq }, groups: [groupSpec("web")] },
        ...{ version: new Uint8Array(32).fill(1), deposit: coin(MIN_DEPOSIT) },
      }),
      { from: owner },
    );

  it("is never used again, nor are those of its owner below", () => {
    const world = setUp();
    const { chain, market, alice, bob } = world;
    chain.nextBlock(20);
    market.closeDeployment(alice, leased(world, alice, 12n));
    chain.nextBlock(Number(RETENTION));
    for (const dseq of [12n, 11n, 1n]) {
      expect(tryToCreate(world, alice, dseq)).toMatchObject({
        ...{ codespace: "deployment", code: 26 },
        log: expect.stringContaining(`/${dseq}: all numbers of this owner up to 12 are: deployment number used up`),
      });
    }
    expect(tryToCreate(world, alice, 13n).code).toBe(0);
    expect(tryToCreate(world, bob, 12n).code).toBe(0);
  });

  it("above the height uses up itself alone, until the height is there", () => {
    const world = setUp();
    const { chain, market, alice } = world;
    const highest = 2n ** 64n - 1n;
    const ids = [highest, 70n, 80n].map((dseq) => market.deploy(alice, { dseq }));
    for (const id of ids) market.closeDeployment(alice, id);
    chain.nextBlock(Number(RETENTION));
    for (const dseq of [highest, 70n, 80n])
      expect(tryToCreate(world, alice, dseq).log).toContain(`/${dseq}, which is: deployment number used up`);
    expect(ids.map((id) => isPruned(chain, id))).toEqual([true, true, true]);
    expect(tryToCreate(world, alice, chain.height).code).toBe(0);
    const spent = keyCounts(chain);
    chain.nextBlock(100 - Number(chain.height));
    market.closeDeployment(alice, market.deploy(alice, { dseq: 100n }));
    chain.nextBlock(Number(RETENTION));
    expect(ids.map((id) => isPruned(chain, id))).toEqual([true, true, true]);
    // Two entries went, the watermark came.
    expect(keyCounts(chain)).toEqual({ ...spent, deployment: (spent.deployment ?? 0) - 1 });
    expect(tryToCreate(world, alice, 70n).log).toContain("up to 100");
  });
});

describe("numbers far above the height", () => {
  const sendCreate = ({ chain }: ReturnType<typeof setUp>, owner: TestKey, numbers: readonly bigint[], close = false) =>
    chain.send(
      numbers.flatMap((dseq) => {
        const id = { owner: owner.address, dseq };
        const content = { groups: [groupSpec("web")], version: new Uint8Array(32).fill(1), deposit: coin(MIN_DEPOSIT) };
        const made = create(MsgCreateDeploymentSchema, { id, ...content });
        return close ? [made, create(MsgCloseDeploymentSchema, { id })] : [made];
      }),
      { from: owner, gas: 1_000_000_000n },
    );
  const farNumbers = (count: number) => Array.from({ length: count }, (_, i) => 2n ** 64n - 1n - BigInt(i));
  const spentKeys = (chain: TestChain) => chain.app.state.store("deployment").iterate({ start: Uint8Array.of(9) });
  const spentCount = (chain: TestChain) => [...spentKeys(chain)].filter(([key]) => key[0] === 9).length;

  it("are limited for each owner, open or used up; others and the height stay free", () => {
    const world = setUp();
    const { chain, alice, bob } = world;
    const [open, closed] = [farNumbers(MAX_FAR_NUMBERS).slice(0, 14), farNumbers(MAX_FAR_NUMBERS).slice(14)];
    expect(sendCreate(world, alice, open).code).toBe(0);
    expect(sendCreate(world, alice, closed, true).code).toBe(0);
    const refusal = {
      ...{ codespace: "deployment", code: 27 },
      log: expect.stringContaining(`: ${MAX_FAR_NUMBERS} numbers above the height`),
    };
    expect(sendCreate(world, alice, [1_000_000n])).toMatchObject(refusal);
    chain.nextBlock(Number(RETENTION));
    expect(spentCount(chain)).toBe(closed.length);
    expect(sendCreate(world, alice, [chain.height + 1n + RETENTION + 1n])).toMatchObject(refusal);
    expect(sendCreate(world, alice, [chain.height + 1n + RETENTION]).code).toBe(0);
    expect(sendCreate(world, alice, [chain.height]).code).toBe(0);
    expect(sendCreate(world, bob, [1_000_000n]).code).toBe(0);
  });

  it("may be used again when the height has passed those before", () => {
    const world = setUp();
    const { chain, alice } = world;
    const first = Array.from({ length: MAX_FAR_NUMBERS }, (_, i) => chain.height + RETENTION + 2n + BigInt(i));
    expect(sendCreate(world, alice, first, true).code).toBe(0);
    expect(sendCreate(world, alice, [1_000_000n]).code).toBe(27);
    chain.nextBlock(MAX_FAR_NUMBERS + Number(RETENTION));
    const left = spentCount(chain);
    expect(left).toBeGreaterThan(0);
    expect(sendCreate(world, alice, [1_000_000n], true).code).toBe(0);
    chain.nextBlock(Number(RETENTION));
    // Two numbers below the height left and one was added; the watermark stands for the two.
    expect(spentCount(chain)).toBe(left - 1);
    for (const dseq of first) expect(sendCreate(world, alice, [dseq]).code).toBe(26);
  });

  it("a little ahead in every block leave a bounded number behind", () => {
    const world = setUp();
    const { chain, alice } = world;
    for (let i = 0; i < 100; i++) expect(sendCreate(world, alice, [chain.height + RETENTION + 2n], true).code).toBe(0);
    expect(spentCount(chain)).toBeLessThanOrEqual(2);
  });
});

describe("pruning", () => {
  it("takes a bounded number of records a block, and the state goes on in between as exported", () => {
    const world = setUp({ maxPruneRecords: 2 });
    const { chain, market, alice, bob } = world;
    const before = keyCounts(chain);
    const ids = [alice, bob].flatMap((owner) => [3n, 4n].map((dseq) => leased(world, owner, dseq)));
    for (const id of ids) market.closeDeployment(id.owner === alice.address ? alice : bob, id);
    let last = keyCounts(chain);
    let blocks = 0;
    for (; ids.some((id) => !isPruned(chain, id)); blocks++) {
      chain.nextBlock();
      const now = keyCounts(chain);
      // At most two records of market and escrow, and once the deployment's own; each has up to six keys.
      const gone = MARKETPLACE.map((store) => (last[store] ?? 0) - (now[store] ?? 0));
      expect(Math.max(...gone)).toBeLessThanOrEqual(16);
      last = now;
      if (blocks % 3 === 0) {
        const [first, again] = chain.exportTwice();
        expect(Object.keys(again)).toEqual(Object.keys(first));
      }
      expect(blocks).toBeLessThan(100);
    }
    expect(blocks).toBeGreaterThan(Number(RETENTION) + 10);
    expect(keyCounts(chain)).toEqual({ ...before, deployment: (before.deployment ?? 0) + 2 });
  });

  it("bounds the state by what is open, whatever was opened and closed", () => {
    const owners = Array.from({ length: 20 }, (_, i) => `owner-${i}`);
    const world = setUp({ retentionBlocks: 3n }, ["alice", "bob", ...owners]);
    const { chain } = world;
    const keys = owners.map((name) => chain.key(name));
    const sizes: number[] = [];
    const rounds = sized(10, 60);
    for (let round = 0; round < rounds; round++) {
      const ids = keys.map(({ address: owner }) => ({ owner, dseq: chain.height }));
      const create_ = (id: DeploymentKey) =>
        create(MsgCreateDeploymentSchema, {
          ...{ id, groups: [groupSpec("a"), groupSpec("b")] },
          ...{ version: new Uint8Array(32).fill(1), deposit: coin(MIN_DEPOSIT) },
        });
      const txs = ids.map((id, i) =>
        chain.sign([create_(id), create(MsgCloseDeploymentSchema, { id })], { from: keys[i] ?? world.alice }),
      );
      for (const { code, log } of chain.block(txs)) expect(code, log).toBe(0);
      sizes.push(Object.values(keyCounts(chain)).reduce((sum, each) => sum + each));
    }
    expect(sizes.at(-1)).toBe(sizes[5]);
    chain.nextBlock(5);
    const owned = keyCounts(chain);
    expect(owned.market).toBeLessThan(10);
    expect(owned.escrow).toBeLessThan(10);
    // One watermark an owner is all that 20 deployments a round have left.
    expect(owned.deployment).toBeLessThan(owners.length + 10);
  });

  it.each([
    ["retention_blocks", { retentionBlocks: 0n }],
    ["retention_blocks", { retentionBlocks: 1_000_000_001n }],
    ["max_prune_records", { maxPruneRecords: 0 }],
    ["max_prune_records", { maxPruneRecords: 100_001 }],
  ])("refuses a parameter %s out of its bounds", (name, change) => {
    expect(() => setUp(change)).toThrow(`${name} must be 1 to`);
  });

  it.each([
    ["a deployment that is not closed", { pruning: [{ id: { dseq: 9n }, height: 5n }] }, "is not closed"],
    ["a watermark of nothing", { watermarks: [{ dseq: 0n }] }, "is 0"],
  ])("refuses a genesis with %s", (_, state, why) => {
    const genesis = create(DeploymentGenesis, { params: defaultParams(), ...state });
    const { address: owner } = setUp().alice;
    for (const { id } of genesis.pruning) if (id !== undefined) id.owner = owner;
    for (const each of genesis.watermarks) each.owner = owner;
    expect(() => testChain({ genesis: { deployment: toJson(DeploymentGenesis, genesis) } })).toThrow(why);
  });
});
