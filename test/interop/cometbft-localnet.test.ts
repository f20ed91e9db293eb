import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { keySigner, localnetKeyring } from "../../src/cli/localnet/home.ts";
import { ChainClient, sendTx } from "../../src/client/index.ts";
import { PORTS } from "../../src/util/index.ts";
import { commandLine, processesOn } from "../support/abandoned.ts";
import { expectSameBlocks, heightAt, notThere } from "../support/agreement.ts";
import { startEngine } from "../support/containers.ts";
import {
  Fixture,
  fetchPage,
  pause,
  type Rng,
  ROOT,
  runSvc,
  type SvcProcess,
  seedFrom,
  svcOk,
  transfer,
  waitFor,
} from "../support/index.ts";
import { freeLocalnetOffset } from "../support/ports.ts";
import { type Acknowledged, Sends } from "../support/sends.ts";
import { buildPeer, Peer } from "./peers.ts";

/** One command that starts a network: four validators, two providers and a deployment; and validators that are killed. */

const COUNT = 4;
/** `npm run lab -- network kills` has a hundred: each validator in turn. */
const KILLS = Number(process.env.SVC_TEST_NETWORK_KILLS ?? 1);
/** Sends to nodes at random, seven a second, and twenty in the lab: an account has as long as this for its send. */
const SENDERS = KILLS === 1 ? 20 : 60;
const TURN_MS = 3_000;
const LONG_MS = 300_000 + KILLS * 60_000;
const PROBE_MS = 200;
const peer = await buildPeer("cometbft");

interface Validator {
  readonly rpc: string;
  readonly p2p: string;
  readonly pid: number;
  readonly home: string;
}

describe.skipIf(!(peer instanceof Peer))("a localnet of four validators", () => {
  const fixture = new Fixture();
  const home = join(fixture.folder, "localnet");
  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  test("deploys a file, loses no send and no request while validators are killed, and leaves nothing", {
    timeout: LONG_MS,
  }, async () => {
    if (!(peer instanceof Peer)) return;
    const rng = seedFrom("SVC_TEST_SEED");
    const engine = await startEngine(fixture);
    const offset = await freeLocalnetOffset([PORTS.rpc]);
    const flags = ["-o", "json", "--home", home, "--cluster-engine", engine.socket, "--block-interval", "500ms"];
    const size = ["--validators", String(COUNT), "--providers", "2", "--cometbft", peer.binary];
    const words = ["localnet", "--port-offset", String(offset), "--deploy", join(ROOT, "examples/web.yaml")];
    const localnet = await fixture.start("localnet", [...words, ...size, ...flags]);
    fixture.defer(() => localnet.stop());
    const ready = JSON.parse(await localnet.line(/"type":"ready"/, 180_000));
    const validators: readonly Validator[] = ready.validators;
    for (const [i, validator] of validators.entries())
      expect(validator).toEqual({
        rpc: `http://127.0.0.1:${PORTS.rpc + offset + 10 * i}`,
        p2p: expect.stringMatching(new RegExp(`^[0-9a-f]{40}@127\\.0\\.0\\.1:${PORTS.p2p + offset + 10 * i}$`)),
        pid: expect.any(Number),
        home: i === 0 ? home : join(home, `node-${i + 1}`),
      });
    const [url] = ready.deployments[0].uris;
    expect(await fetchPage(url)).toMatch(/^200 /);
    const { providers } = JSON.parse(await svcOk(["query", "provider", "list", "-o", "json"], { home }));
    expect(providers).toHaveLength(2);
    const staking = JSON.parse(await svcOk(["query", "staking", "validators", "-o", "json"], { home }));
    expect(staking.validators).toMatchObject(validators.map(() => ({ status: "BOND_STATUS_BONDED" })));

    const traffic = new Traffic(validators, url, rng);
    await traffic.fund(home);
    traffic.start();
    await killInTurn(localnet, validators, rng);
    const { acknowledged, missed } = await traffic.stop();
    expect(missed, "requests that the deployment did not answer").toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(KILLS * 2);
    const last = Math.max(...acknowledged.map((send) => Number(send.height)));
    const rpcs = validators.map(({ rpc }) => rpc);
    const height = await expectSameBlocks(rpcs, last);
    for (const rpc of rpcs) expect(await notThere(rpc, acknowledged), rpc).toEqual([]);
    console.log(`${KILLS} kills, ${height} blocks equal on ${COUNT} nodes, ${acknowledged.length} sends acknowledged`);

    expect(await localnet.stop()).toBe(0);
    expect([home, `${home}-run`].filter(existsSync)).toEqual([]);
    await expect.poll(() => processesOn(home).map(commandLine), { timeout: 30_000 }).toEqual([]);
    expect(await engine.podman("ps", "--all", "--quiet")).toBe("");
  });
});

