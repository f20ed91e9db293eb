import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../cli/run.ts";
import { Fixture, runSvc, waitFor } from "../support/index.ts";

/** Two operators, each with its own home: the engine of a home signs with its key alone. */

type Json = ReturnType<typeof JSON.parse>;

const CHAIN = "svc-pair-1";
const AGAIN = "svc-pair-2";
const LISTEN = ["--rpc.laddr", "tcp://127.0.0.1:0", "--grpc.address", "tcp://127.0.0.1:0"];
const BONDED = { status: "BOND_STATUS_BONDED", jailed: false };
const SHORT_WINDOW = { signed_blocks_window: "30", downtime_jail_duration: "1s" };
const fixture = new Fixture();
const [first, second, other, again] = ["first", "second", "other", "again"].map((name) => fixture.tempHome(name)) as [
  string,
  string,
  string,
  string,
];
const operators: Record<string, string> = {};
let url = "";
afterAll(() => fixture.close());

/** Runs a command line with a home. */
const at = (home: string, ...words: string[]) =>
  runCli([...words, "--home", home], {
    env: { SVC_KEYRING_BACKEND: "test", ...(url === "" ? {} : { SVC_NODE: url }) },
  });

async function must(home: string, ...words: string[]): Promise<string> {
  const ran = await at(home, ...words);
  expect({ words, ...ran }).toMatchObject({ code: 0 });
  return ran.out;
}

/** The first line of a command's refusal. */
async function refused(home: string, ...words: string[]): Promise<string> {
  const { code, err } = await at(home, ...words);
  expect(code, words.join(" ")).not.toBe(0);
  return err.split("\n")[0] ?? "";
}

const genesisFile = (home: string) => join(home, "config", "genesis.json");
const gentxs = (home: string) => join(home, "config", "gentx");
const readJson = (path: string): Json => JSON.parse(readFileSync(path, "utf8"));

function edit(path: string, change: (genesis: Json) => void): void {
  const genesis = readJson(path);
  change(genesis);
  writeFileSync(path, JSON.stringify(genesis));
}

/** A transaction of the second operator's home; its file. */
async function gentx(home: string, amount: string): Promise<string> {
  rmSync(gentxs(home), { recursive: true, force: true });
  const { code, err } = await at(home, "gentx", "operator", amount);
  expect(code, err).toBe(0);
  return /"(.*)"/.exec(err)?.[1] ?? "";
}

async function start(home: string) {
  const flags = ["--block-interval", "100ms", "--check-invariants", "--minimum-gas-prices", "0utoken"];
  const node = await fixture.start("node", ["start", "--home", home, ...LISTEN, ...flags]);
  url = /RPC (http:\/\/[\d.:]+)/.exec(await node.line(/node ready/))?.[1] ?? "";
  await waitFor(async () => (await at(home, "query", "block", "1")).code === 0, "the first block");
  const stop = async () => {
    expect(await node.endsAfter("SIGTERM")).toBe(0);
    url = "";
  };
  return { node, stop };
}

async function validators(home: string): Promise<Record<string, Json>> {
  const { validators: found } = JSON.parse(await must(home, "query", "staking", "validators", "-o", "json"));
  return Object.fromEntries(found.map((each: Json) => [each.description.moniker, each]));
}

beforeAll(async () => {
  for (const [home, chain] of [
    [first, CHAIN],
    [second, CHAIN],
    [other, "svc-other-1"],
  ] as const) {
    await must(home, "init", home === first ? "one" : "two", "--chain-id", chain);
    if (home === other) cpSync(join(second, "keyring-test"), join(other, "keyring-test"), { recursive: true });
    else await must(home, "keys", "add", "operator");
    operators[home] = (await must(home, "keys", "show", "operator", "-a", "--bech", "val")).trim();
  }
  for (const home of [first, second]) {
    const address = (await must(home, "keys", "show", "operator", "-a")).trim();
    await must(first, "add-genesis-account", address, home === first ? "50000000utoken" : "30000000utoken");
    // On another chain, and with more money than on this one.
    await must(other, "add-genesis-account", address, "90000000utoken");
  }
  copyFileSync(genesisFile(first), genesisFile(second));
});

describe("gentx of two operators", { timeout: 60_000 }, () => {
  it("is refused with the name of its file when it does not belong here", async () => {
    await must(first, "gentx", "operator", "20000000utoken");
    const before = readFileSync(genesisFile(first), "utf8");
    const path = join(gentxs(first), "zz-second.json");
    const collect = async (from: string): Promise<string> => {
      copyFileSync(from, path);
      const told = await refused(first, "collect-gentxs");
      expect(readFileSync(genesisFile(first), "utf8")).toBe(before);
      return told;
    };
    expect(await collect(await gentx(other, "10000000utoken"))).toMatch(
      /zz-second\.json: genutil: transaction 1: signature verification failed.*chain-id \(svc-pair-1\)/,
    );
    // The other chain, by its name, is this one with more money.
    edit(genesisFile(other), (genesis) => Object.assign(genesis, { chain_id: CHAIN }));
    expect(await collect(await gentx(other, "80000000utoken"))).toMatch(
      /zz-second\.json: genutil: transaction 1: .*30000000utoken is smaller than 80000000utoken: insufficient funds/,
    );
    const good = await gentx(second, "10000000utoken");
    copyFileSync(good, join(gentxs(first), "copy.json"));
    expect(await collect(good)).toMatch(
      new RegExp(
        `copy\\.json and .*zz-second\\.json both create ${operators[second]}: a validator has one genesis transaction`,
      ),
    );
    rmSync(join(gentxs(first), "copy.json"));
    const tx = readJson(good);
    tx.body.messages[0].value.amount = "10000001";
    writeFileSync(good, JSON.stringify(tx));
    expect(await collect(good)).toMatch(/zz-second\.json: genutil: transaction 1: signature verification failed/);
    // A file that was moved elsewhere is not collected.
    mkdirSync(join(gentxs(first), "old"));
    copyFileSync(good, join(gentxs(first), "old", "gentx.json"));
    copyFileSync(await gentx(second, "10000000utoken"), path);
    await must(first, "collect-gentxs");
    expect(readJson(genesisFile(first)).app_state.genutil.gen_txs).toHaveLength(2);
  });

  it("begins no chain: each home would make one of its own", async () => {
    await must(first, "validate-genesis");
    const { code, stderr } = await runSvc(["start", "--home", first, ...LISTEN]);
    expect(code).toBe(1);
    expect(stderr).toContain("a validator with another key: this engine signs with the key of its home alone");
    expect(stderr).toContain("svc collect-gentxs with this home's own transaction alone");
    rmSync(join(gentxs(first), "zz-second.json"));
    await must(first, "collect-gentxs");
    edit(genesisFile(first), ({ app_state }) => Object.assign(app_state.slashing.params, SHORT_WINDOW));
  });
});

