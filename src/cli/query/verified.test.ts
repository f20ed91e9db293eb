import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CliChain, cliChain } from "../../../test/cli/chain.ts";
import { inHeader, inStore, type Liar, type Lie, startLiar, TRUTH } from "../../../test/support/light/liar.ts";
import { Rng } from "../../../test/support/rng.ts";
import { NodeApi, RpcClient, rpcSource } from "../../client/index.ts";
import { ownBlockPath } from "../command/home.ts";
import { writeBlock } from "../context/trusted-block.ts";

let chain: CliChain;
let proxy: Liar;
let hash: string;

beforeAll(async () => {
  chain = await cliChain("alice", "bob");
  const rpc = new RpcClient(chain.node);
  hash = (await new NodeApi(rpc).block(1n)).hash;
  rpc.close();
  proxy = await startLiar(chain.node);
}, 60_000);

afterAll(async () => {
  proxy.close();
  await chain.stop();
});

const svc = (line: string, env: Record<string, string> = {}) => chain.run(line.split(" "), { env });
const balance = (flags = "") => {
  const words = `query bank balances ${chain.addresses.alice} --denom utoken -o json ${flags}`.trim();
  return svc(words, { SVC_NODE: proxy.url });
};
/** The state of a height needs the header after it. */
const threeBlocks = () =>
  expect.poll(async () => Number((await chain.query("block")).block.header.height)).toBeGreaterThan(2);

beforeEach(async () => {
  proxy.lie = TRUTH;
  await threeBlocks();
  expect(await svc(`config trust 1 ${hash}`)).toEqual({ code: 0, out: "", err: "" });
});
afterEach(async () => {
  for (const key of ["trust-hash", "witnesses"]) await chain.run(["config", "set", key, ""]);
  rmSync(join(chain.home, "light"), { recursive: true, force: true });
});

