import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AccountData, coins, DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
import { GasPrice, QueryClient, SigningStargateClient, StargateClient, setupTxExtension } from "@cosmjs/stargate";
import { Comet38Client, connectComet, type Tendermint37Client, WebsocketClient } from "@cosmjs/tendermint-rpc";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addGenesisAccounts, initHome, type Node, nodeConfig, startNode } from "../../src/node/index.ts";
import { silentLogger } from "../../src/util/index.ts";

/** The client library of the ecosystem's web applications against our node, unmodified. */

let home = "";
let node: Node;
let wallet: DirectSecp256k1HdWallet;
let alice: AccountData;
let bob: AccountData;

beforeAll(async () => {
  home = join(mkdtempSync(join(tmpdir(), "svc-cosmjs-")), "home");
  wallet = await DirectSecp256k1HdWallet.generate(12, { prefix: "svc" });
  const other = await DirectSecp256k1HdWallet.generate(12, { prefix: "svc" });
  [alice, bob] = [first(await wallet.getAccounts()), first(await other.getAccounts())];
  initHome({ home, moniker: "interop", chainId: "svc-interop-1" });
  addGenesisAccounts(home, [{ address: alice.address, coins: [{ denom: "utoken", amount: 1_000_000_000n }] }]);
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "block-interval": "200ms",
    "check-invariants": "true",
  });
  node = await startNode({ home, config, logger: silentLogger, version: "v0.0.1" });
  await vi.waitUntil(() => node.engine.blocks.height > 1n, { timeout: 30_000 });
});

afterAll(async () => {
  await node.stop();
  rmSync(join(home, ".."), { recursive: true });
});

function first(accounts: readonly AccountData[]): AccountData {
  const [account] = accounts;
  if (account === undefined) throw new Error("no account");
  return account;
}

/** The client of release 0.32, installed under its own name; for its used parts, today's types apply. */
async function olderClient(): Promise<Pick<typeof StargateClient, "connect">> {
  const name: string = "cosmjs-stargate-032";
  return (await import(name)).StargateClient;
}

/** The client for engines before CometBFT 0.37, which came with that release. */
function clientOf34(): { connect(url: string): Promise<Tendermint37Client> } {
  const packages = createRequire(import.meta.resolve("cosmjs-stargate-032"));
  return packages("@cosmjs/tendermint-rpc").Tendermint34Client;
}

