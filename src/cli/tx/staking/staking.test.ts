import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliChain } from "../../../../test/cli/chain.ts";
import { runCli } from "../../../../test/cli/run.ts";
import { NodeDouble, statusAnswer } from "../../../../test/support/node-double.ts";
import keyVectors from "../../../../test/vectors/keys.json" with { type: "json" };
import { fromBase64, sdkErrors } from "../../../util/index.ts";
import { Query as AuthQuery, BaseAccountSchema } from "../../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query } from "../../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { decodeTx, encodePublicKey, packAny, txHash } from "../../../wire/index.ts";

const K0 = "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6";
const OTHER = "cosmos1gea4s0r75sy2evw2t5y6rtkcu6sruvnn49qefv";
const V = "cosmosvaloper1vqekc49ukm8gu5xsn7dwsdduqan5rjw07krqgf";
const W = "cosmosvaloper1pk3acgv3c5jy880cskd6vzgka3reed0v3p5ycq";
const KEY = { "@type": "/cosmos.crypto.ed25519.PubKey", key: "HFW8PGL58arqTdSp0nhi5YLI9/nZ3i4/lkMreOg5idE=" };
const BECH32_KEY = encodePublicKey({ type: "ed25519", key: fromBase64(KEY.key) }, "valconsPub", "cosmos");
const FIVE = { denom: "stake", amount: "5" };

const root = mkdtempSync(join(tmpdir(), "svc-staking-"));
afterAll(() => rmSync(root, { recursive: true }));

/** The messages of the unsigned transaction that a command prints. */
async function messages(...args: readonly string[]) {
  const argv = ["tx", ...args, "--from", K0, "--generate-only", "--profile", "cosmos"];
  const { code, out, err } = await runCli(argv);
  expect({ argv, code, err }).toEqual({ argv, code: 0, err: "" });
  return JSON.parse(out).body.messages;
}

const staking = (message: string, fields: object) => ({ "@type": `/cosmos.staking.v1beta1.${message}`, ...fields });
const distribution = (message: string, fields: object) => ({
  "@type": `/cosmos.distribution.v1beta1.${message}`,
  ...fields,
});