describe("a validator whose key is in another home", { timeout: 180_000 }, () => {
  it("is told so, absent although it has most of the power, jailed, and left out of the next chain", async () => {
    let running = await start(first);
    const key = (await must(second, "comet", "show-validator")).trim();
    const create = ["tx", "staking", "create-validator", "--amount", "25000000utoken", "--moniker", "two"];
    const made = await at(second, ...create, "--pubkey", key, "--from", "operator", "-b", "block", "-y");
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining("is slashed and jailed for downtime") });
    expect(await validators(first)).toMatchObject({
      one: { ...BONDED, tokens: "20000000", operator_address: operators[first] },
      two: { ...BONDED, tokens: "25000000", operator_address: operators[second] },
    });
    const unjail = ["tx", "slashing", "unjail", "--from", "operator", "-b", "block", "-y", "-o", "json"];
    expect(await refused(second, ...unjail, "--chain-id", CHAIN)).toMatch(/validator not jailed/);
    await running.stop();
    for (const how of [[], ["--for-zero-height"]])
      expect(await refused(first, "export", ...how)).toMatch(
        /: svcvalcons1\w+: these validators vote in this state, and this node does not sign for them$/,
      );
    const both = `${operators[first]},${operators[second]}`;
    const network = JSON.parse(await must(first, "export", "--for-zero-height", "--jail-allowed-addrs", both));
    expect(network.validators).toMatchObject([{ power: "25" }, { power: "20" }]);
    running = await start(first);
    await running.node.line(/^W.*reported as absent.*svc export --for-zero-height --jail-allowed-addrs/);
    await waitFor(async () => (await validators(first)).two.jailed, "the absent validator in jail");
    expect(await validators(first)).toMatchObject({
      one: { ...BONDED, tokens: "20000000" },
      two: { tokens: "24750000" },
    });
    await running.stop();
    const restart = ["export", "--for-zero-height", "--jail-allowed-addrs", operators[first] ?? ""];
    const exported = await must(first, ...restart);
    await must(again, "init", "one", "--chain-id", AGAIN);
    writeFileSync(genesisFile(again), exported);
    edit(genesisFile(again), (genesis) => Object.assign(genesis, { chain_id: AGAIN }));
    copyFileSync(join(first, "config", "priv_validator_key.json"), join(again, "config", "priv_validator_key.json"));
    await must(again, "validate-genesis");
    running = await start(again);
    const left = await validators(again);
    expect(left).toMatchObject({ one: BONDED, two: { jailed: true } });
    expect(left.two.status).not.toBe(BONDED.status);
    await running.stop();
  });
});

describe("an export that somebody has edited", { timeout: 60_000 }, () => {
  it.each([
    ["shares", ({ staking }: Json) => (staking.delegations[0].shares = "-1.0"), /shares must be positive/],
    [
      "signing infos",
      ({ slashing }: Json) => (slashing.signing_infos = []),
      /signing_infos: the bonded validator \w+ is/,
    ],
    [
      "rewards",
      ({ distribution }: Json) => (distribution.delegator_starting_infos = []),
      /delegator_starting_infos: .* is/,
    ],
    ["supply", ({ bank }: Json) => (bank.supply[0].amount = "1"), /supply: is 1utoken, but the balances add up to/],
  ])("is refused for its %s by validate-genesis and by start, in the same words", async (name, change, sentence) => {
    const home = fixture.tempHome(`edited-${name.replace(" ", "-")}`);
    await must(home, "init", "one", "--chain-id", AGAIN);
    copyFileSync(genesisFile(again), genesisFile(home));
    copyFileSync(join(again, "config", "priv_validator_key.json"), join(home, "config", "priv_validator_key.json"));
    edit(genesisFile(home), ({ app_state }) => change(app_state));
    const told = (await refused(home, "validate-genesis")).replace(/: invalid genesis \w+$/, "");
    expect(told).toMatch(sentence);
    const started = await runSvc(["start", "--home", home, "--rpc.laddr", "tcp://127.0.0.1:0"]);
    expect(started.code).toBe(1);
    expect(started.stderr).toContain(told);
    expect(started.stderr).not.toMatch(/\n {4}at /);
  });
});