test("several validators without CometBFT are refused as svc start refuses them", async () => {
  const fixture = new Fixture();
  const env = { HOME: fixture.folder, PATH: "/nowhere" };
  const words = ["localnet", "--validators", "4", "--home", join(fixture.folder, "localnet")];
  const [localnet, engine] = [await runSvc(words, { env }), await runSvc(["engine", "show"], { env })];
  await fixture.close();
  expect(localnet).toEqual({ code: 3, stdout: "", stderr: engine.stderr });
});

/** Kills each validator in turn; the next one when the last takes part again. */
async function killInTurn(localnet: SvcProcess, validators: readonly Validator[], rng: Rng): Promise<void> {
  const pids = validators.map(({ pid }) => pid);
  for (let kill = 0; kill < KILLS; kill++) {
    const at = kill % COUNT;
    const validator = validators[at];
    const other = validators[(at + 1) % COUNT];
    if (validator === undefined || other === undefined) throw new Error("four validators");
    await pause(rng.between(300, 3_000));
    process.kill(pids[at] ?? 0, "SIGKILL");
    const restarts = () => localnet.lines.map(({ text }) => text).filter((text) => text.includes('"type":"restarted"'));
    const line = await waitFor(() => restarts()[kill], `restart ${kill + 1}`, { timeoutMs: 90_000 });
    const { name, pid } = JSON.parse(line);
    expect(name).toBe(at === 0 ? "node" : `node-${at + 1}`);
    pids[at] = pid;
    const before = await heightAt(other.rpc);
    await waitFor(async () => (await heightAt(validator.rpc)) > before || undefined, "the validator at a new block");
  }
}

/** Sends between accounts, and requests to a deployment. */
class Traffic {
  readonly #sends: Sends;
  readonly #rpc: string;
  readonly #url: string;
  readonly #missed: string[] = [];
  #asking: Promise<void> | undefined;
  #isStopped = false;

  constructor(validators: readonly Validator[], url: string, rng: Rng) {
    const addresses = validators.map(({ rpc }) => rpc);
    this.#sends = new Sends({ addresses, rng, senders: SENDERS, turnMs: TURN_MS });
    this.#rpc = addresses[0] ?? "";
    this.#url = url;
  }

  async fund(home: string): Promise<void> {
    const client = new ChainClient(this.#rpc);
    const faucet = await keySigner(localnetKeyring(home), "faucet");
    const sends = this.#sends.keys.map(({ address }) => transfer(faucet.address, address, 1_000_000_000n));
    expect(await sendTx(client, faucet, sends, { gas: "auto" })).toMatchObject({ code: 0 });
    client.close();
  }

  start(): void {
    this.#sends.start();
    this.#asking = this.#ask();
  }

  async stop(): Promise<{ readonly acknowledged: readonly Acknowledged[]; readonly missed: readonly string[] }> {
    this.#isStopped = true;
    const acknowledged = await this.#sends.stop();
    await this.#asking;
    return { acknowledged, missed: this.#missed };
  }

  async #ask(): Promise<void> {
    for (let count = 1; !this.#isStopped; count++) {
      const page = await fetchPage(this.#url).catch((error: unknown) => String(error));
      if (!page.startsWith("200 ")) this.#missed.push(`request ${count}: ${page}`);
      await pause(PROBE_MS);
    }
  }
}
