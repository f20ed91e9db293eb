import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort } from "../../../test/support/ports.ts";
import {
  quietConfig,
  TestDaemon,
  type TestMarketplace,
  testMarketplace,
} from "../../../test/support/provider/daemon.ts";
import { damageFile } from "../../../test/support/provider/damage.ts";
import { sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { Rng } from "../../../test/support/rng.ts";
import { type TestNode, testNode } from "../../testing/index.ts";
import type { LeaseKey } from "../../wire/index.ts";
import { encodeJson } from "../durable.ts";
import { generatedHost } from "../hostnames/index.ts";

const FAULTS = Number(process.env.SVC_TEST_FAULTS ?? "8");
const LEASES = Number(process.env.SVC_TEST_LEASES ?? "4");
const PATIENCE = { timeout: 30_000, interval: 50 };
const AWAY_MS = 300;

/** A market with clients, and faults around its provider. */
class Chaos {
  readonly rng: Rng;
  readonly daemon: TestDaemon;
  readonly leases: LeaseKey[] = [];
  readonly wrong: string[] = [];
  readonly done = new Map<string, number>();
  readonly #port: number;
  readonly #stateDir: string;
  #free = 1n << 40n;
  #right = 0;
  /** Positive while a fault that may fail requests is under way. */
  #excused = 0;
  #going = true;

  constructor(market: TestMarketplace, { port, rng }: { readonly port: number; readonly rng: Rng }) {
    this.rng = rng;
    this.#port = port;
    this.#stateDir = mkdtempSync(join(tmpdir(), "svc-chaos-"));
    const config = quietConfig(this.#stateDir);
    this.daemon = new TestDaemon(market, {
      config: {
        ...config,
        ingress: { ...config.ingress, port },
        leastFreeDisk: 1n << 30n,
        inventoryPollMs: 200,
      },
      nodePorts: { first: 40_000, last: 40_001 },
      cores: LEASES * 2 + 8,
      freeDisk: () => this.#free,
    });
  }

  /** Deployments that run, each with a client that asks all the time. */
  async begin(): Promise<Promise<void>[]> {
    await this.daemon.start();
    for (let i = 0; i < LEASES; i++) this.leases.push(await this.#lease());
    return this.leases.map((id) => this.#ask(id));
  }

  async #lease(): Promise<LeaseKey> {
    const loaded = sampleDeployment();
    const id = await this.daemon.deploy(loaded);
    await vi
      .waitUntil(() => this.daemon.chain.bid(id), PATIENCE)
      .catch((error) => {
        const told = this.daemon.logs.slice(-40).map((entry) => encodeJson(entry));
        throw new Error(`no bid on ${id.dseq} after ${JSON.stringify([...this.done])}:\n${told.join("\n")}`, {
          cause: error,
        });
      });
    await this.daemon.lease(id);
    await vi.waitUntil(
      () =>
        this.daemon
          .gateway()
          .sendManifest(id.dseq, loaded.manifest)
          .then(
            () => true,
            () => false,
          ),
      PATIENCE,
    );
    await this.#served(id);
    return id;
  }

  async fault(): Promise<void> {
    const all = Object.entries(this.#faults);
    const [name, play] = all[this.rng.below(all.length)] ?? ["none", async () => {}];
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    await play();
    for (const id of this.leases) await this.#served(id);
  }

  /** Ends the clients; returns how many requests were answered correctly. */
  async end(clients: readonly Promise<void>[]): Promise<number> {
    this.#going = false;
    await Promise.all(clients);
    return this.#right;
  }

  async stop(): Promise<void> {
    await this.daemon.stop();
    rmSync(this.#stateDir, { recursive: true, force: true });
  }

  readonly #faults: Readonly<Record<string, () => Promise<void>>> = {
    "the daemon is away": () => this.#excuse(() => this.#whileDown(async () => {})),
    "files are lost or torn": () => this.#excuse(() => this.#whileDown(() => this.#damage())),
    "the cluster is away": () => this.#whileAway(async () => {}),
    "daemon and cluster are away together": () =>
      this.#excuse(() => this.#whileDown(() => this.#whileAway(async () => {}))),
    "a container dies": () =>
      this.#excuse(async () => {
        const id = this.leases[this.rng.below(this.leases.length)];
        if (id === undefined) return;
        this.daemon.cluster.crash(id, "web", 0);
        await this.#served(id);
      }),
    "the disk is full": async () => {
      this.#free = 0n;
      try {
        const id = await this.daemon.deploy(sampleDeployment());
        await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
        expect(await this.daemon.chain.bid(id)).toBeUndefined();
        await this.daemon.close(id);
      } finally {
        this.#free = 1n << 40n;
      }
    },
    "a lease ends and another begins": async () => {
      const at = this.rng.below(this.leases.length);
      const [ended] = this.leases.splice(at, 1);
      if (ended !== undefined) await this.daemon.close(ended);
      this.leases.push(await this.#lease());
    },
  };

  async #excuse(work: () => Promise<void>): Promise<void> {
    this.#excused++;
    try {
      await work();
      for (const id of this.leases) await this.#served(id);
    } finally {
      this.#excused--;
    }
  }

  async #whileDown(work: () => Promise<void>): Promise<void> {
    await this.daemon.halt();
    await work();
    await this.daemon.start();
  }

  async #whileAway(work: () => Promise<void>): Promise<void> {
    this.daemon.cluster.reachable = false;
    try {
      await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
      await work();
    } finally {
      this.daemon.cluster.reachable = true;
    }
  }

  async #damage(): Promise<void> {
    const paths = readdirSync(this.#stateDir, { recursive: true, encoding: "utf8" });
    const files = paths.map((name) => join(this.#stateDir, name)).filter((path) => statSync(path).isFile());
    for (const path of files.filter(() => this.rng.next() < 0.4)) damageFile(path, (count) => this.rng.below(count));
  }

  async #served(id: LeaseKey): Promise<void> {
    const answered = async () => ((await this.#status(id)) === "200" ? true : undefined);
    await vi.waitUntil(answered, PATIENCE);
  }

  async #ask(id: LeaseKey): Promise<void> {
    while (this.#going && this.leases.includes(id)) {
      const excused = this.#excused > 0;
      const status = await this.#status(id);
      if (status === "200") this.#right++;
      else if (!excused && this.#excused === 0 && this.leases.includes(id)) this.wrong.push(`${id.dseq}: ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #status(id: LeaseKey): Promise<string> {
    const headers = { host: generatedHost(id, "web", "localhost") };
    return new Promise((resolve) => {
      const asked = request({ host: "127.0.0.1", port: this.#port, headers, agent: false }, (response) => {
        response.resume().on("end", () => resolve(String(response.statusCode)));
      });
      asked.on("error", (error) => resolve(error.message)).end();
    });
  }
}

test("random faults lose no workload, double no bid and hold no deposit back", { timeout: 3_600_000 }, async () => {
  const rng = new Rng(Number(process.env.SVC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)));
  process.stderr.write(`seed ${rng.seed} (repeat with SVC_TEST_SEED=${rng.seed})\n`);
  const node: TestNode = await testNode({ blockIntervalMs: 200 });
  onTestFinished(() => node.stop());
  const market = await testMarketplace(node);
  const chaos = new Chaos(market, { port: await freePort(), rng });
  onTestFinished(() => chaos.stop());
  const { daemon } = chaos;
  const clients = await chaos.begin();
  for (let i = 0; i < FAULTS; i++) {
    await chaos.fault();
    expect(chaos.wrong, `seed ${rng.seed}, after ${JSON.stringify([...chaos.done])}`).toEqual([]);
  }
  // A workload for each lease that is in force, and none besides.
  const active = (await daemon.chain.activeLeases({ provider: market.provider.address })).map(({ id }) => id.dseq);
  expect(active.toSorted()).toEqual(chaos.leases.map(({ dseq }) => dseq).toSorted());
  const running = async () => (await daemon.driver.adopt()).map(({ id }) => id.dseq);
  await expect.poll(async () => (await running()).toSorted(), PATIENCE).toEqual(active.toSorted());
  const right = await chaos.end(clients);
  expect(right).toBeGreaterThan(0);
  // Each bid's deposit returns at its end: only active ones are open, and they end too.
  for (const id of chaos.leases) await daemon.close(id);
  await expect.poll(async () => await running(), PATIENCE).toEqual([]);
  expect(await daemon.chain.openBids(market.provider.address)).toEqual([]);
  expect(await daemon.deposits()).toBe(0n);
  process.stderr.write(
    `${FAULTS} faults under ${LEASES} leases, ${right} requests answered: ${JSON.stringify(Object.fromEntries(chaos.done))}\n`,
  );
});
