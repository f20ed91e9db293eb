import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { KeplrDouble } from "../../../test/support/console/keplr.ts";
import { balanceOf, transfer } from "../../../test/support/signer.ts";
import { ChainClient, clientErrors } from "../../client/index.ts";
import { type TestNode, testKey, testNode } from "../../testing/index.ts";
import { parseDecCoins } from "../../util/index.ts";
import { walletErrors } from "./errors.ts";
import { connectExtension } from "./extension.ts";
import { type SendPlace, sendFrom } from "./send.ts";
import type { Wallet } from "./wallet.ts";

const CHAIN = "test-1";
let node: TestNode;
let chain: ChainClient;
let wallet: Wallet;
let double: KeplrDouble;
let payee = "";
let payees = 0;
const alice = testKey("alice");

beforeAll(async () => {
  node = await testNode({ minGasPrices: "0.0025utoken" });
  chain = new ChainClient(node.url);
});
afterAll(async () => {
  chain.close();
  await node.stop();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Locks as tabs of one browser share them. */
function sharedLocks() {
  const queues = new Map<string, Promise<unknown>>();
  return {
    request<T>(name: string, run: () => Promise<T>): Promise<T> {
      const turn = (queues.get(name) ?? Promise.resolve()).then(run, run);
      queues.set(name, turn);
      return turn;
    },
  };
}

/** A browser with a wallet, and an account without coins. */
async function browser() {
  double = new KeplrDouble(alice);
  const request = { name: "keplr", chainId: CHAIN, info: { chainId: CHAIN } } as const;
  wallet = await connectExtension({ globals: { keplr: double }, events: double }, request);
  payees += 1;
  payee = testKey(`payee ${payees}`).address;
  const kept = new Map<string, string>();
  const stages: string[] = [];
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
  const place: SendPlace = {
    chain,
    chainId: CHAIN,
    storage,
    locks: sharedLocks(),
    gasPrices: parseDecCoins("0.0025utoken"),
    onStage: (stage) => stages.push(stage),
  };
  return { place, kept, stages };
}

const pay = (place: SendPlace, memo?: string) => sendFrom(wallet, [transfer(alice.address, payee, 5n)], place, memo);
const signatures = () => double.asked.filter((question) => question.startsWith("direct")).length;

describe("sending from a page", () => {
  it("prepares, asks the wallet once, and waits for the block", async () => {
    const { place, stages, kept } = await browser();
    const { response, isEarlier } = await pay(place);
    expect([response.code, isEarlier, await balanceOf(chain, payee)]).toEqual([0, false, 5n]);
    expect(stages).toEqual(["waiting", "settling", "preparing", "signing", "sending"]);
    expect([signatures(), kept.size]).toEqual([1, 0]);
  });

  it("signs nothing for another chain than the one shown", async () => {
    const { place } = await browser();
    await expect(pay({ ...place, chainId: "other-1" })).rejects.toMatchObject({ code: walletErrors.otherChain.code });
    const status = await chain.node.status();
    vi.spyOn(chain.node, "status").mockResolvedValue({ ...status, chainId: "other-1" });
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.otherChain.code });
    expect(signatures()).toBe(0);
  });

  it("pays no fee that a node has put up", async () => {
    const { place } = await browser();
    await expect(pay({ ...place, gasPrices: parseDecCoins("100utoken") })).rejects.toMatchObject({
      code: walletErrors.highFee.code,
    });
    expect([signatures(), await balanceOf(chain, payee)]).toEqual([0, 0n]);
  });

  it("gives two tabs of one account sequences after one another", async () => {
    const { place } = await browser();
    const results = await Promise.all([pay(place), pay(place), pay(place)]);
    expect(results.map(({ response }) => response.code)).toEqual([0, 0, 0]);
    expect([await balanceOf(chain, payee), signatures()]).toEqual([15n, 3]);
  });

  it("keeps no record of a transaction that the wallet has refused", async () => {
    const { place, kept } = await browser();
    double.switches.rejects = true;
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.refused.code });
    expect(kept.size).toBe(0);
  });

  it("tells the refusal of the node, and keeps no record of it", async () => {
    const { place, kept } = await browser();
    double.switches.feeAmount = "1";
    const { response } = await pay(place);
    expect([response.codespace, response.code, response.height, kept.size]).toEqual(["sdk", 13, 0n, 0]);
  });
});

