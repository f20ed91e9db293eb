import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { keySigner, localnetKeyring } from "../../src/cli/localnet/home.ts";
import { ChainClient, sendTx } from "../../src/client/index.ts";
import { type TestKey, testKey } from "../../src/testing/index.ts";
import { PORTS } from "../../src/util/index.ts";
import { commandLine, processesOn } from "../support/abandoned.ts";
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
  signerOf,
  svcOk,
  transfer,
  waitFor,
} from "../support/index.ts";
import { freeLocalnetOffset } from "../support/ports.ts";
import { buildPeer, Peer } from "./peers.ts";

/** One command that starts a network: four validators, two providers and a deployment; and validators that are killed. */

const COUNT = 4;
/** `npm run lab network` has a hundred: each validator in turn. */
const KILLS = Number(process.env.SVC_TEST_NETWORK_KILLS ?? 1);
/** Twenty sends a second, each to a node at random: an account has as long as this for its send. */
const SENDERS = 60;
const TURN_MS = 3_000;
const LONG_MS = 300_000 + KILLS * 60_000;
const PROBE_MS = 200;
const SENDING = { gas: "auto", wait: { timeoutMs: 10_000, pollMs: 100 } } as const;
const peer = await buildPeer("cometbft");

interface Validator {
  readonly rpc: string;
  readonly p2p: string;
  readonly pid: number;
  readonly home: string;
}

/** A send that a node has reported to be in a block. */
interface Acknowledged {
  readonly hash: string;
  readonly height: string;
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
    const flags = ["-o", "json", "--home", home, "--cluster-engine", engine.socket, "--block-interval", "300ms"];
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
    const height = await expectEqual(validators, last);
    for (const { rpc } of validators) expect(await notThere(rpc, acknowledged), rpc).toEqual([]);
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
    const before = await heightOf(other);
    await waitFor(async () => (await heightOf(validator)) > before || undefined, "the validator at a new block");
  }
}

/** Sends between accounts, and requests to a deployment. */
class Traffic {
  readonly #clients: readonly ChainClient[];
  readonly #keys = Array.from({ length: SENDERS }, (_, i) => testKey(`sender ${i}`));
  readonly #url: string;
  readonly #rng: Rng;
  readonly #acknowledged: Acknowledged[] = [];
  readonly #missed: string[] = [];
  #running: Promise<void>[] = [];
  #isStopped = false;

  constructor(validators: readonly Validator[], url: string, rng: Rng) {
    this.#clients = validators.map(({ rpc }) => new ChainClient(rpc));
    this.#url = url;
    this.#rng = rng;
  }

  async fund(home: string): Promise<void> {
    const [client] = this.#clients;
    const faucet = await keySigner(localnetKeyring(home), "faucet");
    if (client === undefined) throw new Error("four validators");
    const sends = this.#keys.map(({ address }) => transfer(faucet.address, address, 1_000_000_000n));
    expect(await sendTx(client, faucet, sends, { gas: "auto" })).toMatchObject({ code: 0 });
  }

  start(): void {
    const sending = this.#keys.map(async (key, i) => {
      await pause((i * TURN_MS) / SENDERS);
      await this.#send(key, this.#keys[i + 1] ?? key);
    });
    this.#running = [...sending, this.#ask()];
  }

  async stop(): Promise<{ readonly acknowledged: readonly Acknowledged[]; readonly missed: readonly string[] }> {
    this.#isStopped = true;
    await Promise.all(this.#running);
    for (const client of this.#clients) client.close();
    return { acknowledged: this.#acknowledged, missed: this.#missed };
  }

  /** A send to a node that is killed is not acknowledged, and may be lost. */
  async #send(key: TestKey, to: TestKey): Promise<void> {
    while (!this.#isStopped) {
      const client = this.#clients[this.#rng.below(this.#clients.length)];
      const turn = pause(TURN_MS);
      if (client !== undefined)
        await sendTx(client, signerOf(key), [transfer(key.address, to.address, 1n)], SENDING).then(
          ({ code, txhash, height }) => code === 0 && this.#acknowledged.push({ hash: txhash, height: `${height}` }),
          () => {},
        );
      await turn;
    }
  }

  async #ask(): Promise<void> {
    for (let count = 1; !this.#isStopped; count++) {
      const page = await fetchPage(this.#url).catch((error: unknown) => String(error));
      if (!page.startsWith("200 ")) this.#missed.push(`request ${count}: ${page}`);
      await pause(PROBE_MS);
    }
  }
}

async function answer(rpc: string, path: string): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await (await fetch(`${rpc}/${path}`)).text()).result;
}

async function heightOf({ rpc }: Validator): Promise<number> {
  try {
    return Number((await answer(rpc, "status")).sync_info.latest_block_height);
  } catch {
    return 0;
  }
}

/** Application hash and id of each block are the same on all nodes. Returns the height, which is above the least. */
async function expectEqual(validators: readonly Validator[], least: number): Promise<number> {
  const height = await waitFor(async () => {
    const all = Math.min(...(await Promise.all(validators.map(heightOf))));
    return all > least ? all : undefined;
  }, "the same height on all nodes");
  for (let at = 1; at <= height; at++) {
    const headers = await Promise.all(validators.map(({ rpc }) => answer(rpc, `commit?height=${at}`)));
    const [first, ...others] = headers.map(({ signed_header: { header, commit } }) => ({
      appHash: header.app_hash,
      hash: commit.block_id.hash,
    }));
    for (const other of others) expect(other, `block ${at}`).toEqual(first);
  }
  return height;
}

/** Acknowledged sends that a node does not have in their block. */
async function notThere(rpc: string, acknowledged: readonly Acknowledged[]): Promise<Acknowledged[]> {
  const lost: Acknowledged[] = [];
  for (const send of acknowledged) {
    const found = await answer(rpc, `tx?hash=0x${send.hash}`);
    if (found?.height !== send.height || found.tx_result.code !== 0) lost.push(send);
  }
  return lost;
}
