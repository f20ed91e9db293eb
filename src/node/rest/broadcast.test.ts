import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cliChainOf, type Json } from "../../../test/cli/chain.ts";
import { waitFor } from "../../../test/support/wait.ts";

const chain = await cliChainOf(["alice", "bob"], { blockInterval: "100ms", hurry: true, rest: true });
const { alice = "", bob = "" } = chain.addresses;
let number = 0;

afterAll(() => chain.stop());

async function post(path: string, body: Json): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${chain.rest}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

async function get(path: string): Promise<Json> {
  return (await fetch(`${chain.rest}${path}`)).json();
}

async function printed(...words: string[]): Promise<string> {
  const { code, out, err } = await chain.run(words);
  if (code !== 0) throw new Error(err);
  return out;
}

/** A transfer as the commands make it: the JSON, signed, and its bytes in base64. */
async function transfer(coins: string): Promise<{ signed: Json; bytes: string }> {
  number += 1;
  const [unsigned, signed] = ["unsigned", "signed"].map((name) => join(chain.home, `${name}-${number}.json`));
  if (unsigned === undefined || signed === undefined) throw new Error("two files");
  const send = ["tx", "bank", "send", alice, bob, coins, "--fees", "5000utoken"];
  writeFileSync(unsigned, await printed(...send, "--generate-only"));
  const text = await printed("tx", "sign", unsigned, "--from", "alice", "--chain-id", "cli-test-1");
  writeFileSync(signed, text);
  return { signed: JSON.parse(text), bytes: (await printed("tx", "encode", signed)).trim() };
}

async function balance(): Promise<bigint> {
  const { balance } = await get(`/sdk/bank/v1beta1/balances/${bob}/by_denom?denom=utoken`);
  return BigInt(balance.amount);
}

describe("what tx encode prints", () => {
  it("is in a block when the answer comes, with BROADCAST_MODE_BLOCK", async () => {
    const before = await balance();
    const { bytes } = await transfer("3utoken");
    const { status, json } = await post("/sdk/tx/v1beta1/txs", { tx_bytes: bytes, mode: "BROADCAST_MODE_BLOCK" });
    expect(status).toBe(200);
    expect(json.tx_response).toMatchObject({ code: 0, codespace: "", gas_wanted: "200000", tx: null, timestamp: "" });
    expect(Number(json.tx_response.height)).toBeGreaterThan(0);
    expect(json.tx_response.logs[0].events.map(({ type }: Json) => type)).toContain("transfer");
    expect(await balance()).toBe(before + 3n);
    const again = await post("/sdk/tx/v1beta1/txs", { tx_bytes: bytes, mode: "BROADCAST_MODE_BLOCK" });
    expect(again.json.tx_response.code).not.toBe(0);
  });

  it.each(["BROADCAST_MODE_SYNC", "BROADCAST_MODE_ASYNC"])("is taken with %s and found by its hash", async (mode) => {
    const { bytes } = await transfer("4utoken");
    const { status, json } = await post("/cosmos/tx/v1beta1/txs", { tx_bytes: bytes, mode });
    expect([status, json.tx_response.code, json.tx_response.height]).toEqual([200, 0, "0"]);
    const path = `/cosmos/tx/v1beta1/txs/${json.tx_response.txhash}`;
    await waitFor(async () => (await fetch(chain.rest + path)).status === 200, "the block");
    const found = await get(path);
    expect(found.tx.body.messages[0]).toMatchObject({ "@type": expect.stringContaining("MsgSend"), to_address: bob });
    expect(found.tx_response).toMatchObject({
      txhash: json.tx_response.txhash,
      code: 0,
      tx: { "@type": "/cosmos.tx.v1beta1.Tx" },
    });
  });

  it("is simulated as bytes and as JSON", async () => {
    const { bytes, signed } = await transfer("5utoken");
    for (const body of [{ tx_bytes: bytes }, { tx: signed }]) {
      const { status, json } = await post("/cosmos/tx/v1beta1/simulate", body);
      expect(status).toBe(200);
      expect(Number(json.gas_info.gas_used)).toBeGreaterThan(1000);
      expect(json.result.events.map(({ type }: Json) => type)).toContain("transfer");
    }
  });

  it("is refused with the words of the reference where the account has not the coins", async () => {
    const { bytes } = await transfer("9000000000000000utoken");
    expect(await post("/cosmos/tx/v1beta1/simulate", { tx_bytes: bytes })).toMatchObject({
      status: 400,
      json: { code: 2, message: expect.stringMatching(/insufficient funds.* with gas used: '\d+'/) },
    });
  });
});

