import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliChain, cliChainOf } from "../cli/chain.ts";
import { waitFor } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** Transactions in the form before protobuf, and accounts by number: our REST answers beside the reference chain's. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference chain is there" : `no reference chain, amino of it is not compared: ${missing}`,
  () => expect(missing).toBe(""),
);

const SEND = {
  type: "cosmos-sdk/MsgSend",
  value: { from_address: "a", to_address: "b", amount: [{ denom: "stake", amount: "5" }] },
};
const COMMISSION = { type: "cosmos-sdk/MsgWithdrawValCommission", value: { validator_address: "v" } };
const GRANT = {
  type: "cosmos-sdk/MsgGrantAllowance",
  value: {
    granter: "a",
    grantee: "b",
    allowance: {
      type: "cosmos-sdk/AllowedMsgAllowance",
      value: {
        allowance: {
          type: "cosmos-sdk/BasicAllowance",
          value: { spend_limit: [{ denom: "stake", amount: "5" }], expiration: "2030-01-02T03:04:05.000000006Z" },
        },
        allowed_messages: ["/x", "/y"],
      },
    },
  },
};
const FEE = { amount: [{ denom: "stake", amount: "1" }], gas: "7", payer: "p", granter: "g" };
const KEY = { type: "tendermint/PubKeySecp256k1", value: "AxLZ24vr+sh4EwC/7P3mUCjdfn/ohvrFNsfRUTuz0pNm" };
const rest = { fee: { amount: [], gas: "7" }, signatures: null, memo: "" };

describe.skipIf(!(built instanceof Peer))("beside the reference chain", () => {
  let theirs: SimdChain;
  let ours: CliChain;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    ours = await cliChainOf(["alice"], { blockInterval: "500ms", hurry: false, rest: true });
    theirs = await startSimdChain(built, { accounts: ["alice"] });
    const isUp = async () => (await fetch(`${theirs.api}/cosmos/auth/v1beta1/params`)).ok;
    await waitFor(isUp, "the REST interface of the reference chain");
  });
  afterAll(async () => {
    await ours?.stop();
    await theirs?.stop();
  });

  async function both(path: string, body?: object) {
    const request = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return Promise.all(
      [ours.rest, theirs.api].map(async (url) => {
        const response = await fetch(`${url}/cosmos/${path}`, request);
        return { status: response.status, body: JSON.parse(await response.text()) };
      }),
    );
  }

  test.each([
    ["a transfer", { ...rest, msg: [SEND], memo: "<m&>", timeout_height: "9" }],
    ["two messages and a whole fee", { ...rest, msg: [SEND, COMMISSION], fee: FEE }],
    ["a signature", { ...rest, msg: [COMMISSION], signatures: [{ pub_key: KEY, signature: "AAECAw==" }] }],
    [
      "a message inside another",
      { ...rest, msg: [{ type: "cosmos-sdk/MsgExec", value: { grantee: "v", msgs: [SEND] } }] },
    ],
    ["an allowance", { ...rest, msg: [GRANT] }],
  ])("%s has the same bytes, and the same JSON", async (_, value) => {
    const amino_json = JSON.stringify({ type: "cosmos-sdk/StdTx", value });
    const [our, their] = await both("tx/v1beta1/encode/amino", { amino_json });
    expect(our).toEqual(their);
    expect(our?.status).toBe(200);
    const { amino_binary } = our?.body ?? {};
    const [decoded, theirDecoded] = await both("tx/v1beta1/decode/amino", { amino_binary });
    expect(decoded).toEqual(theirDecoded);
    expect(JSON.parse(decoded?.body.amino_json)).toMatchObject({ value: { msg: value.msg } });
  });

  test.each([
    ["encode/amino", { amino_json: "" }],
    ["encode/amino", { amino_json: "{" }],
    ["encode/amino", { amino_json: '{"type":"cosmos-sdk/StdTx","value":{"msg":[{"type":"x/y","value":{}}]}}' }],
    ["decode/amino", { amino_binary: "" }],
    ["decode/amino", { amino_binary: "AAAA" }],
    ["decode", { tx_bytes: "AAAA" }],
  ])("what neither can read is refused as the client's fault: %s of %j", async (path, body) => {
    const [our, their] = await both(`tx/v1beta1/${path}`, body);
    expect(our).toMatchObject({
      status: 400,
      body: { code: expect.any(Number), message: expect.any(String), details: [] },
    });
    expect(their?.status).toBeGreaterThanOrEqual(400);
  });

  test.each(["1", "x", "0?account_id=4000000000", "0?account_id=x", "0?account_id=-1"])(
    "an account that has no such number is refused alike: %s",
    async (path) => {
      const [our, their] = await both(`auth/v1beta1/address_by_id/${path}`);
      expect([our?.status, our?.body.code]).toEqual([their?.status, their?.body.code]);
    },
  );

  test.each(["0", "0?account_id=0", "0?account_id=1", "0?id=1"])(
    "an account is found by its number: %s",
    async (path) => {
      const [our, their] = await both(`auth/v1beta1/address_by_id/${path}`);
      expect(our).toEqual({ status: 200, body: { account_address: expect.stringMatching(/^svc1/) } });
      expect(their?.status).toBe(200);
      const account = await fetch(`${ours.rest}/cosmos/auth/v1beta1/account_info/${our?.body.account_address}`);
      const { info } = (await account.json()) as { info: { account_number: string } };
      expect(info.account_number).toBe(path.includes("account_id=1") ? "1" : "0");
    },
  );
});
