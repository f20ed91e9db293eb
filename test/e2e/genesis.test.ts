import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";

const SVC = resolve(import.meta.dirname, "../../svc");
const root = mkdtempSync(join(tmpdir(), "svc-e2e-genesis-"));
const home = join(root, "home");
/** As a user types them: all else comes from the environment. */
const ENV = {
  PATH: process.env.PATH ?? "",
  HOME: join(root, "user"),
  SVC_HOME: home,
  SVC_KEYRING_BACKEND: "test",
  SVC_RPC_LADDR: "tcp://127.0.0.1:0",
  SVC_GRPC_ADDRESS: "tcp://127.0.0.1:0",
};
let node: ChildProcess | undefined;
let url = "";

const run = promisify(execFile);

/** Types a command, its words separated by spaces. */
async function type(line: string): Promise<{ out: string; err: string }> {
  const { stdout, stderr } = await run(SVC, line.split(" "), { env: { ...ENV, SVC_NODE: url || "tcp://127.0.0.1:1" } });
  return { out: stdout, err: stderr };
}

async function start(from = home): Promise<void> {
  const flags = ["--home", from, "--block-interval", "200ms", "--check-invariants", "--log_level", "error"];
  const child = spawn(SVC, ["start", ...flags], {
    env: ENV,
    stdio: ["ignore", "pipe", "inherit"],
  });
  node = child;
  for await (const chunk of child.stdout) {
    url = /RPC (http:\/\/[\d.:]+)/.exec(String(chunk))?.[1] ?? url;
    if (url !== "") return;
  }
  throw new Error("the node ended before it was ready");
}

async function stop(): Promise<void> {
  if (node === undefined) return;
  const closed = once(node, "exit");
  node.kill("SIGTERM");
  await closed;
  node = undefined;
  url = "";
}

const genesisFile = (of = home): string => join(of, "config", "genesis.json");

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any field.
function editGenesis(path: string, edit: (genesis: any) => void): void {
  const genesis = JSON.parse(readFileSync(path, "utf8"));
  edit(genesis);
  writeFileSync(path, JSON.stringify(genesis));
}

/** A transaction of the operator, in a block when this returns. */
async function send(line: string, chainId = "svc-made-1"): Promise<void> {
  const { out } = await type(`tx ${line} --from operator --chain-id ${chainId} --fees 5000utoken -b block -y -o json`);
  expect(JSON.parse(out), out).toMatchObject({ code: 0 });
}

/** A transaction of the operator with the messages of both commands: the vote is never late. */
async function sendTogether(first: string, second: string): Promise<void> {
  const address = (await type("keys show operator -a")).out.trim();
  const flags = `--from ${address} --chain-id svc-made-1`;
  const generate = async (line: string) =>
    JSON.parse((await type(`tx ${line} ${flags} --gas 600000 --fees 5000utoken --generate-only`)).out);
  const [tx, { body }] = [await generate(first), await generate(second)];
  tx.body.messages.push(...body.messages);
  const [unsigned, signed] = [join(root, "unsigned.json"), join(root, "signed.json")];
  writeFileSync(unsigned, JSON.stringify(tx));
  writeFileSync(signed, (await type(`tx sign ${unsigned} ${flags}`)).out);
  const { out } = await type(`tx broadcast ${signed} -b block -o json`);
  expect(JSON.parse(out), out).toMatchObject({ code: 0 });
}

async function waitForHeight(height: number): Promise<void> {
  const query = async (): Promise<number> => {
    const { result } = (await (await fetch(`${url}/status`)).json()) as {
      result: { sync_info: { latest_block_height: string } };
    };
    return Number(result.sync_info.latest_block_height);
  };
  while ((await query()) < height) await new Promise((done) => setTimeout(done, 100));
}

afterAll(async () => {
  await stop();
  rmSync(root, { recursive: true, force: true });
});

