import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampled } from "../support/runs.ts";
import { referenceTool, temporaryFiles } from "./reference-tool.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";
import { stakingQueries } from "./staking-queries.ts";

/** Staking and rewards with `svc` on a chain of the newer reference tool. */

const built = await referenceTool("simd53", "staking is not tested with it");
const file = temporaryFiles();

/** Signing all messages with both tools takes a minute. */
const NTH = 4;
/** Keys that sign blocks of validators that never do: they hold too little for the chain to wait for them. */
const CONSENSUS_KEYS = [
  "oWg2ISpLF405Jcm2vXV+2v4fnjodh6aafuIdeoW+rUw=",
  "HFW8PGL58arqTdSp0nhi5YLI9/nZ3i4/lkMreOg5idE=",
] as const;
const consensusKey = (index: 0 | 1) => ({ "@type": "/cosmos.crypto.ed25519.PubKey", key: CONSENSUS_KEYS[index] });

describe.skipIf(built === undefined)("a chain of the reference tool", () => {
  let chain: SimdChain;
  let operator: string;
  const address = (name: string): string => chain.address(name);

  beforeAll(async () => {
    if (built === undefined) return;
    chain = await startSimdChain(built, {
      accounts: ["alice", "bob", "operator", "second"],
      changeGenesis: ({ app_state: state }) => {
        const { slashing } = state as { slashing: { params: Record<string, string> } };
        // Missed blocks jail no validator.
        slashing.params.signed_blocks_window = "1000000";
      },
    });
    operator = (await chain.svcOk(["keys", "show", "operator", "-a", "--bech", "val"])).trim();
  });
  afterAll(() => chain?.stop());

  /** Values of an event's attribute in a transaction. */
  function attributes(tx: Events, type: string, key: string): string[] {
    const events = tx.events.filter((event) => event.type === type);
    return events.flatMap((event) => event.attributes.filter((each) => each.key === key).map(({ value }) => value));
  }

  async function tokens(validator: string): Promise<bigint> {
    const { validator: found } = await chain.rest(`staking/v1beta1/validators/${validator}`);
    return BigInt(found.tokens);
  }

  async function balance(name: string): Promise<bigint> {
    const { amount } = await chain.svcQuery("bank", "balances", address(name), "--denom", "stake");
    return BigInt(amount);
  }

  test("a validator is created from the file of the reference tool, and another from flags", async () => {
    const path = file(
      JSON.stringify({
        pubkey: consensusKey(0),
        amount: "5000000stake",
        moniker: "second <&> é",
        website: "https://example.com",
        security: "security@example.com",
        "commission-rate": "0.1",
        "commission-max-rate": "0.2",
        "commission-max-change-rate": "0.01",
        "min-self-delegation": "1",
      }),
    );
    const gas = ["--gas", "auto", "--gas-adjustment", "1.5"];
    const created = await chain.svcTx("staking", "create-validator", path, "--from", "operator", ...gas);
    expect(attributes(created, "create_validator", "validator")).toEqual([operator]);
    const { validator } = await chain.query("staking", "validator", operator);
    expect(validator).toMatchObject({
      status: "BOND_STATUS_BONDED",
      tokens: "5000000",
      description: { moniker: "second <&> é", security_contact: "security@example.com" },
      commission: { commission_rates: { rate: "0.100000000000000000", max_change_rate: "0.010000000000000000" } },
    });
    const flags = ["--amount", "3000000stake", "--moniker", "third", "--pubkey", JSON.stringify(consensusKey(1))];
    await chain.svcTx("staking", "create-validator", ...flags, "--from", "second", ...gas, "--sign-mode", "amino-json");
    expect((await chain.query("staking", "validators")).validators).toHaveLength(3);
  });

  test("a validator is edited, and keeps what is not named", async () => {
    const edit = ["staking", "edit-validator", "--from", "operator"];
    await chain.svcTx(...edit, "--moniker", "renamed", "--min-self-delegation", "2");
    await chain.svcTx(...edit, "--details", "words", "--sign-mode", "amino-json");
    const { validator } = await chain.query("staking", "validator", operator);
    expect(validator.description).toMatchObject({
      moniker: "renamed",
      website: "https://example.com",
      details: "words",
    });
    expect(validator.min_self_delegation).toBe("2");
    const early = await chain.svc(["tx", ...edit, "--commission-rate", "0.105", "-y", "-b", "block"]);
    expect(early.code).toBe(1);
    expect(JSON.parse(early.stdout)).toMatchObject({ codespace: "staking" });
    expect(early.stderr).toContain("commission cannot be changed more than once in 24h");
  });

  test("delegations of both tools add up", async () => {
    const before = await tokens(chain.validator);
    await chain.svcTx("staking", "delegate", chain.validator, "1000000stake", "--from", "alice");
    await chain.svcTx("staking", "delegate", operator, "2000000stake", "--from", "alice", "--sign-mode", "amino-json");
    await chain.tx("staking", "delegate", chain.validator, "500000stake", "--from", "alice");
    expect(await tokens(chain.validator)).toBe(before + 1_500_000n);
    const { delegation, balance: bonded } = await chain.svcQuery(
      ...["staking", "delegation", address("alice"), chain.validator],
    );
    expect(delegation.shares).toBe("1500000.000000000000000000");
    expect(bonded).toEqual({ denom: "stake", amount: "1500000" });
  });

  test("a delegation moves to another validator", async () => {
    const before = await tokens(operator);
    const gas = ["--gas", "auto", "--gas-adjustment", "1.4"];
    const move = ["staking", "redelegate", chain.validator, operator];
    await chain.svcTx(...move, "400000stake", "--from", "alice", ...gas);
    expect(await tokens(operator)).toBe(before + 400_000n);
    const back = ["tx", "staking", "redelegate", operator, chain.validator, "1stake", "--from", "alice"];
    const refused = await chain.svc([...back, "-y", "-b", "block", "--gas", "400000"]);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({ codespace: "staking" });
    expect(refused.stderr).toContain("redelegation to this validator already in progress");
  });

  test("money is unbonded, and part of it delegated again", async () => {
    const gas = ["--gas", "400000"];
    await chain.svcTx("staking", "unbond", chain.validator, "100000stake", "--from", "alice", ...gas);
    await chain.svcTx(
      ...["staking", "unbond", operator, "50000stake", "--from", "alice", "--sign-mode", "amino-json", ...gas],
    );
    const query = ["staking", "unbonding-delegation", address("alice"), chain.validator];
    const [entry] = (await chain.svcQuery(...query)).entries;
    expect(entry).toMatchObject({ initial_balance: "100000", balance: "100000" });
    await chain.svcTx(
      ...["staking", "cancel-unbond", chain.validator, "30000stake", entry.creation_height, "--from", "alice", ...gas],
    );
    expect((await chain.svcQuery(...query)).entries[0].balance).toBe("70000");
  });

  test("rewards of one delegation are a list, of all an object, each as the reference shows them", async () => {
    // The last transaction may have paid everything out.
    await chain.blocks(2);
    const at = ["--height", String(await chain.height())];
    const query = ["distribution", "rewards", address("alice"), chain.validator];
    const one = await chain.svcQuery(...query, ...at);
    expect(one).toEqual([{ denom: "stake", amount: expect.stringMatching(/^\d+\.\d{18}$/) }]);
    const { rewards: theirs } = await chain.query(
      ...["distribution", "rewards-by-validator", address("alice"), chain.validator, ...at],
    );
    expect(one.map(({ denom, amount }: Coin) => `${amount}${denom}`)).toEqual(theirs);
    const all = await chain.svcQuery("distribution", "rewards", address("alice"), ...at);
    expect(all.rewards.map((row: { validator_address: string }) => row.validator_address).sort()).toEqual(
      [chain.validator, operator].sort(),
    );
    expect(all.rewards).toContainEqual({ validator_address: chain.validator, reward: one });
    const { total } = await chain.query("distribution", "rewards", address("alice"), ...at);
    expect(all.total.map(({ denom, amount }: Coin) => `${amount}${denom}`)).toEqual(total);
  });

  test("rewards are withdrawn without and with commission", async () => {
    const before = await balance("alice");
    const own = await chain.svcTx("distribution", "withdraw-rewards", chain.validator, "--from", "alice");
    const [reward = ""] = attributes(own, "withdraw_rewards", "amount");
    expect(await balance("alice")).toBe(before + BigInt(reward.replace("stake", "")));
    for (const mode of ["direct", "amino-json"]) {
      const both = await chain.svcTx(
        ...["distribution", "withdraw-rewards", chain.validator, "--commission", "--from", "validator"],
        ...["--sign-mode", mode, "--gas", "300000"],
      );
      expect(attributes(both, "withdraw_commission", "amount")).toEqual([expect.stringMatching(/^\d+stake$/)]);
      expect(attributes(both, "withdraw_rewards", "validator")).toEqual([chain.validator]);
    }
    const foreign = ["tx", "distribution", "withdraw-rewards", chain.validator, "--commission", "--from", "alice"];
    const refused = await chain.svc([...foreign, "-y"]);
    expect({ code: refused.code, out: refused.stdout }).toEqual({ code: 2, out: "" });
    expect(refused.stderr).toContain(`${address("validator")} operates the validator and must sign`);
  });

  test("all rewards are withdrawn in one transaction or in several", async () => {
    const all = ["distribution", "withdraw-all-rewards", "--from", "alice", "--gas", "400000"];
    const once = await chain.svcTx(...all);
    expect(attributes(once, "withdraw_rewards", "validator").sort()).toEqual([chain.validator, operator].sort());
    const lines = await chain.svcOk(["tx", ...all, "--max-msgs", "1", "-y", "-b", "sync"]);
    const sent = await Promise.all(
      lines
        .trim()
        .split("\n")
        .map((line) => chain.committed(line)),
    );
    expect(sent.map(({ code }) => code)).toEqual([0, 0]);
    expect(sent.flatMap((tx) => attributes(tx, "withdraw_rewards", "validator")).sort()).toEqual(
      [chain.validator, operator].sort(),
    );
  });

  test("rewards go where they are told to, and the community gets what it is given", async () => {
    for (const mode of ["direct", "amino-json"]) {
      const signed = ["--from", "alice", "--sign-mode", mode];
      const to = address(mode === "direct" ? "bob" : "second");
      await chain.svcTx("distribution", "set-withdraw-addr", to, ...signed);
      const told = await chain.svcQuery("distribution", "delegator-withdraw-address", address("alice"));
      expect(told).toEqual({ withdraw_address: to });
      const given = await chain.svcTx("distribution", "fund-community-pool", "5uvec,7stake", ...signed);
      expect(attributes(given, "coin_spent", "amount")).toContain("7stake,5uvec");
    }
    const { pool } = await chain.svcQuery("distribution", "community-pool");
    expect(pool).toContainEqual({ denom: "uvec", amount: "10.000000000000000000" });
  });

  /** Commands for all messages: both tools must sign the same bytes. */
  const messages = (): string[][] => [
    ["staking", "delegate", chain.validator, "7stake"],
    ["staking", "redelegate", chain.validator, operator, "7stake"],
    ["staking", "unbond", chain.validator, "7stake"],
    ["staking", "cancel-unbond", chain.validator, "7stake", "12"],
    ["staking", "edit-validator", "--details", 'a <&> "b" é', "--commission-rate", "0.105"],
    ["staking", "edit-validator", "--min-self-delegation", "3"],
    [
      ...["staking", "create-validator", "--moniker", "m", "--amount", "5stake", "--commission-rate", "0"],
      ...["--pubkey", JSON.stringify(consensusKey(0))],
    ],
    ["distribution", "withdraw-rewards", chain.validator],
    ["distribution", "withdraw-rewards", operator, "--commission"],
    ["distribution", "set-withdraw-addr", address("bob")],
    ["distribution", "fund-community-pool", "5uvec,7stake"],
  ];

  test("signatures of all messages have the bytes that the reference signs", async () => {
    const numbers = ["--offline", "-a", "12", "-s", "34", "--chain-id", chain.chainId];
    for (const words of sampled(messages(), NTH)) {
      const unsigned = file(
        await chain.svcOk(["tx", ...words, "--from", address("operator"), "--generate-only", "--fees", "5stake"]),
      );
      for (const mode of ["direct", "amino-json"]) {
        const sign = ["tx", "sign", unsigned, "--from", "operator", "--sign-mode", mode, "--signature-only"];
        const ours = await chain.svcOk([...sign, ...numbers]);
        const theirs = await chain.ok([...sign, ...numbers.slice(0, -2)]);
        expect({ words, mode, signature: ours }).toEqual({ words, mode, signature: theirs });
      }
      const bytes = await chain.ok(["tx", "encode", unsigned]);
      expect(await chain.svcOk(["tx", "encode", unsigned])).toBe(bytes);
      const decoded = JSON.parse(await chain.ok(["tx", "decode", bytes.trim()]));
      const { body } = JSON.parse(await chain.svcOk(["tx", "decode", bytes.trim()]));
      expect(body.messages).toEqual(decoded.body.messages);
    }
  });

  test("what the reference generates has the messages that we generate", async () => {
    const generate = ["--from", address("operator"), "--generate-only"];
    const both = messages().filter((words) => words[1] !== "create-validator" && !words.includes("--details"));
    for (const words of both) {
      const ours = JSON.parse(await chain.svcOk(["tx", ...words, ...generate]));
      const theirs = JSON.parse(await chain.ok(["tx", ...renamed(words), ...generate]));
      expect(ours.body.messages).toEqual(theirs.body.messages);
    }
  });

  test("every query shows what the node's REST interface shows, at the same height", async () => {
    await chain.blocks(1);
    const [alice, height] = [address("alice"), await chain.height()];
    const rows = stakingQueries({ delegator: alice, validator: chain.validator, height });
    for (const [words, path, part] of rows) {
      const ours = await chain.svcQuery(...words.split(" "), "--height", String(height));
      const theirs = await chain.rest(path, height);
      expect({ words, answer: ours }).toEqual({ words, answer: part === undefined ? theirs : theirs[part] });
    }
  });

  test("a redelegation is found from each side", async () => {
    const [alice, v] = [address("alice"), chain.validator];
    const queries = [
      ["redelegation", alice, v, operator],
      ["redelegations", alice],
      ["redelegations-from", v],
    ];
    // The reference prints these with numbers and without empty fields.
    const [theirs] = (await chain.query("staking", "redelegation", alice, v, operator)).redelegation_responses;
    const [entry] = theirs.entries;
    const { creation_height: height, completion_time: time, ...amounts } = entry.redelegation_entry;
    expect(amounts).toMatchObject({ initial_balance: "400000", shares_dst: "400000.000000000000000000" });
    for (const words of queries) {
      const { redelegation_responses: found } = await chain.svcQuery("staking", ...words);
      expect(found).toHaveLength(1);
      expect(found[0].redelegation).toMatchObject({ delegator_address: alice, validator_dst_address: operator });
      const [ours] = found[0].entries;
      expect(ours.balance).toBe(entry.balance);
      expect(ours.redelegation_entry).toMatchObject({
        creation_height: String(height),
        initial_balance: "400000",
        shares_dst: amounts.shares_dst,
      });
      expect(Date.parse(ours.redelegation_entry.completion_time)).toBe(Date.parse(time));
    }
  });

  test("lists come in pages", async () => {
    const list = ["staking", "validators"];
    const all = (await chain.svcQuery(...list)).validators.map(operatorAddress);
    expect(all).toHaveLength(3);
    const first = await chain.svcQuery(...list, "--limit", "1", "--count-total");
    expect(first.pagination.total).toBe("3");
    const key = ["--page-key", first.pagination.next_key];
    const pages = [
      first,
      await chain.svcQuery(...list, "--limit", "1", ...key),
      await chain.svcQuery(...list, "--limit", "1", "--page", "3"),
    ];
    expect(pages.flatMap(({ validators }) => validators.map(operatorAddress))).toEqual(all);
    const theirs = await chain.query(...list, "--page-limit", "2", "--page-offset", "1");
    const ours = await chain.svcQuery(...list, "--limit", "2", "--offset", "1");
    expect(ours.validators.map(operatorAddress)).toEqual(theirs.validators.map(operatorAddress));
    const reversed = await chain.svcQuery(...list, "--reverse");
    expect(reversed.validators.map(operatorAddress)).toEqual([...all].reverse());
  });
});

interface Coin {
  readonly denom: string;
  readonly amount: string;
}

interface Events {
  readonly events: readonly {
    readonly type: string;
    readonly attributes: readonly { readonly key: string; readonly value: string }[];
  }[];
}

const operatorAddress = (validator: { readonly operator_address: string }) => validator.operator_address;

/** Words of the reference tool where they differ. */
function renamed(words: readonly string[]): string[] {
  return words.map((word) => (word === "--moniker" ? "--new-moniker" : word));
}