describe("tx staking", () => {
  test("delegations", async () => {
    const of = { delegator_address: K0, validator_address: V, amount: FIVE };
    expect(await messages("staking", "delegate", V, "5stake")).toEqual([staking("MsgDelegate", of)]);
    expect(await messages("staking", "unbond", V, "5stake")).toEqual([staking("MsgUndelegate", of)]);
    expect(await messages("staking", "cancel-unbond", V, "5stake", "12")).toEqual([
      staking("MsgCancelUnbondingDelegation", { ...of, creation_height: "12" }),
    ]);
    const moved = { delegator_address: K0, validator_src_address: V, validator_dst_address: W, amount: FIVE };
    expect(await messages("staking", "redelegate", V, W, "5stake")).toEqual([staking("MsgBeginRedelegate", moved)]);
  });

  test("an edit changes what is given alone", async () => {
    const same = "[do-not-modify]";
    const unchanged = { moniker: same, identity: same, website: same, security_contact: same, details: same };
    const texts = ["--website", "", "--new-moniker", "m", "--security-contact", "s"];
    expect(await messages("staking", "edit-validator", ...texts)).toEqual([
      staking("MsgEditValidator", {
        description: { ...unchanged, moniker: "m", website: "", security_contact: "s" },
        validator_address: V,
        commission_rate: null,
        min_self_delegation: null,
      }),
    ]);
    const numbers = ["--commission-rate", "0.1", "--min-self-delegation", "7"];
    expect(await messages("staking", "edit-validator", ...numbers)).toEqual([
      staking("MsgEditValidator", {
        description: unchanged,
        validator_address: V,
        commission_rate: "0.100000000000000000",
        min_self_delegation: "7",
      }),
    ]);
  });

  const created = (fields: object = {}) => [
    staking("MsgCreateValidator", {
      description: { moniker: "m", identity: "", website: "", security_contact: "", details: "" },
      commission: {
        rate: "0.100000000000000000",
        max_rate: "0.200000000000000000",
        max_change_rate: "0.010000000000000000",
      },
      min_self_delegation: "1",
      delegator_address: K0,
      validator_address: V,
      pubkey: KEY,
      value: FIVE,
      ...fields,
    }),
  ];

  test.each([
    ["JSON", JSON.stringify(KEY)],
    ["JSON of older releases", JSON.stringify({ type: "tendermint/PubKeyEd25519", value: KEY.key })],
    ["bech32", BECH32_KEY],
  ])("a validator from flags, its key as %s", async (_, key) => {
    const flags = ["--amount", "5stake", "--moniker", "m", "--pubkey", key];
    expect(await messages("staking", "create-validator", ...flags)).toEqual(created());
  });

  test("a validator from a file; flags go before it", async () => {
    const path = join(root, "validator.json");
    const file = { pubkey: KEY, amount: "5stake", moniker: "m", security: "s", "commission-rate": "0.05" };
    writeFileSync(path, JSON.stringify(file));
    const commission = { max_rate: "0.200000000000000000", max_change_rate: "0.010000000000000000" };
    const description = { moniker: "m", identity: "", website: "", security_contact: "s", details: "" };
    expect(await messages("staking", "create-validator", path)).toEqual(
      created({ description, commission: { rate: "0.050000000000000000", ...commission } }),
    );
    const flags = ["--commission-rate", "0.2", "--amount", "6stake"];
    expect(await messages("staking", "create-validator", path, ...flags)).toEqual(
      created({
        description,
        commission: { rate: "0.200000000000000000", ...commission },
        value: { denom: "stake", amount: "6" },
      }),
    );
  });

  test("a chain without a module says so", async () => {
    const node = new NodeDouble();
    node.methods.abci_query = () => {
      const { code, codespace, message } = sdkErrors.unknownRequest("unknown query path");
      const nothing = { index: "0", key: null, value: null, height: "0" };
      return { response: { code, codespace, log: message, info: "sdk/6", ...nothing } };
    };
    await node.start();
    const { code, err } = await runCli(["query", "upgrade", "plan", "--node", node.address]);
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: [^\n]*upgrade[^\n]*\nHint: [^\n]+\n$/);
    expect(err).toContain("Hint: this is a chain of svc, which does not have the module");
    expect(err).not.toContain("--node");
    await node.stop();
  });
});

test("create-validator says before it signs that the only node of a chain signs for nobody else", async () => {
  const chain = await cliChain("alice");
  const create = ["tx", "staking", "create-validator", "--amount", "5utoken", "--moniker", "m", "--from", "alice"];
  const foreign = ["--pubkey", JSON.stringify({ ...KEY, "@type": "/sdk.crypto.ed25519.PubKey" })];
  const { code, err } = await chain.run([...create, ...foreign], { input: "n\n" });
  expect(code).toBe(0);
  expect(err).toContain("Warning: the node makes the blocks of this chain alone and signs with its own key");
  const own = (await chain.run(["comet", "show-validator"])).out.trim();
  expect((await chain.run([...create, "--pubkey", own], { input: "n\n" })).err).not.toContain("Warning");
  await chain.stop();
});