describe("a transaction whose fate is not known", () => {
  const lost = () => clientErrors.unreachable("the connection broke");

  it("is found in its block before anything is signed again", async () => {
    const { place, kept } = await browser();
    const broadcast = chain.node.broadcast.bind(chain.node);
    vi.spyOn(chain.node, "broadcast").mockImplementationOnce(async (...args) => {
      await broadcast(...args);
      throw lost();
    });
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unknownFate.code });
    expect(kept.size).toBe(1);
    const { response, isEarlier } = await pay(place);
    expect([response.code, isEarlier, kept.size]).toEqual([0, true, 0]);
    expect([signatures(), await balanceOf(chain, payee)]).toEqual([1, 5n]);
  });

  it("is broadcast again as the same bytes where it never arrived", async () => {
    const { place, stages } = await browser();
    vi.spyOn(chain.node, "broadcast").mockRejectedValueOnce(lost());
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unknownFate.code });
    stages.length = 0;
    const { response, isEarlier } = await pay(place);
    expect([response.code, isEarlier, stages]).toEqual([0, true, ["waiting", "settling", "sending"]]);
    expect([signatures(), await balanceOf(chain, payee)]).toEqual([1, 5n]);
  });

  it("makes room for a new one when another has taken its sequence", async () => {
    const { place, kept } = await browser();
    vi.spyOn(chain.node, "broadcast").mockRejectedValueOnce(lost());
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unknownFate.code });
    const [saved] = [...kept];
    kept.clear();
    await pay(place, "from another browser");
    kept.set(saved?.[0] ?? "", saved?.[1] ?? "");
    const { isEarlier } = await pay(place);
    expect([isEarlier, signatures(), await balanceOf(chain, payee)]).toEqual([false, 3, 10n]);
  });

  it("stays so while the node does not answer, and nothing is signed", async () => {
    const { place, kept } = await browser();
    vi.spyOn(chain.node, "broadcast").mockRejectedValueOnce(lost());
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unknownFate.code });
    vi.spyOn(chain.node, "tx").mockRejectedValue(lost());
    await expect(pay(place)).rejects.toMatchObject({ code: clientErrors.unreachable.code });
    expect([signatures(), kept.size]).toEqual([1, 1]);
  });

  it("is replaced under its own sequence where the node refuses it, so that both can never be in a block", async () => {
    const { place } = await browser();
    double.switches.feeAmount = "1";
    vi.spyOn(chain.node, "broadcast").mockRejectedValueOnce(lost());
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unknownFate.code });
    delete double.switches.feeAmount;
    const { response, isEarlier } = await pay(place);
    expect([response.code, isEarlier, signatures(), await balanceOf(chain, payee)]).toEqual([0, false, 2, 5n]);
  });

  it.each([
    ["text", () => "{"],
    ["other bytes", () => JSON.stringify({ bytes: "AAAA", sequence: "9" })],
    ["a text of 4 MB", () => JSON.stringify({ bytes: "A".repeat(4_000_000), sequence: "9" })],
    ["a sequence that is none", (bytes: string) => JSON.stringify({ bytes, sequence: "-1" })],
  ])("is told of and forgotten where its record has become %s", async (_, changed) => {
    const { place, kept } = await browser();
    const { bytes } = await lostBy(alice, place, kept);
    kept.set(nameOf(alice.address), changed(bytes));
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unreadable.code });
    expect(kept.size).toBe(0);
    expect((await pay(place)).response.code).toBe(0);
  });

  it("is not the one of another account", async () => {
    const { place, kept } = await browser();
    const { record } = await lostBy(testKey("bob"), place, kept);
    kept.set(nameOf(alice.address), record);
    await expect(pay(place)).rejects.toMatchObject({ code: walletErrors.unreadable.code });
  });

  const nameOf = (address: string) => `svc open ${CHAIN} ${address}`;

  /** The record of a transaction of the key that never arrived. */
  async function lostBy(key: typeof alice, place: SendPlace, kept: Map<string, string>) {
    const owner = new KeplrDouble(key);
    const request = { name: "keplr", chainId: CHAIN, info: { chainId: CHAIN } } as const;
    const account = await connectExtension({ globals: { keplr: owner }, events: owner }, request);
    vi.spyOn(chain.node, "broadcast").mockRejectedValueOnce(lost());
    const message = transfer(key.address, payee, 1n);
    await expect(sendFrom(account, [message], place)).rejects.toMatchObject({ code: walletErrors.unknownFate.code });
    const text = kept.get(nameOf(key.address)) ?? "";
    kept.clear();
    return { record: text, bytes: /"bytes":"([^"]*)"/.exec(text)?.[1] ?? "" };
  }
});
