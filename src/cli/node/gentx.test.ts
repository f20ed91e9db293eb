import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-gentx-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const svc = (...words: string[]) => runCli([...words, "--home", home], { env: { SVC_KEYRING_BACKEND: "test" } });

async function must(...words: string[]) {
  const ran = await svc(...words);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  return ran;
}

async function refused(text: RegExp, ...words: string[]) {
  const { code, err } = await svc(...words);
  expect(err).toMatch(text);
  expect(code).not.toBe(0);
}

async function begin(coins = "2000000utoken") {
  await must("init", "mine", "--chain-id", "gen-1");
  await must("keys", "add", "op");
  await must("add-genesis-account", "op", coins);
}

const genesisFile = () => join(home, "config", "genesis.json");
const genesis = () => JSON.parse(readFileSync(genesisFile(), "utf8"));
const folder = () => join(home, "config", "gentx");

describe("gentx and collect-gentxs", () => {
  test("make a genesis file with the validator of the node", async () => {
    await begin();
    const { err } = await must("gentx", "op", "1000000utoken", "--ip", "10.0.0.7", "--chain-id", "gen-1");
    const [, path = ""] = /^Genesis transaction written to "(.*)"\n$/.exec(err) ?? [];
    const id = (await must("tendermint", "show-node-id")).out.trim();
    expect(path).toBe(join(folder(), `gentx-${id}.json`));
    const tx = JSON.parse(readFileSync(path, "utf8"));
    expect(tx.body.memo).toBe(`${id}@10.0.0.7:26656`);
    expect(tx.body.messages[0]).toMatchObject({
      "@type": "/sdk.staking.v1beta1.MsgCreateValidator",
      description: { moniker: "mine" },
      commission: { rate: "0.100000000000000000", max_rate: "0.200000000000000000" },
      min_self_delegation: "1",
      value: { denom: "utoken", amount: "1000000" },
    });
    expect(tx.auth_info.fee).toMatchObject({ amount: [], gas_limit: "200000" });
    const collected = JSON.parse((await must("collect-gentxs")).err);
    expect(collected).toMatchObject({ chain_id: "gen-1", gentxs_dir: folder(), moniker: "mine", node_id: id });
    expect(genesis().app_state.genutil.gen_txs).toEqual([tx]);
    expect(genesis().validators).toEqual([]);
    expect((await must("validate-genesis")).out).toContain("is a valid genesis file");
    // A second run changes nothing.
    const before = readFileSync(genesisFile(), "utf8");
    await must("collect-gentxs");
    expect(readFileSync(genesisFile(), "utf8")).toBe(before);
  });

  test("call a validator as its own node is called, whoever made the genesis file", async () => {
    await begin();
    const json = genesis();
    json.validators[0].name = "another";
    writeFileSync(genesisFile(), JSON.stringify(json));
    const { err } = await must("gentx", "op", "1000000utoken");
    const [, path = ""] = /"(.*)"\n$/.exec(err) ?? [];
    expect(JSON.parse(readFileSync(path, "utf8")).body.messages[0].description.moniker).toBe("mine");
    await must("collect-gentxs");
    // The genesis file has no name of a signer now.
    expect(JSON.parse((await must("collect-gentxs")).err)).toMatchObject({ moniker: "mine" });
  });

  test("take the place of the node and the folder of the files from flags", async () => {
    await begin();
    const id = "00112233445566778899aabbccddeeff00112233";
    const place = ["--node-id", id, "--ip", "10.0.0.7", "--p2p-port", "7"];
    const { err } = await must("gentx", "op", "1000000utoken", ...place);
    const [, path = ""] = /"(.*)"\n$/.exec(err) ?? [];
    const text = readFileSync(path, "utf8");
    expect(JSON.parse(text).body.memo).toBe(`${id}@10.0.0.7:7`);
    rmSync(folder(), { recursive: true });
    const elsewhere = join(home, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "op.json"), text);
    await must("collect-gentxs", "--gentx-dir", elsewhere);
    expect(genesis().app_state.genutil.gen_txs).toEqual([JSON.parse(text)]);
  });

  test("refuse what the chain would not begin with, and write nothing", async () => {
    await begin();
    await refused(/gen-1, not of other-1/, "gentx", "op", "1utoken", "--chain-id", "other-1");
    await refused(/insufficient funds/, "gentx", "op", "2000001utoken");
    await refused(/"nobody"|nobody/, "gentx", "nobody", "1000000utoken");
    await refused(/maximum/, "gentx", "op", "1000000utoken", "--commission-rate", "0.3");
    await must("keys", "add", "poor");
    await refused(/does not exist/, "gentx", "poor", "1000000utoken");
    expect(existsSync(folder())).toBe(false);
    await refused(/there is no .*gentx/, "collect-gentxs");
  });

  test("name the file that is broken, and leave the genesis file as it was", async () => {
    await begin();
    await must("gentx", "op", "1000000utoken");
    const before = readFileSync(genesisFile(), "utf8");
    const [bad, id] = [join(folder(), "a.json"), (await must("tendermint", "show-node-id")).out.trim()];
    const good = readFileSync(join(folder(), `gentx-${id}.json`), "utf8");
    const tx = JSON.parse(good);
    const [message] = tx.body.messages;
    const wrong: readonly (readonly [string, RegExp])[] = [
      ["", /a\.json/],
      ["{", /a\.json/],
      ["[]", /a\.json/],
      ["null", /a\.json/],
      ['{"body":null}', /a\.json: .*body and auth_info are needed/],
      [JSON.stringify({ ...tx, body: { ...tx.body, messages: [] } }), /exactly one message/],
      [JSON.stringify({ ...tx, body: { ...tx.body, messages: [message, message] } }), /exactly one message/],
      [
        JSON.stringify({ ...tx, body: { ...tx.body, memo: "another" } }),
        /a\.json: genutil: transaction 0: signature verification failed/,
      ],
      [JSON.stringify({ ...tx, signatures: [] }), /transaction 0: .*signatures/],
      [JSON.stringify({ ...tx, nonsense: 1 }), /a\.json/],
      ["x".repeat(16 << 20), /a\.json/],
      // A copy of the other file.
      [good, /a\.json and .*gentx-\w+\.json both create svcvaloper1\w+: a validator has one genesis transaction/],
    ];
    for (const [text, fault] of wrong) {
      writeFileSync(bad, text);
      await refused(fault, "collect-gentxs");
      expect(readFileSync(genesisFile(), "utf8")).toBe(before);
    }
    rmSync(bad);
    // Folders, links and hidden files are not transactions.
    mkdirSync(join(folder(), "b.json"));
    symlinkSync(join(folder(), "b.json"), join(folder(), "c.json"));
    writeFileSync(join(folder(), ".d.json"), "{");
    await must("collect-gentxs");
  });

  test("a genesis file with invalid transactions is invalid", async () => {
    await begin();
    await must("gentx", "op", "1000000utoken");
    await must("collect-gentxs");
    const json = genesis();
    json.chain_id = "gen-2";
    writeFileSync(genesisFile(), JSON.stringify(json));
    await refused(/genutil: transaction 0: signature verification failed/, "validate-genesis");
    json.app_state.genutil.gen_txs = Array.from({ length: 1001 }, () => ({}));
    writeFileSync(genesisFile(), JSON.stringify(json));
    await refused(/gen_txs: at most 1000 are allowed/, "validate-genesis");
  });
});

