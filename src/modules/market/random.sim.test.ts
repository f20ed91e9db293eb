import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestChain, type TestKey, testChain } from "../../testing/index.ts";
import { toHex } from "../../util/index.ts";
import { CoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { GenesisStateSchema as DeploymentGenesis } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { GenesisStateSchema as EscrowGenesis } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { GenesisStateSchema } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { encodeAddress, toJson } from "../../wire/index.ts";
import { defaultParams as deploymentParams } from "../deployment/params.ts";
import { defaultParams as escrowParams } from "../escrow/genesis.ts";
import { defaultParams } from "./params.ts";
import { closeEverything, marketOperations, pickOperation, type SimAction, simRandom } from "./sim.ts";

/** A run with a given seed repeats with `MARKET_SIM_SEED`; further runs take the seeds behind it. */
const RUNS = Number(process.env.MARKET_SIM_RUNS ?? 1);
const BLOCKS = Number(process.env.MARKET_SIM_BLOCKS ?? 250);
const SEED = Number(process.env.MARKET_SIM_SEED ?? 4711);

const TENANTS = ["alice", "bob", "carol"];
const PROVIDERS = ["p1", "p2", "p3", "p4"];

/** Everything is scarce: two records a block, three bids an order, a few blocks of life. */
function simChain(): TestChain {
  const deployment = {
    ...deploymentParams(),
    minDeposits: [create(CoinSchema, { denom: "utoken", amount: "1" })],
    minStartBlocks: 2n,
  };
  const escrow = { ...escrowParams(), maxEndblockRecords: 2, lowBalanceBlocks: 6n };
  const market = { ...defaultParams(), orderMaxBids: 3, orderMaxOpenBlocks: 12n };
  return testChain({
    accounts: [...TENANTS, ...PROVIDERS],
    genesis: {
      deployment: toJson(DeploymentGenesis, create(DeploymentGenesis, { params: deployment })),
      escrow: toJson(EscrowGenesis, create(EscrowGenesis, { params: escrow })),
      market: toJson(GenesisStateSchema, create(GenesisStateSchema, { params: market })),
    },
  });
}

interface Run {
  readonly chain: TestChain;
  /** Times that `operation: codespace/code` came out. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Times that each action stood in the events of transactions and block ends. */
  readonly actions: ReadonlyMap<string, number>;
}

/** A run of blocks of up to four transactions, each of one to three messages of one signer. */
function simulate(seed: number, blocks: number): Run {
  const chain = simChain();
  const random = simRandom(seed);
  const keys = new Map([...chain.keys.values()].map((key) => [key.address, key]));
  const addresses = (names: readonly string[]) => names.map((name) => chain.key(name).address);
  const world = {
    random,
    tenants: addresses(TENANTS),
    providers: addresses(PROVIDERS),
    query: chain.query.bind(chain),
  };
  const outcomes = new Map<string, number>();
  const actions = new Map<string, number>();
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  for (let block = 0; block < blocks; block++) {
    const planned = new Map<string, { names: string[]; messages: SimAction["message"][] }>();
    for (let i = random.int(10); i > 0; i--) {
      const operation = pickOperation(marketOperations, random);
      const action = operation?.build(world);
      if (operation === undefined || action === undefined) continue;
      const tx = planned.get(action.signer) ?? { names: [], messages: [] };
      if (tx.messages.length < 3) planned.set(action.signer, tx);
      tx.names.push(operation.name);
      tx.messages.push(action.message);
    }
    const signed = [...planned].map(([signer, { messages }]) => chain.sign(messages, { from: keyOf(keys, signer) }));
    const results = chain.block(signed);
    [...planned.values()].forEach(({ names }, i) => {
      const { codespace, code } = results[i] ?? { codespace: "", code: -1 };
      for (const name of names) count(outcomes, `${name}: ${code === 0 ? "done" : `${codespace}/${code}`}`);
    });
    for (const { type, attributes } of [...results.flatMap(({ events }) => events), ...chain.blockEvents]) {
      if (type === "svc.v1") count(actions, attributes.find(({ key }) => key === "action")?.value ?? "");
    }
  }
  return { chain, outcomes, actions };
}

function keyOf(keys: ReadonlyMap<string, TestKey>, address: string): TestKey {
  const key = keys.get(address);
  if (key === undefined) throw new Error(`nobody signs for ${address}`);
  return key;
}

/** Closes what is open and returns what all users hold together. */
function closeAll(chain: TestChain): bigint {
  const keys = new Map([...chain.keys.values()].map((key) => [key.address, key]));
  for (const { signer, message } of closeEverything({ query: chain.query.bind(chain) })) {
    chain.mustSend(message, { from: keyOf(keys, signer) });
  }
  return [...chain.keys.values()].reduce((sum, { address }) => sum + chain.balance(address), 0n);
}

describe("random tenants and providers", () => {
  it.each(Array.from({ length: RUNS }, (_, i) => SEED + i))(
    "never break an invariant, and everybody gets everything back, seed %d",
    { timeout: 600_000 },
    (seed) => {
      console.log(`market simulation: seed ${seed}, ${BLOCKS} blocks`);
      const { chain, outcomes, actions } = simulate(seed, BLOCKS);
      const total = BigInt(chain.keys.size) * 10n ** 12n;
      expect(closeAll(chain)).toBe(total);
      expect(chain.balance(encodeAddress(moduleAddress("escrow")))).toBe(0n);
      if (process.env.MARKET_SIM_VERBOSE !== undefined) console.log(outcomes, actions);
      if (BLOCKS < 250) return;
      const undone = marketOperations.filter(({ name }) => !outcomes.has(`${name}: done`)).map(({ name }) => name);
      expect(undone).toEqual([]);
      const wanted = ["deployment-low-balance", "group-insufficient-funds", "bid-lost", "lease-withdrawn"];
      expect(wanted.filter((action) => !actions.has(action))).toEqual([]);
    },
  );

  it("come to the same state from the same seed", { timeout: 120_000 }, () => {
    const hash = () => toHex(simulate(SEED + 1, 25).chain.app.info().lastBlockAppHash);
    expect(hash()).toBe(hash());
  });
});