describe("tx distribution", () => {
  const rewards = (validator: string) =>
    distribution("MsgWithdrawDelegatorReward", { delegator_address: K0, validator_address: validator });

  test("messages", async () => {
    expect(await messages("distribution", "withdraw-rewards", W)).toEqual([rewards(W)]);
    expect(await messages("distribution", "withdraw-rewards", V, "--commission")).toEqual([
      rewards(V),
      distribution("MsgWithdrawValidatorCommission", { validator_address: V }),
    ]);
    expect(await messages("distribution", "set-withdraw-addr", OTHER)).toEqual([
      distribution("MsgSetWithdrawAddress", { delegator_address: K0, withdraw_address: OTHER }),
    ]);
    expect(await messages("distribution", "withdraw-validator-commission")).toEqual([
      distribution("MsgWithdrawValidatorCommission", { validator_address: V }),
    ]);
    expect(await messages("distribution", "fund-community-pool", "7uvec,5stake")).toEqual([
      distribution("MsgFundCommunityPool", { amount: [FIVE, { denom: "uvec", amount: "7" }], depositor: K0 }),
    ]);
    expect(await messages("distribution", "fund-validator-rewards-pool", W, "5stake")).toEqual([
      distribution("MsgDepositValidatorRewardsPool", { amount: [FIVE], depositor: K0, validator_address: W }),
    ]);
  });

  describe("withdraw-all-rewards", () => {
    const node = new NodeDouble();
    const sent: { readonly sequence: bigint; readonly messages: number }[] = [];
    const env = () => ({
      SVC_HOME: root,
      SVC_PROFILE: "cosmos",
      SVC_KEYRING_BACKEND: "test",
      SVC_NODE: node.address,
    });
    const all = (...flags: string[]) =>
      runCli(["tx", "distribution", "withdraw-all-rewards", ...flags], { env: env(), input: "y\nn\n" });

    beforeAll(async () => {
      await node.start();
      const phrase = keyVectors.keys.find(({ name }) => name === "k0")?.mnemonic;
      await runCli(["keys", "add", "k0", "--recover"], { env: env(), input: `${phrase}\n` });
      node.methods.status = () => statusAnswer(50, "vec-1");
      node.answerQuery(Query.method.delegatorValidators, () => ({ validators: [V, W, V, W, V] }));
      node.answerQuery(AuthQuery.method.account, () => ({
        account: packAny(BaseAccountSchema, create(BaseAccountSchema, { address: K0, sequence: 7n })),
      }));
      node.methods.broadcast_tx_sync = ({ tx }) => {
        const bytes = fromBase64(String(tx));
        const { authInfo, body } = decodeTx(bytes);
        sent.push({ sequence: authInfo.signerInfos[0]?.sequence ?? 0n, messages: body.messages.length });
        return { code: 0, data: "", log: "", codespace: "", hash: txHash(bytes) };
      };
    });
    afterAll(() => node.stop());

    test("is one transaction, or several with sequences that follow one another", async () => {
      const { code, out } = await all("--from", "k0", "-y");
      expect({ code, lines: out.trim().split("\n").length }).toEqual({ code: 0, lines: 1 });
      expect(sent.splice(0)).toEqual([{ sequence: 7n, messages: 5 }]);
      expect((await all("--from", "k0", "-y", "--max-msgs", "2")).code).toBe(0);
      expect(sent.splice(0)).toEqual([
        { sequence: 7n, messages: 2 },
        { sequence: 8n, messages: 2 },
        { sequence: 9n, messages: 1 },
      ]);
    });

    test("ends with the first that the user refuses", async () => {
      const { code, err } = await all("--from", "k0", "--max-msgs", "2");
      expect(code).toBe(0);
      expect(err).toContain("cancelled transaction");
      expect(sent.splice(0)).toEqual([{ sequence: 7n, messages: 2 }]);
    });

    test("is printed unsigned, a transaction a line", async () => {
      const { out } = await all("--from", K0, "--generate-only", "--max-msgs", "4");
      const lines = out.trim().split("\n");
      expect(lines.map((line) => JSON.parse(line).body.messages.length)).toEqual([4, 1]);
      expect(sent).toEqual([]);
    });

    test("has nothing to do without delegations", async () => {
      node.answerQuery(Query.method.delegatorValidators, () => ({ validators: [] }));
      const { code, out, err } = await all("--from", "k0", "-y");
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain("there are no rewards to withdraw");
    });
  });
});