describe("add-genesis-account with locked coins", () => {
  const locked = (...words: string[]) => ["add-genesis-account", "op", "100utoken", ...words];

  test("writes the kind of account that follows from the times", async () => {
    await must("init", "mine");
    for (const name of ["op", "late"]) await must("keys", "add", name);
    const end = ["--vesting-end-time", "2000000000"];
    await must(...locked("--vesting-amount", "90utoken", "--vesting-start-time", "1900000000", ...end));
    await must("add-genesis-account", "late", "5utoken", "--vesting-amount", "5utoken", ...end);
    expect(genesis().app_state.auth.accounts).toMatchObject([
      {
        "@type": "/sdk.vesting.v1beta1.ContinuousVestingAccount",
        base_vesting_account: { original_vesting: [{ denom: "utoken", amount: "90" }], end_time: "2000000000" },
        start_time: "1900000000",
      },
      { "@type": "/sdk.vesting.v1beta1.DelayedVestingAccount" },
    ]);
    await must("validate-genesis");
    await refused(/cannot add account at existing address/, "add-genesis-account", "op", "1utoken");
  });

  test("refuses what cannot be", async () => {
    await must("init", "mine");
    await must("keys", "add", "op");
    const amount = ["--vesting-amount", "100utoken"];
    const end = ["--vesting-end-time", "2000000000"];
    await refused(/--vesting-end-time is missing/, ...locked(...amount));
    await refused(/--vesting-amount is missing/, ...locked(...end));
    await refused(/must be before end_time/, ...locked(...amount, "--vesting-start-time", "2000000000", ...end));
    await refused(/101utoken is more than/, ...locked("--vesting-amount", "101utoken", ...end));
    await refused(/1stake is more than/, ...locked("--vesting-amount", "1stake", ...end));
    await refused(/must be at most/, ...locked(...amount, "--vesting-end-time", "99999999999999"));
    await refused(/whole number/, ...locked(...amount, "--vesting-end-time", "tomorrow"));
    expect(genesis().app_state.auth.accounts).toEqual([]);
  });
});
