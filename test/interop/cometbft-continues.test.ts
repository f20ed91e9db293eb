import { appendFileSync, copyFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import {
  addGenesisAccounts,
  addGenesisValidator,
  homeNodeId,
  homePaths,
  homeValidatorKey,
  initHome,
} from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { MsgCreateValidatorSchema } from "../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { type Any, decodeAddress, encodeAddress, packAny, publicKeyToAny } from "../../src/wire/index.ts";
import {
  balanceOf,
  Fixture,
  freePorts,
  mustSend,
  startNode,
  svcOk,
  TestNode,
  transfer,
  waitFor,
} from "../support/index.ts";
import earlier from "../vectors/genesis-0.1.0.json" with { type: "json" };
import { buildPeer, Peer } from "./peers.ts";

/** A chain that begins with one validator in the process of its node, and goes on as a network. */

const CHAIN = "svc-grown-1";
const BONDED = 10_000_000n;
const peer = await buildPeer("cometbft");

type Json = ReturnType<typeof JSON.parse>;

describe.skipIf(!(peer instanceof Peer))("a chain of the embedded engine", () => {
  const fixture = new Fixture();
  const [alice, bob] = [testKey("alice"), testKey("bob")];
  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  /** A chain with a lease, and with a validator that has a delegation. */
  function begin(): Promise<TestNode> {
    const { app_state, initial_height, consensus_params } = earlier;
    const funds = [alice, bob].map(({ address }) => ({ address, coins: [{ denom: "utoken", amount: 100_000_000n }] }));
    return startNode(fixture, {
      chainId: CHAIN,
      editGenesis: (genesis) =>
        Object.assign(genesis, {
          ...{ initial_height, consensus_params },
          app_state: { ...genesis.app_state, ...app_state },
        }),
      editHome: (home) => {
        addGenesisAccounts(home, funds);
        addGenesisValidator(home, { operator: alice.address, bonded: { denom: "utoken", amount: BONDED } });
      },
    });
  }

  /** Homes with a genesis file, started under CometBFT as each other's peers. The first has the validator's key. */
  async function startNetwork(from: TestNode, genesis: string): Promise<[TestNode, TestNode]> {
    const [first, second] = [fixture.tempHome("first"), fixture.tempHome("second")];
    for (const home of [first, second]) {
      initHome({ home, moniker: "grown", chainId: CHAIN });
      writeFileSync(homePaths(home).genesis, genesis);
      const keys = "[cometbft.p2p]\naddr_book_strict = false\nallow_duplicate_ip = true\n";
      appendFileSync(`${homePaths(home).config}/config.toml`, keys);
    }
    copyFileSync(homePaths(from.home).validatorKey, homePaths(first).validatorKey);
    const [p2p = [], rpc = []] = [await freePorts(2), await freePorts(2)];
    const nodes = [first, second].map((home, i) => {
      const other = `${homeNodeId(i === 0 ? second : first)}@127.0.0.1:${p2p[1 - i]}`;
      const places = ["--rpc.laddr", `tcp://127.0.0.1:${rpc[i]}`, "--p2p.laddr", `tcp://127.0.0.1:${p2p[i]}`];
      const engine = ["--engine", "cometbft", "--cometbft", peer instanceof Peer ? peer.binary : ""];
      const others = ["--p2p.persistent_peers", other, "--grpc.enable=false", "--minimum-gas-prices", "0utoken"];
      const args = ["start", "--home", home, "--block-interval", "200ms", ...places, ...engine, ...others];
      return new TestNode(fixture, { home, chainId: CHAIN, port: rpc[i] ?? 0, args });
    });
    await Promise.all(nodes.map((node) => node.start()));
    const [a, b] = nodes;
    if (a === undefined || b === undefined) throw new Error("two nodes");
    return [a, b];
  }

  async function balances(node: TestNode, addresses: readonly string[]): Promise<bigint[]> {
    const client = node.client();
    try {
      return await Promise.all(addresses.map((address) => balanceOf(client, address)));
    } finally {
      client.close();
    }
  }

  async function answer(node: TestNode, path: string): Promise<Json> {
    const response = await fetch(`${node.address.replace("tcp:", "http:")}/${path}`);
    return JSON.parse(await response.text()).result;
  }

  const votersOf = async (node: TestNode): Promise<Json[]> => (await answer(node, "validators")).validators;
  const signedBy = async (node: TestNode): Promise<Json[]> => {
    const { signatures } = (await answer(node, "commit")).signed_header.commit;
    return signatures.filter(({ signature }: Json) => signature !== null);
  };

  test("goes on under CometBFT from its export, with the same state, and others become validators", async () => {
    const chain = await begin();
    const client = chain.client();
    await mustSend(client, alice, transfer(alice.address, bob.address, 7n));
    client.close();
    await chain.process.stop();
    const text = await svcOk(["export", "--home", chain.home]);
    const exported: Json = JSON.parse(text);
    expect(exported.validators).toMatchObject([{ power: `${BONDED / 1_000_000n}` }]);
    expect(exported.app_state.market.leases).toMatchObject([{ state: "active" }]);

    const [first, second] = await startNetwork(chain, text);
    const accounts: Json[] = exported.app_state.auth.accounts.filter(({ address }: Json) => address !== undefined);
    const held = new Map(
      exported.app_state.bank.balances.map(({ address, coins }: Json) => [address, coins[0].amount]),
    );
    const addresses = accounts.map(({ address }) => String(address));
    const expected = addresses.map((address) => BigInt(String(held.get(address) ?? "0")));
    for (const node of [first, second]) expect(await balances(node, addresses)).toEqual(expected);
    expect(await answer(first, "status")).toMatchObject({
      sync_info: { earliest_block_height: exported.initial_height },
    });

    const grown = first.client();
    await mustSend(grown, bob, createValidator(bob.address, homeValidatorKey(second.home)));
    grown.close();
    await waitFor(async () => (await votersOf(second)).length === 2 || undefined, "two voters");
    await waitFor(async () => (await signedBy(second)).length === 2 || undefined, "a block that both signed");
    await first.process.stop();
    await second.process.stop();
    const later: Json = JSON.parse(await svcOk(["export", "--home", first.home]));
    expect(later.validators).toMatchObject([exported.validators[0], { power: "5" }]);
    expect(later.app_state.market.leases).toEqual(exported.app_state.market.leases);
    for (const [name, { params }] of Object.entries<Json>(exported.app_state))
      expect(later.app_state[name].params, name).toEqual(params);
  });
});

function createValidator(operator: string, key: Uint8Array): Any {
  return packAny(MsgCreateValidatorSchema, {
    description: { moniker: "second" },
    commission: { rate: "0", maxRate: "0", maxChangeRate: "0" },
    minSelfDelegation: "1",
    delegatorAddress: operator,
    validatorAddress: encodeAddress(decodeAddress(operator), "valoper"),
    pubkey: publicKeyToAny({ type: "ed25519", key }),
    value: { denom: "utoken", amount: `${BONDED / 2n}` },
  });
}
