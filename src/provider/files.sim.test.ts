import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { untilOk } from "../../test/support/conformance/index.ts";
import { onChain, sampleDeployment } from "../../test/support/provider/deployment.ts";
import { LeaseHarness, leaseOf, STRANGER, TENANT } from "../../test/support/provider/leases.ts";
import { edited, oddFile } from "../../test/support/provider/odd-files.ts";
import { type Rng, seedFrom } from "../../test/support/rng.ts";
import { sized } from "../../test/support/runs.ts";
import { decodeManifest, type LoadedSdl, loadSdl, manifestJson, SdlError } from "../sdl/index.ts";
import { SvcError, silentLogger } from "../util/index.ts";
import type { GroupSpec } from "../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatLeaseId, formatOrderId } from "../wire/index.ts";
import { groupNeeds, openInventory } from "./inventory/index.ts";
import { OrderService } from "./orders/index.ts";
import { parseScales, scalePricing } from "./pricing/index.ts";

const FILES = Number(process.env.SVC_TEST_FILES ?? sized(40, 2_000));
const LOOK_EVERY = 100;
const ROOT = resolve(import.meta.dirname, "../..");
const REAL = ["examples", "test/vectors/sdl"].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8")),
);

/** A provider with a tenant who only wants to be left alone, and another one with a printing press for files. */
class Besieged {
  readonly counts = { loaded: 0, priced: 0, deployed: 0 };
  readonly #world = new LeaseHarness();
  readonly #victim = leaseOf(1n, TENANT);
  readonly #inventory;
  readonly #orders: OrderService;
  #dseq = 1n;