describe("a query with a trusted block", () => {
  it("prints as always, and says at which height it was verified", async () => {
    const plain = await balance("--verify off");
    expect(plain.err).toBe("");
    const { code, out, err } = await balance();
    expect({ code, out }).toEqual({ code: 0, out: plain.out });
    expect(err).toMatch(/^verified at height \d+\n$/);
  });

  it("shows what the newest block has changed", async () => {
    for (let i = 0; i < 3; i += 1) {
      await chain.tx("bank", "send", "alice", chain.addresses.bob ?? "", `${i + 1}utoken`);
      const plain = await balance("--verify off");
      expect((await balance("--verify require")).out).toBe(plain.out);
    }
  });

  it("is proven at an older height, and at the newest one by the next block", async () => {
    const newest = Number((await chain.query("block")).block.header.height);
    for (const height of [newest - 1, newest]) {
      const plain = await balance(`--height ${height} --verify off`);
      const { code, out, err } = await balance(`--height ${height} --verify require`);
      expect({ code, out }, err).toEqual({ code: 0, out: plain.out });
      expect(err).toBe(`verified at height ${height}\n`);
    }
  });

  it("of a height of the future is refused in the words of the chain, and never begun if proof is required", async () => {
    const { code, err } = await balance("--height 999999");
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("height in the future") });
    const refused = await balance("--height 999999 --verify require");
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("block 999999 is not made yet") });
  });

  it("takes one request more than without, once the newest block is in the home", async () => {
    await balance();
    proxy.requests.length = 0;
    await balance();
    // The proof, and the newest value to compare it with.
    expect(proxy.requests).toEqual([["commit"], ["abci_query", "abci_query"]]);
  });

  it.each([
    "block",
    "blocks",
    "block-results 1",
    "comet-validator-set 1",
    `tx ${"AB".repeat(32)}`,
    "txs --events message.action=send",
    `wait-tx ${"AB".repeat(32)}`,
  ])("refuses %s if proof is required, because only the node says it", async (words) => {
    const { code, out, err } = await svc(`query ${words} --verify require`, { SVC_NODE: proxy.url });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("the answer cannot be proven");
  });

  it("says that a block cannot be proven", async () => {
    const { code, err } = await svc("query block 1", { SVC_NODE: proxy.url });
    expect({ code, err }).toEqual({ code: 0, err: "not verified: blocks cannot be proven\n" });
  });

  it("says that a list cannot be proven, and refuses it if proof is required", async () => {
    const list = `query bank balances ${chain.addresses.alice}`;
    const { code, err } = await svc(list);
    expect({ code, err }).toEqual({
      code: 0,
      err: "not verified: /sdk.bank.v1beta1.Query/AllBalances cannot be proven\n",
    });
    const refused = await svc(`${list} --verify require`);
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("the answer cannot be proven") });
  });

  it("verifies that there is no such record", async () => {
    const { code, err } = await svc(`query provider get ${chain.addresses.bob}`);
    expect(code).toBe(1);
    expect(err).toMatch(/^verified at height \d+\n/);
    expect(err).toContain("address not found");
  });

  it.each<[string, Lie, string]>([
    ["a balance", inStore("bank", (response) => (response.value = btoa("1"))), "another value"],
    ["a missing balance", inStore("bank", (response) => (response.value = null)), "does not show"],
    ["the key of the proof", inStore("bank", (response) => (response.proofOps.ops[0].key = btoa("x"))), "another key"],
    ["no proof", inStore("bank", (response) => (response.proofOps = null)), "the node gives no proof"],
    ["the app hash", inHeader((header) => (header.app_hash = "AB".repeat(32))), "the block is not valid"],
    ["the validators", inHeader((header) => (header.validators_hash = "AB".repeat(32))), "the block is not valid"],
    ["the height", inHeader((header) => (header.height = "1")), "the block is not valid|another hash"],
    ["the signature", inHeader((_, commit) => (commit.signatures[0].signature = btoa("x".repeat(64)))), "is wrong"],
  ])("refuses a node that lies about %s", async (_, how, reason) => {
    proxy.lie = how;
    for (const flags of ["", "--verify require"]) {
      const { code, out, err } = await balance(flags);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(new RegExp(reason));
    }
  });

  it("never believes a node that lies in one field of some answers", async () => {
    const rng = new Rng(Number(process.env.SEED ?? 4711));
    const truth = (await balance("--verify off")).out;
    let lies = 0;
    proxy.lie = (_, __, result) => {
      if (rng.below(4) > 0) return result;
      lies += 1;
      const text = JSON.stringify(result);
      const values = [...text.matchAll(/:"([0-9A-Za-z+/=]+)"/g)];
      const [whole = "", value = ""] = values[rng.below(values.length)] ?? [];
      const at = rng.below(value.length);
      const other = value[at] === "1" ? "2" : "1";
      return JSON.parse(text.replace(whole, `:"${value.slice(0, at)}${other}${value.slice(at + 1)}"`));
    };
    for (let i = 0; i < 12; i += 1) {
      const { code, out } = await balance();
      expect([0, 1]).toContain(code);
      expect(out).toBe(code === 0 ? truth : "");
    }
    expect(lies).toBeGreaterThan(2);
  });

  it("is refused with the root of another chain", async () => {
    await svc(`config trust 1 ${"AB".repeat(32)}`);
    const { code, err } = await balance();
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("the trusted block has another hash"),
    });
  });

  it("is refused where the trusted block is too old", async () => {
    await svc(`config trust 1 ${hash} --period 1s`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const { code, err } = await balance();
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("the trusted block is too old") });
  });

  it("is confirmed by witnesses, and refused where none answers", async () => {
    await chain.run(["config", "set", "witnesses", chain.node]);
    expect(await balance()).toMatchObject({ code: 0, err: expect.stringContaining("verified at height") });
    rmSync(join(chain.home, "light"), { recursive: true });
    await chain.run(["config", "set", "witnesses", "tcp://127.0.0.1:1"]);
    expect(await balance()).toMatchObject({ code: 1, err: expect.stringContaining("no witness confirms") });
  });
});

