import { create } from "@bufbuild/protobuf";
import type { SvcApplication } from "../../src/app/index.ts";
import { defaultParams as deploymentParams } from "../../src/modules/deployment/params.ts";
import { defaultParams as escrowParams } from "../../src/modules/escrow/genesis.ts";
import { defaultParams } from "../../src/modules/market/params.ts";
import { type TestChain, type TestKey, testChain } from "../../src/testing/index.ts";
import { CoinSchema } from "../../src/wire/gen/sdk/base/v1beta1/coin_pb.js";
import { GenesisStateSchema as DeploymentGenesis } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { GenesisStateSchema as EscrowGenesis } from "../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { GenesisStateSchema } from "../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import { Query } from "../../src/wire/gen/svc/market/v1beta1/query_pb.js";
import { toJson } from "../../src/wire/index.ts";
import { marketOperations } from "./simulation/market.ts";
import { pickOperation, type SimAction, simRandom } from "./simulation/operation.ts";

const TENANTS = ["alice", "bob", "carol"];
const PROVIDERS = ["p1", "p2", "p3", "p4"];
/** Maximum bids of an order. */
const MAX_BIDS = 2;

/** Options of a run. */
export interface MarketRunOptions {
  /** Blocks after which closed deployments leave the state; 15 unless given. */
  readonly retentionBlocks?: bigint;
}

/** Everything is scarce: two records a block, two bids an order, a few blocks of life. */
function simChain({ retentionBlocks = 15n }: MarketRunOptions): TestChain {
  const deployment = {
    ...deploymentParams(),
    minDeposits: [create(CoinSchema, { denom: "utoken", amount: "1" })],
    minStartBlocks: 2n,
    retentionBlocks,
    maxPruneRecords: 3,
  };
  const escrow = { ...escrowParams(), maxEndblockRecords: 2, lowBalanceBlocks: 6n };
  const market = { ...defaultParams(), orderMaxBids: MAX_BIDS, orderMaxOpenBlocks: 12n };
  return testChain({
    accounts: [...TENANTS, ...PROVIDERS],
    genesis: {
      deployment: toJson(DeploymentGenesis, create(DeploymentGenesis, { params: deployment })),
      escrow: toJson(EscrowGenesis, create(EscrowGenesis, { params: escrow })),
      market: toJson(GenesisStateSchema, create(GenesisStateSchema, { params: market })),
    },
  });
}

/** The results of a run. */
export interface MarketRun {
  readonly chain: TestChain;
  /** How often each `operation: codespace/code` occurred. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** How often each action occurred in the events of transactions and block ends. */
  readonly actions: ReadonlyMap<string, number>;
  /** How often each reason for an end did. */
  readonly reasons: ReadonlyMap<string, number>;
}

/** A run of blocks of up to four transactions, each of one to three messages of one signer. */
export function simulateMarket(seed: number, blocks: number, options: MarketRunOptions = {}): MarketRun {
  const chain = simChain(options);
  const random = simRandom(seed);
  const keys = new Map([...chain.keys.values()].map((key) => [key.address, key]));
  const addresses = (names: readonly string[]) => names.map((name) => chain.key(name).address);
  const sim = {
    random,
    tenants: addresses(TENANTS),
    height: () => chain.height,
    providers: addresses(PROVIDERS),
    query: chain.query.bind(chain),
  };
  const outcomes = new Map<string, number>();
  const actions = new Map<string, number>();
  const reasons = new Map<string, number>();
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  for (let block = 0; block < blocks; block++) {
    const planned = new Map<string, { names: string[]; messages: SimAction["message"][] }>();
    for (let i = random.int(10); i > 0; i--) {
      const operation = pickOperation(marketOperations, random);
      const action = operation?.build(sim);
      if (operation === undefined || action === undefined) continue;
      const tx = planned.get(action.signer) ?? { names: [], messages: [] };
      if (tx.messages.length < 3) planned.set(action.signer, tx);
      tx.names.push(operation.name);
      tx.messages.push(action.message);
    }
    const signed = [...planned].map(([signer, { messages }]) => chain.sign(messages, { from: keyOf(keys, signer) }));
    const results = chain.block(signed);
    holdMostBids(chain);
    [...planned.values()].forEach(({ names }, i) => {
      const { codespace, code } = results[i] ?? { codespace: "", code: -1 };
      for (const name of names) count(outcomes, `${name}: ${code === 0 ? "done" : `${codespace}/${code}`}`);
    });
    for (const { type, attributes } of [...results.flatMap(({ events }) => events), ...chain.blockEvents]) {
      if (type !== "svc.v1") continue;
      const values = new Map(attributes.map(({ key, value }) => [key, value]));
      count(actions, values.get("action") ?? "");
      if (values.has("reason")) count(reasons, values.get("reason") ?? "");
    }
  }
  return { chain, outcomes, actions, reasons };
}

/** Throws if an order has more open bids than it may; no invariant says so, because governance may lower the limit. */
function holdMostBids(chain: TestChain): void {
  const { bids } = chain.query(Query.method.bids, { filters: { state: "open" }, pagination: { limit: 1_000n } });
  const counts = new Map<string, number>();
  for (const { bid } of bids) {
    const { owner, dseq, gseq, oseq } = bid?.bidId ?? {};
    const order = `${owner}/${dseq}/${gseq}/${oseq}`;
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  for (const [order, count] of counts) if (count > MAX_BIDS) throw new Error(`order ${order} has ${count} open bids`);
}

export function keyOf(keys: ReadonlyMap<string, TestKey>, address: string): TestKey {
  const key = keys.get(address);
  if (key === undefined) throw new Error(`nobody signs for ${address}`);
  return key;
}

/** All stored entries of a store. */
export function entriesOf(app: SvcApplication, store: string): [key: Uint8Array, value: Uint8Array][] {
  return [...app.state.store(store).iterate()];
}

/** Keys that a store lacks: near the existing ones, before them, after them and anywhere. */
export function missingKeys(
  app: SvcApplication,
  store: string,
  { count, seed }: { readonly count: number; readonly seed: number },
): Uint8Array[] {
  const random = simRandom(seed);
  const there = entriesOf(app, store).map(([key]) => key);
  const byte = () => random.int(256);
  const near = Array.from({ length: count }, (_, i) => {
    const key = Uint8Array.from(random.pick(there) ?? []);
    if (i % 2 === 0) return Uint8Array.from([...key, byte()]);
    key[key.length - 1] = byte();
    return key;
  });
  const anywhere = Array.from({ length: count }, () => Uint8Array.from({ length: 1 + random.int(40) }, byte));
  const all = [Uint8Array.of(0), new Uint8Array(1024).fill(255), ...near, ...anywhere];
  return all.filter((key) => !app.state.store(store).has(key));
}
