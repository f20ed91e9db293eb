import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addGenesisValidator } from "../../src/node/index.ts";
import { runCli } from "../cli/run.ts";
import { type Lane, makeLanes } from "../kill/lanes.ts";
import { Fixture, freePorts, startNode, type TestNode, waitFor } from "../support/index.ts";
import { atNight } from "../support/runs.ts";

/** Plans that governance makes, replaces and drops on a running chain, and its stop while transactions wait. */

type Json = ReturnType<typeof JSON.parse>;

const CHAIN = "svc-plans-1";
const FUNDS = 1_000_000_000_000n;
const LANES = 10;
const SIGNED_EACH = 50;
const MEMPOOL = 20;
/** A block has room for five of the waiting transactions. */
const BLOCK_GAS = 1_000_000;

const fixture = new Fixture();
const lanes = makeLanes(CHAIN, LANES, SIGNED_EACH);
let env: Record<string, string> = {};
let node: TestNode;
let proposals = 0;

const svc = (...words: string[]) => runCli(words, { env });

async function json(...words: string[]): Promise<Json> {
  const { code, out, err } = await svc(...words, "-o", "json");
  expect({ words, code, err }).toEqual({ words, code: 0, err: expect.any(String) });
  return JSON.parse(out);
}

const signed = ["--from", "alice", "--gas", "800000", "-b", "block", "-y"];
const planned = () => json("query", "upgrade", "plan");

async function height(): Promise<number> {
  return Number(JSON.parse((await svc("status")).out).sync_info.latest_block_height);
}

/** A file with a proposal that plans upgrades, and drops the plan where the list has "cancel". */
async function proposalFile(plans: readonly (object | "cancel")[]): Promise<string> {
  const drafts = ["MsgSoftwareUpgrade", "MsgCancelUpgrade"].map((name) => svc("tx", "gov", "draft-proposal", name));
  const [upgrade, cancel] = (await Promise.all(drafts)).map(({ out }) => JSON.parse(out));
  const messages = plans.map((plan) => (plan === "cancel" ? cancel.messages[0] : { ...upgrade.messages[0], plan }));
  const path = join(fixture.folder, "proposal.json");
  const about = { title: "A plan", summary: "for the next program", deposit: "10000000utoken" };
  writeFileSync(path, JSON.stringify({ ...upgrade, ...about, messages }));
  return path;
}

/** Proposes and votes; the proposal when the vote has ended. */
async function voted(...plans: readonly (object | "cancel")[]): Promise<Json> {
  const sent = await json("tx", "gov", "submit-proposal", await proposalFile(plans), ...signed);
  expect(sent, JSON.stringify(sent)).toMatchObject({ code: 0 });
  const id = `${++proposals}`;
  expect(await json("tx", "gov", "vote", id, "yes", ...signed)).toMatchObject({ code: 0 });
  const ended = async () => {
    const { proposal = {}, ...flat } = await json("query", "gov", "proposal", id);
    const { status, failed_reason } = { ...flat, ...proposal };
    return /VOTING/i.test(status) ? undefined : { status, failed_reason };
  };
  return waitFor(ended, "the end of the vote");
}

/** Sends until the node ends; the refusals of a full mempool. */
async function flood(lane: Lane): Promise<string[]> {
  const refusals: string[] = [];
  const client = node.client();
  for (let sequence = 0n; node.process.running; ) {
    const words = await client.node.broadcast(lane.tx(sequence), "sync").then(({ log }) => log, String);
    if (!node.process.running) break;
    if (words.includes("mempool is full")) refusals.push(words);
    else sequence += 1n;
  }
  client.close();
  return refusals;
}

beforeAll(async () => {
  env = { SVC_HOME: fixture.tempHome("keys"), SVC_KEYRING_BACKEND: "test", SVC_CHAIN_ID: CHAIN };
  expect((await svc("keys", "add", "alice")).code).toBe(0);
  const alice = (await svc("keys", "show", "alice", "-a")).out.trim();
  const coins = [{ denom: "utoken", amount: FUNDS }];
  node = await startNode(fixture, {
    checkInvariants: true,
    chainId: CHAIN,
    accounts: [...lanes.map(({ key }) => key.address), alice].map((address) => ({ address, coins })),
    flags: ["--mempool.size", `${MEMPOOL}`],
    editGenesis: ({ app_state, consensus_params }) => {
      const periods = { max_deposit_period: "60s", voting_period: "2s", expedited_voting_period: "1s" };
      Object.assign(app_state.gov ?? {}, { params: { ...(app_state.gov as Json).params, ...periods } });
      consensus_params.block.max_gas = `${BLOCK_GAS}`;
    },
    editHome: (home) =>
      addGenesisValidator(home, { operator: alice, bonded: { denom: "utoken", amount: FUNDS / 10n } }),
  });
  env = { ...env, SVC_NODE: node.address };
});
afterAll(() => fixture.close());

describe("plans of upgrades", { timeout: 180_000 }, () => {
  it("are refused with a name that is a path, and fail with a height of the past", async () => {
    const path = await proposalFile([{ name: "../x", height: "100000", info: "" }]);
    const { code, err, out } = await svc("tx", "gov", "submit-proposal", path, ...signed);
    expect({ code, words: err + out }).toEqual({ code: 1, words: expect.stringMatching(/name/) });
    expect(await voted({ name: "v2", height: "2", info: "" })).toEqual({
      status: expect.stringMatching(/FAILED/i),
      failed_reason: expect.stringMatching(/height 2 is not in the future: this is block \d+/),
    });
    expect(await planned()).toBeNull();
  });

  it("replace the one before, and are dropped in the block that makes them", async () => {
    for (const name of ["v2", "v3"]) await voted({ name, height: "100000", info: "" });
    expect(await planned()).toMatchObject({ name: "v3" });
    expect(await voted({ name: "v4", height: "100000", info: "" }, "cancel")).toMatchObject({
      status: expect.stringMatching(/PASSED/i),
    });
    expect(await planned()).toBeNull();
  });

  atNight(() =>
    it("stop a node whose mempool is full, and one that skips the height executes what comes then", async () => {
      const at = (await height()) + 60;
      await voted({ name: "v2", height: `${at}`, info: "" });
      const refusals = (await Promise.all(lanes.map(flood))).flat();
      expect(refusals.length).toBeGreaterThan(LANES);
      expect(await node.process.stop()).toBe(1);
      expect(node.process.output).toContain(`UPGRADE "v2" NEEDED at height: ${at}: `);

      const [port] = await freePorts(1);
      const args = node.args.map((word) => (word.startsWith("tcp://") ? `tcp://127.0.0.1:${port}` : word));
      const skipping = await fixture.start("skipping", [...args, "--unsafe-skip-upgrades", `${at}`], {
        home: node.home,
      });
      await skipping.line(new RegExp(`committed block.*height=${at + 1}\\b`));
      env = { ...env, SVC_NODE: `tcp://127.0.0.1:${port}` };
      expect(
        await json("tx", "bank", "send", "alice", lanes[0]?.key.address ?? "", "7utoken", ...signed),
      ).toMatchObject({
        code: 0,
      });
      expect(await planned()).toBeNull();
      expect(await skipping.stop()).toBe(0);
    }),
  );
});