describe("CosmJS", () => {
  it("reads status, blocks, validators and results", async () => {
    const client = await connectComet(node.rpcUrl);
    expect(client).toBeInstanceOf(Comet38Client);
    const status = await client.status();
    expect(status.nodeInfo).toMatchObject({ network: "svc-interop-1", moniker: "interop" });
    expect(status.syncInfo.latestBlockHeight).toBeGreaterThan(1);
    for (const height of [1, 2]) {
      expect((await client.block(height)).block.header).toMatchObject({ height, chainId: "svc-interop-1" });
      expect((await client.commit(height)).commit.height).toBe(height);
      expect((await client.blockResults(height)).height).toBe(height);
    }
    expect((await client.validatorsAll(2)).validators).toHaveLength(1);
    expect((await client.blockchain(1, 2)).blockMetas).toHaveLength(2);
    expect((await client.genesis()).chainId).toBe("svc-interop-1");
    expect((await client.abciInfo()).lastBlockHeight).toBeGreaterThan(1);
    expect((await client.numUnconfirmedTxs()).total).toBe(0);
    await client.health();
    client.disconnect();
  });

  it("reads status and state with its client for older engines", async () => {
    const client = await clientOf34().connect(node.rpcUrl);
    const { nodeInfo, syncInfo } = await client.status();
    expect(nodeInfo.network).toBe("svc-interop-1");
    expect(nodeInfo.channels.length).toBeGreaterThan(0);
    expect(syncInfo.latestBlockHeight).toBeGreaterThan(1);
    const stargate = await StargateClient.create(client);
    expect(await stargate.getBalance(alice.address, "utoken")).toMatchObject({ denom: "utoken" });
    stargate.disconnect();
  });

  it.each([
    ["of today", () => StargateClient.connect(node.rpcUrl)],
    // Releases up to 0.34 recognize a missing account by the text of the refusal.
    ["of release 0.32", async () => (await olderClient()).connect(node.rpcUrl)],
  ])("a client %s finds that an account does not exist yet", async (_, connect) => {
    const client = await connect();
    const nobody = await DirectSecp256k1HdWallet.generate(12, { prefix: "svc" });
    expect(await client.getAccount(first(await nobody.getAccounts()).address)).toBeNull();
    expect(await client.getAccount(alice.address)).toMatchObject({ address: alice.address });
    await expect(client.getAccount("svc1bad")).rejects.toThrow("rpc error: code = InvalidArgument");
    client.disconnect();
  });

  it("sends tokens and finds the transaction", async () => {
    const client = await SigningStargateClient.connectWithSigner(node.rpcUrl, wallet, {
      gasPrice: GasPrice.fromString("0.025utoken"),
      broadcastPollIntervalMs: 100,
    });
    expect(await client.getChainId()).toBe("svc-interop-1");
    const sent = await client.sendTokens(alice.address, bob.address, coins(12345, "utoken"), "auto", "from a browser");
    expect(sent.code).toBe(0);
    expect(await client.getBalance(bob.address, "utoken")).toEqual({ denom: "utoken", amount: "12345" });
    expect(await client.getAccount(alice.address)).toMatchObject({ sequence: 1, pubkey: expect.anything() });
    const found = await client.getTx(sent.transactionHash);
    expect(found).toMatchObject({ height: sent.height, code: 0, hash: sent.transactionHash });
    const byEvent = await client.searchTx(`transfer.recipient='${bob.address}'`);
    expect(byEvent.map(({ hash }) => hash)).toEqual([sent.transactionHash]);
    for (const [key, value] of [
      ["message.action", "/cosmos.bank.v1beta1.MsgSend"],
      ["message.action", "send"],
      ["coin_received.receiver", bob.address],
    ] as const)
      expect((await client.searchTx([{ key, value }])).map(({ hash }) => hash)).toEqual([sent.transactionHash]);
    expect(await client.getTx("AA".repeat(32))).toBeNull();
    const { tx } = QueryClient.withExtensions(await connectComet(node.rpcUrl), setupTxExtension);
    const served = await tx.getTx(sent.transactionHash);
    expect(served.tx?.body?.memo).toBe("from a browser");
    expect(served.txResponse).toMatchObject({ txhash: sent.transactionHash, code: 0, gasUsed: sent.gasUsed });
    expect(served.txResponse?.tx?.typeUrl).toBe("/cosmos.tx.v1beta1.Tx");
    expect(served.txResponse?.logs[0]?.events.map(({ type }) => type)).toContain("transfer");
    expect(served.txResponse?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    client.disconnect();
  });

  it("is told why a transaction fails", async () => {
    const client = await SigningStargateClient.connectWithSigner(node.rpcUrl, wallet, { broadcastPollIntervalMs: 100 });
    const fee = { amount: coins(5000, "utoken"), gas: "200000" };
    const failed = await client.sendTokens(alice.address, bob.address, coins(9_999_999_999, "utoken"), fee);
    expect(failed.code).toBe(5);
    const unpaid = { amount: coins(1, "utoken"), gas: "200000" };
    await expect(client.sendTokens(alice.address, bob.address, coins(1, "utoken"), unpaid)).rejects.toThrow(
      "insufficient fee",
    );
    client.disconnect();
  });

  it("subscribes to blocks and transactions", async () => {
    const socket = new WebsocketClient(node.rpcUrl.replace("http", "ws"));
    const client = Comet38Client.create(socket);
    const heights: number[] = [];
    const hashes: string[] = [];
    const blocks = client.subscribeNewBlockHeader().subscribe({ next: ({ height }) => heights.push(height) });
    const txs = client
      .subscribeTx(`transfer.recipient='${bob.address}'`)
      .subscribe({ next: ({ hash }) => hashes.push(Buffer.from(hash).toString("hex").toUpperCase()) });
    await expect.poll(() => heights.length, { timeout: 30_000 }).toBeGreaterThan(2);
    const sender = await SigningStargateClient.connectWithSigner(node.rpcUrl, wallet, { broadcastPollIntervalMs: 100 });
    const fee = { amount: coins(5000, "utoken"), gas: "200000" };
    const { transactionHash } = await sender.sendTokens(alice.address, bob.address, coins(7, "utoken"), fee);
    await expect.poll(() => hashes, { timeout: 30_000 }).toEqual([transactionHash]);
    expect(heights.slice(1).every((height, i) => height === (heights[i] ?? 0) + 1)).toBe(true);
    blocks.unsubscribe();
    txs.unsubscribe();
    client.disconnect();
    sender.disconnect();
  });

  it("reads balances without a wallet", async () => {
    const client = await StargateClient.connect(node.rpcUrl);
    expect(await client.getAllBalances(bob.address)).toEqual([{ denom: "utoken", amount: "12352" }]);
    expect(await client.getHeight()).toBeGreaterThan(2);
    expect((await client.getBlock()).header.chainId).toBe("svc-interop-1");
    client.disconnect();
  });
});