  constructor() {
    const storage = [{ classes: "all" as const, bytes: 1n << 42n }];
    this.#inventory = openInventory(
      this.#world.folder,
      { overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 100 },
      silentLogger,
    );
    const gpus = [{ vendor: "nvidia", model: "a100", count: 4n }];
    this.#inventory.observe({ nodes: [{ name: "host", cpu: 64_000n, memory: 1n << 38n, storage, gpus }], storage: [] });
    this.#orders = new OrderService({
      provider: this.#victim.provider,
      chain: {
        openOrders: async () => ({ ids: [], isWhole: true }),
        order: async () => undefined,
        bid: async () => undefined,
        openBidPrices: async () => [],
        marketParams: async () => ({ orderMaxBids: 20, bidMinDeposits: [] }),
        offer: async () => ({
          attributes: [],
          signedBy: () => [],
          tenantAttributes: [],
          gpus: true,
          leasedIps: false,
          leastMemory: 6n << 20n,
        }),
        balance: async () => 1n << 60n,
      },
      inventory: this.#inventory,
      pricing: scalePricing(parseScales({ cpu: "0.01", memory: "0.001", storage: "0.0001", endpoint: "1", ip: "0" })),
      send: async () => 1n,
      log: silentLogger,
      deposit: { denom: "utoken", amount: 1n },
      fee: { denom: "utoken", amount: 1n },
      bidTimeoutMs: 1_000_000,
      retryMs: 1_000_000,
      onWon: () => {},
    });
  }

  async begin(): Promise<void> {
    const loaded = sampleDeployment({ hosts: ["victim.example.org"], nodePorts: [9000] });
    this.#world.chain.win(this.#victim, onChain(loaded));
    this.#world.service.leaseWon(this.#victim);
    await this.#world.service.manifestReceived(TENANT, 1n, loaded.manifest);
    await untilOk(this.#world.driver, this.#victim);
    await this.#world.pass(5_000);
    await this.expectCalm();
  }

  /** Nothing of the others is left, and the tenant's lease is as it was. */
  async expectCalm(): Promise<void> {
    const { service, driver, ingress, logs, closed } = this.#world;
    expect((await driver.adopt()).map(({ id }) => formatLeaseId(id))).toEqual([formatLeaseId(this.#victim)]);
    expect(service.records()).toHaveLength(1);
    const { services } = await service.status(this.#victim);
    expect(services).toMatchObject({ web: { available: 1, total: 1 } });
    expect(ingress.routes.hosts()).toContain("victim.example.org");
    expect(ingress.routes.hosts()).toHaveLength(2);
    expect(this.#inventory.all()).toEqual([]);
    expect(logs.filter(({ level }) => level === "E")).toEqual([]);
    expect(closed).toEqual([]);
    logs.length = 0;
  }

  /** A file from its text to a deployment that ends again. */
  async take(text: string, rng: Rng): Promise<void> {
    const loaded = refusedOr(() => loadSdl(text, { file: "odd.yaml" }));
    if (loaded === undefined) return;
    this.counts.loaded += 1;
    for (const spec of loaded.groups) await this.#order(spec);
    await this.#deploy(loaded, rng);
  }

  /** Handles an order of the group as the bid engine does. */
  async #order(spec: GroupSpec): Promise<void> {
    const answer = await this.#orders.screen(spec);
    if (typeof answer === "string") return;
    expect(answer.amount).toBeGreaterThan(0n);
    this.counts.priced += 1;
    const order = formatOrderId({ owner: STRANGER, dseq: this.#dseq, gseq: 1, oseq: 1 });
    this.#inventory.reserve(order, groupNeeds(spec));
    this.#inventory.release(order);
  }

  /** The manifest, now and then another one than the file's, for a lease that was won. */
  async #deploy(loaded: LoadedSdl, rng: Rng): Promise<void> {
    const { service, chain, driver } = this.#world;
    const dseq = ++this.#dseq;
    const record = onChain(loaded);
    const ids = loaded.groups.map((_, i) => ({ ...leaseOf(dseq, STRANGER), gseq: i + 1 }));
    for (const id of ids) chain.win(id, record);
    const json = manifestJson(loaded.manifest);
    const sent = refusedOr(() => decodeManifest(JSON.parse(rng.next() < 0.2 ? broken(json, rng) : json)));
    const isTaken = sent !== undefined && (await refused(service.manifestReceived(STRANGER, dseq, sent))) === undefined;
    if (isTaken) {
      this.counts.deployed += 1;
      await this.#world.pass(1);
      for (const { id } of await driver.adopt()) expect((await driver.status(id)).services).toBeDefined();
    }
    for (const id of ids) {
      chain.end(id);
      await service.leaseClosed(id, 9n);
    }
    await this.#world.pass(1);
    for (const id of ids) chain.forget(id, 9n);
  }

  close(): Promise<void> {
    this.#orders.stop();
    return this.#world.close();
  }
}

/** JSON with another value; the gateway refuses a text that is no longer JSON. */
function broken(json: string, rng: Rng): string {
  const values = [...json.matchAll(/"[^"]*"|\b\d+\b|true|false|null/g)];
  const value = values[rng.below(values.length)];
  const [index, found] = [value?.index ?? 0, value?.[0] ?? ""];
  const other =
    ["0", "-1", "null", '""', '"x"', "[]", "{}", "1e400", "99999999999999999999", "true"][rng.below(10)] ?? "0";
  const changed = json.slice(0, index) + other + json.slice(index + found.length);
  try {
    JSON.parse(changed);
    return changed;
  } catch {
    return json;
  }
}

function refusedOr<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    return expectRefusal(error);
  }
}

async function refused(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => {
      expectRefusal(error);
      return error;
    },
  );
}

/** A refusal has a code and a sentence; anything else is a fault of ours. */
function expectRefusal(error: unknown): undefined {
  if (error instanceof SdlError || error instanceof SvcError) return undefined;
  throw error;
}

test(`${FILES} odd deployment files crash neither the provider nor another tenant`, {
  timeout: 7_200_000,
}, async () => {
  const rng = seedFrom("SVC_TEST_SEED");
  const besieged = new Besieged();
  try {
    await besieged.begin();
    for (let i = 0; i < FILES; i++) {
      const real = REAL[rng.below(REAL.length)] ?? "";
      const text = rng.next() < 0.7 ? oddFile(rng) : edited(real, rng);
      try {
        await besieged.take(text, rng);
        if (i % LOOK_EVERY === LOOK_EVERY - 1) await besieged.expectCalm();
      } catch (error) {
        throw new Error(`file ${i} of seed ${rng.seed}: ${text.slice(0, 4_000)}`, { cause: error });
      }
    }
    await besieged.expectCalm();
  } finally {
    await besieged.close();
  }
  const { loaded, priced, deployed } = besieged.counts;
  process.stderr.write(`${FILES} files: ${loaded} loaded, ${priced} groups priced, ${deployed} deployed\n`);
  // A press that prints nothing usable would besiege nobody.
  expect(deployed).toBeGreaterThan(FILES / 20);
});
