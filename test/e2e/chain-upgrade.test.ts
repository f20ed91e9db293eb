import { cpSync, existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addGenesisValidator, homePaths } from "../../src/node/index.ts";
import { runCli } from "../cli/run.ts";
import { MAIN, ROOT } from "../support/build.ts";
import { Fixture, freePorts, runSvc, startNode, svcOk, type TestNode, waitFor } from "../support/index.ts";
import { BLOCKS_PER_YEAR, buildNextProgram } from "../support/next-program.ts";
import { atNight } from "../support/runs.ts";

/** A chain that governance moves from this program to one that is built here, with an upgrade and a migration more. */

type Json = ReturnType<typeof JSON.parse>;

const FUNDS = 1_000_000_000_000n;
/** Blocks from the proposal to the upgrade: a vote has to end before. */
const BLOCKS = 60;

const fixture = new Fixture();
let next = "";
let env: Record<string, string> = {};
let node: TestNode;
let height = 0;

const svc = (...words: string[]) => runCli(words, { env });

async function json(...words: string[]): Promise<Json> {
  const { code, out, err } = await svc(...words, "-o", "json");
  expect({ words, code, err }).toEqual({ words, code: 0, err: expect.any(String) });
  return JSON.parse(out);
}

async function send(...words: string[]): Promise<void> {
  const sent = await json("tx", "gov", ...words, "--from", "alice", "--gas", "400000", "-b", "block", "-y");
  expect(sent, JSON.stringify(sent)).toMatchObject({ code: 0 });
}

/** Starts a program on the home, which refuses; its words. */
async function refused(main?: string): Promise<string> {
  const { code, stdout, stderr } = await runSvc(node.process.args, { home: node.home, ...(main ? { main } : {}) });
  expect(code, stdout + stderr).toBe(1);
  expect(stdout).not.toContain("node ready");
  return stderr;
}

/** A program in a folder of Cosmovisor. */
function program(folder: string, main: string): void {
  mkdirSync(join(folder, "bin"), { recursive: true });
  const text = `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`;
  writeFileSync(join(folder, "bin", "svc"), text, { mode: 0o755 });
}

const needed = () => `Error: UPGRADE "v2" NEEDED at height: ${height}: the next program\n`;

async function stopped(): Promise<void> {
  await waitFor(() => !node.process.running, "the end of the node", { timeoutMs: 120_000 });
  expect(await node.process.stop()).toBe(1);
}

beforeAll(async () => {
  next = buildNextProgram(fixture.tempHome("program"));
  env = { SVC_HOME: fixture.tempHome("keys"), SVC_KEYRING_BACKEND: "test", SVC_CHAIN_ID: "svc-test-1" };
  expect((await svc("keys", "add", "alice")).code).toBe(0);
  const alice = (await svc("keys", "show", "alice", "-a")).out.trim();
  node = await startNode(fixture, {
    checkInvariants: true,
    accounts: [{ address: alice, coins: [{ denom: "utoken", amount: FUNDS }] }],
    editGenesis: ({ app_state }) => {
      const periods = { max_deposit_period: "60s", voting_period: "2s", expedited_voting_period: "1s" };
      Object.assign(app_state.gov ?? {}, { params: { ...(app_state.gov as Json).params, ...periods } });
    },
    editHome: (home) =>
      addGenesisValidator(home, { operator: alice, bonded: { denom: "utoken", amount: FUNDS / 10n } }),
  });
  env = { ...env, SVC_NODE: node.address };
});
afterAll(() => fixture.close());