describe("a chain made by hand", { timeout: 120_000 }, () => {
  let operator = "";

  test("has a bonded validator from the first block on", async () => {
    await type("init mynode --chain-id svc-made-1");
    await type("keys add operator");
    await type("keys add locked");
    await type("add-genesis-account operator 5000000000utoken");
    await type("add-genesis-account locked 1000000utoken --vesting-amount 900000utoken --vesting-end-time 4102444800");
    await type("gentx operator 1000000000utoken --chain-id svc-made-1");
    await type("collect-gentxs");
    editGenesis(genesisFile(), ({ app_state: { gov } }) => {
      Object.assign(gov.params, { voting_period: "5s", expedited_voting_period: "3s" });
    });
    expect((await type("validate-genesis")).out).toContain("is a valid genesis file");
    await start();
    await waitForHeight(3);
    const { validators } = JSON.parse((await type("query staking validators -o json")).out);
    expect(validators).toMatchObject([
      { description: { moniker: "mynode" }, status: "BOND_STATUS_BONDED", tokens: "1000000000", jailed: false },
    ]);
    operator = validators[0].operator_address;
    const address = (await type("keys show locked -a")).out.trim();
    const { balances } = JSON.parse((await type(`query bank spendable-balances ${address} -o json`)).out);
    expect(balances).toEqual([{ denom: "utoken", amount: "100000" }]);
  });

  test("its operator can sign, and locked coins can be delegated", async () => {
    const sent = await type(
      `tx staking delegate ${operator} 5000000utoken --from operator --chain-id svc-made-1 --fees 5000utoken -b block -y -o json`,
    );
    expect(JSON.parse(sent.out)).toMatchObject({ code: 0 });
    // Nine tenths of a million are locked: locked coins are delegated first, and the fee comes from free ones.
    const locked = await type(
      `tx staking delegate ${operator} 950000utoken --from locked --chain-id svc-made-1 --fees 500utoken -b block -y -o json`,
    );
    expect(JSON.parse(locked.out)).toMatchObject({ code: 0 });
    const address = (await type("keys show locked -a")).out.trim();
    const account = JSON.parse((await type(`query auth account ${address} -o json`)).out);
    expect(account.base_vesting_account).toMatchObject({
      delegated_vesting: [{ denom: "utoken", amount: "900000" }],
      delegated_free: [{ denom: "utoken", amount: "50000" }],
    });
  });

  test("its holders change a parameter by a vote", async () => {
    const draft = await type("tx gov draft-proposal sdk.mint.v1beta1.MsgUpdateParams");
    const proposal = JSON.parse(draft.out);
    const { inflation_max: before } = JSON.parse((await type("query mint params -o json")).out);
    proposal.messages[0].params.inflation_max = "0.300000000000000000";
    const path = join(root, "proposal.json");
    writeFileSync(path, JSON.stringify(proposal));
    await sendTogether(`gov submit-proposal ${path}`, "gov vote 1 yes");
    const voted = JSON.parse((await type("query gov tally 1 -o json")).out);
    expect(Number(voted.yes_count)).toBeGreaterThan(1_000_000_000);
    const status = async () => JSON.parse((await type("query gov proposal 1 -o json")).out).status;
    while ((await status()) === "PROPOSAL_STATUS_VOTING_PERIOD") await new Promise((done) => setTimeout(done, 200));
    expect(await status()).toBe("PROPOSAL_STATUS_PASSED");
    const { inflation_max: after } = JSON.parse((await type("query mint params -o json")).out);
    expect([before, after]).toEqual(["0.200000000000000000", "0.300000000000000000"]);
  });

  test("goes on where it stopped", async () => {
    await stop();
    await start();
    const { result } = (await (await fetch(`${url}/status`)).json()) as {
      result: { sync_info: { latest_block_height: string } };
    };
    await waitForHeight(Number(result.sync_info.latest_block_height) + 2);
    await stop();
    const exported = JSON.parse((await type("export")).out);
    expect(exported.app_state.genutil).toEqual({ gen_txs: [] });
    expect(exported.app_state.staking.validators).toMatchObject([{ status: "BOND_STATUS_BONDED" }]);
  });

  test("begins again at height 1 from its export, with the same validator", async () => {
    const again = join(root, "again");
    await type(`init mynode --chain-id svc-made-2 --home ${again}`);
    writeFileSync(genesisFile(again), (await type("export --for-zero-height")).out);
    editGenesis(genesisFile(again), (genesis) => Object.assign(genesis, { chain_id: "svc-made-2" }));
    const key = join("config", "priv_validator_key.json");
    copyFileSync(join(home, key), join(again, key));
    expect((await type(`validate-genesis --home ${again}`)).out).toContain("is a valid genesis file");
    await start(again);
    await waitForHeight(2);
    const { validators } = JSON.parse((await type("query staking validators -o json")).out);
    expect(validators).toMatchObject([{ operator_address: operator, status: "BOND_STATUS_BONDED", jailed: false }]);
    expect(JSON.parse((await type(`query mint params -o json --home ${again}`)).out)).toMatchObject({
      inflation_max: "0.300000000000000000",
    });
    await send(`staking delegate ${operator} 1000000utoken`, "svc-made-2");
    await send(`distribution withdraw-rewards ${operator} --commission`, "svc-made-2");
  });
});