describe("forms of a transaction", () => {
  it("are made of each other", async () => {
    const { bytes, signed } = await transfer("6utoken");
    const decoded = await post("/cosmos/tx/v1beta1/decode", { tx_bytes: bytes });
    expect(decoded).toMatchObject({ status: 200, json: { tx: { body: { messages: [{ to_address: bob }] } } } });
    expect(await post("/cosmos/tx/v1beta1/encode", { tx: signed })).toEqual({ status: 200, json: { tx_bytes: bytes } });
    expect((await post("/cosmos/tx/v1beta1/decode", { tx_bytes: "" })).status).toBe(400);
    expect((await post("/cosmos/tx/v1beta1/decode", { tx_bytes: "AAAA" })).status).toBe(400);
    expect((await post("/cosmos/tx/v1beta1/encode", {})).status).toBe(400);
  });

  it("before protobuf are made of each other", async () => {
    const amount = [{ denom: "utoken", amount: "7" }];
    const msg = [{ type: "cosmos-sdk/MsgSend", value: { from_address: alice, to_address: bob, amount } }];
    const value = { msg, fee: { amount: [], gas: "7" }, signatures: null, memo: "m", timeout_height: "0" };
    const amino_json = JSON.stringify({ type: "cosmos-sdk/StdTx", value });
    const { status, json } = await post("/sdk/tx/v1beta1/encode/amino", { amino_json });
    expect(status).toBe(200);
    expect(await post("/sdk/tx/v1beta1/decode/amino", json)).toEqual({ status: 200, json: { amino_json } });
    for (const bad of ["", "{", amino_json.replace("MsgSend", "MsgNothing")])
      expect(await post("/sdk/tx/v1beta1/encode/amino", { amino_json: bad })).toMatchObject({ status: 400 });
    for (const bad of ["", "AAAA"])
      expect(await post("/sdk/tx/v1beta1/decode/amino", { amino_binary: bad })).toMatchObject({ status: 400 });
  });

  it("are found by block", async () => {
    const { bytes } = await transfer("7utoken");
    const { json } = await post("/sdk/tx/v1beta1/txs", { tx_bytes: bytes, mode: "BROADCAST_MODE_BLOCK" });
    const { height } = json.tx_response;
    const found = await get(`/cosmos/tx/v1beta1/txs/block/${height}`);
    expect(found).toMatchObject({ block: { header: { height } }, pagination: { total: "1" } });
    expect(found.txs[0].body.messages[0].to_address).toBe(bob);
    expect((await get(`/cosmos/tx/v1beta1/txs/block/${height}?pagination.offset=18446744073709551615`)).txs).toEqual(
      [],
    );
    expect((await fetch(`${chain.rest}/cosmos/tx/v1beta1/txs/block/999999`)).status).toBe(400);
  });
});

describe("the search", () => {
  it("takes events, a query, pages and both orders", async () => {
    const path = "/cosmos/tx/v1beta1/txs?pagination.limit=1&order_by=";
    const query = `events=message.action%3D%27send%27&events=transfer.recipient%3D%27${bob}%27`;
    const first = await get(`${path}ORDER_BY_ASC&${query}`);
    const last = await get(`${path}2&query=message.action%3D%27send%27`);
    expect([first.txs.length, first.tx_responses.length, Number(first.total)]).toEqual([1, 1, 4]);
    expect(BigInt(first.tx_responses[0].height)).toBeLessThan(BigInt(last.tx_responses[0].height));
    expect((await get(`${path}1&${query}&page=2&limit=3`)).txs.length).toBe(1);
  });
});

describe("single parameters, as older releases keep them", () => {
  const param = (subspace: string, key: string) => get(`/cosmos/params/v1beta1/params?subspace=${subspace}&key=${key}`);

  it.each([
    ["staking", "BondDenom", '"utoken"'],
    ["staking", "bond_denom", '"utoken"'],
    ["staking", "MaxValidators", "100"],
    ["staking", "UnbondingTime", '"1814400000000000"'],
    ["slashing", "SignedBlocksWindow", '"100"'],
    ["distribution", "CommunityTax", '"0.020000000000000000"'],
    ["gov", "Quorum", '"0.334000000000000000"'],
    ["bank", "SendEnabled", "[]"],
  ])("%s/%s", async (subspace, key, value) => {
    expect(await param(subspace, key)).toEqual({ param: { subspace, key, value } });
  });

  it.each([
    ["", "", 3],
    ["staking", "", 3],
    ["nothing", "BondDenom", 5],
    ["staking", "Nothing", 5],
    ["genutil", "x", 5],
  ])("are refused: %j/%j", async (subspace, key, code) => {
    expect(await param(subspace, key)).toMatchObject({ code, details: [] });
  });

  it("are those of the height that is asked for", async () => {
    const path = "/cosmos/params/v1beta1/params?subspace=staking&key=BondDenom";
    const at = (height: string) => fetch(`${chain.rest}${path}`, { headers: { "x-cosmos-block-height": height } });
    expect((await at("999999")).status).toBe(400);
    const { status, headers } = await at("1");
    expect([status, headers.get("x-cosmos-block-height")]).toEqual([200, "1"]);
  });

  it("are listed by module, each with a value", async () => {
    const { subspaces } = await get("/cosmos/params/v1beta1/subspaces");
    const names = subspaces.map(({ subspace }: { subspace: string }) => subspace);
    expect(names).toEqual(expect.arrayContaining(["auth", "bank", "gov", "market", "staking"]));
    expect(names).not.toContain("genutil");
    for (const { subspace, keys } of subspaces)
      for (const key of keys) expect(await param(subspace, key)).toMatchObject({ param: { subspace, key } });
  });
});