describe("an upgrade of a chain", { timeout: 180_000 }, () => {
  it("is planned by a proposal", async () => {
    const draft = JSON.parse((await svc("tx", "gov", "draft-proposal", "MsgSoftwareUpgrade")).out);
    const { sync_info: sync }: Json = JSON.parse((await svc("status")).out);
    height = Number(sync.latest_block_height) + BLOCKS;
    Object.assign(draft.messages[0], { plan: { name: "v2", height: `${height}`, info: "the next program" } });
    Object.assign(draft, { title: "v2", summary: "The next program", deposit: "10000000utoken" });
    const path = join(fixture.folder, "proposal.json");
    writeFileSync(path, JSON.stringify(draft));
    await send("submit-proposal", path);
    await send("vote", "1", "yes");
    const plan = await waitFor(async () => (await json("query", "upgrade", "plan")) ?? undefined, "the plan");
    expect(plan).toMatchObject({ name: "v2", height: `${height}`, info: "the next program" });
  });

  it("does not come with the next program before its height", async () => {
    await node.process.stop();
    expect(await refused(next)).toMatch(/upgrade v2 is planned for height \d+, .*BINARY UPDATED BEFORE TRIGGER\n/);
    await node.start();
  });

  it("stops the program before it at the height, also after another start and a rollback", async () => {
    await stopped();
    expect(node.process.output).toContain(needed().trim());
    const { upgradeInfo } = homePaths(node.home);
    const info = { name: "v2", height, info: "the next program" };
    expect(JSON.parse(readFileSync(upgradeInfo, "utf8"))).toEqual(info);
    rmSync(upgradeInfo);
    expect(await refused()).toBe(needed());
    expect(existsSync(upgradeInfo)).toBe(true);

    const back = await svcOk(["rollback", "--home", node.home]);
    expect(back).toContain(`Rolled back state to height ${height - 2} `);
    await node.start();
    await stopped();
    expect(node.process.output).toContain(needed().trim());
  });

  it("is dropped by a node that skips the height", async () => {
    const home = fixture.tempHome("skipping");
    cpSync(node.home, home, { recursive: true });
    const [port] = await freePorts(1);
    const args = ["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`, "--block-interval", "200ms"];
    const process = await fixture.start("skipping", [...args, "--unsafe-skip-upgrades", `${height}`], { home });
    await process.line(new RegExp(`committed block.*height=${height + 1}\\b`));
    expect(await process.stop()).toBe(0);
  });

  it("continues with the next program, which Cosmovisor switches to and which migrates", async () => {
    expect((await svcOk(["export", "--home", node.home])).length).toBeGreaterThan(0);
    const root = join(node.home, "cosmovisor");
    program(join(root, "genesis"), MAIN);
    program(join(root, "upgrades", "v2"), next);
    Object.assign(process.env, { DAEMON_HOME: node.home, DAEMON_NAME: "svc" });
    await node.start({ main: join(ROOT, "test", "support", "cosmovisor.mjs") });
    expect(node.process.output).toContain(needed().trim());
    expect(readlinkSync(join(root, "current"))).toBe(join(root, "upgrades", "v2"));
    await waitFor(async () => (await json("query", "upgrade", "applied", "v2")).height === `${height}`, "the upgrade");
    expect(await json("query", "upgrade", "plan")).toBeNull();
    expect(await json("query", "upgrade", "module-versions", "mint")).toMatchObject({
      module_versions: [{ name: "mint", version: "2" }],
    });
    expect(await json("query", "mint", "params")).toMatchObject({ blocks_per_year: BLOCKS_PER_YEAR });
    expect(await node.process.stop()).toBe(0);
    expect(await refused()).toContain("the state was written by a version of svc with other modules");
  });

  atNight(() =>
    it("may be rolled back by the next program alone, which executes its block again, or another one", async () => {
      const home = fixture.tempHome("back");
      cpSync(node.home, home, { recursive: true });
      const back = async (...words: string[]) => {
        const { code, stdout, stderr } = await runSvc(["rollback", "--home", home, ...words], { main: next });
        expect(code, stderr).toBe(0);
        return Number(/height (\d+)/.exec(stdout)?.[1]);
      };
      const { code, stderr } = await runSvc(["rollback", "--home", home]);
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("with other modules") });
      let last = await back();
      const [port] = await freePorts(1);
      const args = ["start", "--home", home, "--rpc.laddr", `tcp://127.0.0.1:${port}`, "--block-interval", "200ms"];
      for (const words of [[], ["--hard"]]) {
        const process = await fixture.start("back", args, { home, main: next });
        await process.line(new RegExp(`committed block.*height=${last + 2}\\b`));
        expect(await process.stop()).toBe(0);
        last = await back(...words);
      }
    }),
  );
});