it("a query without a trusted block is asked as always, and refused if proof is required", async () => {
  await chain.run(["config", "set", "trust-hash", ""]);
  expect(await balance()).toMatchObject({ code: 0, err: "" });
  const { code, err } = await balance("--verify require");
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("no trusted block is set") });
});

it("a block in client.toml comes before the one of the home's node", async () => {
  await svc(`config trust 1 ${"AB".repeat(32)}`);
  writeFileSync(ownBlockPath(chain.home), "{");
  expect((await balance()).err).toContain("the trusted block has another hash");
  rmSync(ownBlockPath(chain.home));
});

describe("a home whose node has written a block down", () => {
  beforeEach(async () => {
    await chain.run(["config", "set", "trust-hash", ""]);
    const rpc = new RpcClient(chain.node);
    const source = rpcSource(rpc);
    const signed = await source.signedHeader(3n);
    rpc.close();
    if (signed === undefined) throw new Error("the chain has three blocks");
    writeBlock(ownBlockPath(chain.home), { ...signed, validators: await source.validators(3n) });
  });
  afterEach(() => rmSync(ownBlockPath(chain.home)));

  it("has answers proven from it without a setting, in one request more", async () => {
    expect(await balance("--verify require")).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^verified at height \d+\n$/),
    });
    proxy.requests.length = 0;
    await balance();
    expect(proxy.requests).toEqual([["commit"], ["abci_query", "abci_query"]]);
    expect((await balance("--verify off")).err).toBe("");
  });

  it("says nothing about proofs in commands that send", async () => {
    const { alice, bob } = chain.addresses;
    const { code, err } = await svc(`tx bank send ${alice} ${bob} 1utoken --generate-only --gas auto`);
    expect({ code, err }).toMatchObject({ code: 0, err: expect.not.stringContaining("verified") });
  });

  it("is told of a node of another chain, and asks it without proof if that chain is named", async () => {
    proxy.lie = inHeader((header) => {
      header.chain_id = "other-1";
    });
    const { code, err } = await balance();
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("the node belongs to another chain than the trusted block"),
    });
    expect(await balance("--chain-id other-1")).toMatchObject({
      code: 0,
      err: "not verified: the home's trusted block is of another chain\n",
    });
    expect(await balance("--chain-id other-1 --verify off")).toMatchObject({ code: 0, err: "" });
    expect(await balance("--chain-id other-1 --verify require")).toMatchObject({ code: 2 });
  });

  it("asks nothing if the block is there and cannot be read", async () => {
    writeFileSync(ownBlockPath(chain.home), "{");
    const { code, err } = await balance();
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("trusted-block.json cannot be read") });
    expect(await balance("--verify off")).toMatchObject({ code: 0, err: "" });
  });
});

describe("svc config trust", () => {
  it.each([
    ["0", "AB".repeat(32), "", '<height>: "0" is not a height'],
    ["1", "AB", "", '<hash>: "AB" is not a hash of 64 hexadecimal digits'],
    ["1", "AB".repeat(32), " --period 2w", '--period: "2w" is not a time such as 14d or 36h'],
  ])("%s %s%s is refused", async (height, text, flags, reason) => {
    const { code, err } = await svc(`config trust ${height} ${text}${flags}`);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(reason) });
  });

  it("writes a block for a network profile", async () => {
    await svc("config set bech32-prefix svc --profile other");
    await svc(`config trust 7 ${hash.toLowerCase()} --profile other`);
    const { out } = await svc("config view -o json --profile other");
    expect(JSON.parse(out)["trust-height"].value).toBe("7");
    expect(JSON.parse(out)["trust-hash"].value).toBe(hash);
    expect(JSON.parse((await svc("config view -o json")).out)["trust-height"].value).toBe("1");
  });
});
