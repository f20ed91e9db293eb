import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { QueryClient } from "../../client/index.ts";
import { createCertificate, type NewCertificate } from "../../crypto/index.ts";
import { loadSdl, type Manifest, manifestHash } from "../../sdl/index.ts";
import {
  coin,
  MIN_DEPOSIT,
  price as priceOf,
  type TestChain,
  type TestKey,
  TestMarket,
  testChain,
} from "../../testing/index.ts";
import { parseDec, parseDecCoin, toHex, toUtf8 } from "../../util/index.ts";
import { Query as CertQuery, MsgCreateCertificateSchema } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import type { Order } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { MsgCreateBidSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { type Any, type LeaseKey, type OrderKey, packAny } from "../../wire/index.ts";
import type { BidPolicy } from "./bids.ts";
import { chainMarket } from "./chain-market.ts";
import type { Clock } from "./clock.ts";
import { closeAndSettle, closeJson, closeText } from "./close.ts";
import { deployErrors } from "./errors.ts";
import type { Gate, LeaseState, ManifestOutcome } from "./gate.ts";
import { Journal } from "./journal.ts";
import type { Market, ProviderRecord } from "./market.ts";
import { pickDeployment } from "./pick.ts";
import type { Probe } from "./probe.ts";
import type { DeployReporter } from "./progress.ts";
import { listDeployments, psTable } from "./ps.ts";
import { addressLines, type DeployResult } from "./result.ts";
import { runDeploy } from "./run.ts";
import type { DeployParts, DeployRequest } from "./session.ts";
import { runUpdate, type UpdateRequest } from "./update.ts";

const BLOCK_MS = 6000;

interface FileOptions {
  readonly price?: number;
  readonly env?: string;
  readonly count?: number;
  readonly groups?: readonly string[];
}

/** A deployment file of one web service in each group. */
function sdlText({ price = 1000, env = "A=1", count = 1, groups = ["anywhere"] }: FileOptions = {}): string {
  const pricing = groups.map((name) => `    ${name}: { pricing: { small: { denom: utoken, amount: ${price} } } }`);
  const places = groups.map((name) => `    ${name}: { profile: small, count: ${count} }`);
  return [
    'version: "2.0"',
    "services:",
    `  web: { image: "localhost/sample:1", env: ["${env}"], expose: [{ port: 80, as: 8080, to: [{ global: true }] }] }`,
    "profiles:",
    "  compute:",
    "    small: { resources: { cpu: { units: 0.1 }, memory: { size: 32Mi }, storage: { size: 64Mi } } }",
    "  placement:",
    ...pricing,
    "deployment:",
    "  web:",
    ...places,
    "",
  ].join("\n");
}

/** Time that passes only when everybody sleeps; the earliest sleeper is woken first. */
class VirtualClock implements Clock {
  #now = 0;
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  #ticking = false;

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(deployErrors.interrupted());
    return new Promise((resolve, reject) => {
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(deployErrors.interrupted());
      });
      this.#tick();
    });
  }

  #tick(): void {
    if (this.#ticking) return;
    this.#ticking = true;
    setImmediate(() => {
      this.#ticking = false;
      const [first] = this.#sleepers.sort((a, b) => a.at - b.at);
      if (first === undefined) return;
      this.#sleepers = this.#sleepers.filter((each) => each !== first);
      this.#now = Math.max(this.#now, first.at);
      first.wake();
      if (this.#sleepers.length > 0) this.#tick();
    });
  }
}

interface ProviderPlan {
  readonly price: string;
  /** Blocks after the order in which it bids; never when left out. */
  readonly delay?: number;
  readonly refusal?: string;
}

function bidMessage(order: OrderKey, from: TestKey, price: string): Any {
  const deposit = coin(MIN_DEPOSIT);
  return packAny(MsgCreateBidSchema, { order, provider: from.address, price: priceOf(price), deposit });
}

class Killed extends Error {}

/** A real chain in memory with providers that bid, their gateways, and a way to stop everything at any call. */
class World {
  readonly chain: TestChain;
  readonly market: TestMarket;
  readonly clock = new VirtualClock();
  readonly home = mkdtempSync(join(tmpdir(), "svc-deploy-"));
  readonly file = join(this.home, "web.yaml");
  readonly notes: string[] = [];
  readonly steps: string[] = [];
  /** Manifests taken, by deployment and provider. */
  readonly manifests = new Map<string, Manifest[]>();
  readonly plans = new Map<string, ProviderPlan>();
  /** The certificate in the tenant's home. */
  hasCertificate = false;
  probes = 0;
  calls = 0;
  /** The call at which the process is killed, before or after it has its effect. */
  kill: { readonly call: number; readonly when: "before" | "after" } | undefined;
  outcome: ManifestOutcome = { kind: "taken" };

  constructor(plans: Readonly<Record<string, ProviderPlan>> = { p1: { price: "10", delay: 1 } }) {
    this.chain = testChain({ accounts: ["alice", "p1", "p2"] });
    this.market = new TestMarket(this.chain);
    this.market.register(...Object.keys(plans).map((name) => this.key(name)));
    for (const [name, plan] of Object.entries(plans)) this.plans.set(name, plan);
    this.write();
  }

  key(name: string): TestKey {
    return this.chain.key(name);
  }

  get tenant(): string {
    return this.key("alice").address;
  }

  write(options: FileOptions = {}): void {
    writeFileSync(this.file, sdlText(options));
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  /** A block, with the bids that are due in it. */
  block(): bigint {
    const next = this.chain.height + 1n;
    const txs = [...this.plans].flatMap(([name, plan]) => {
      const from = this.key(name);
      const { delay } = plan;
      if (delay === undefined) return [];
      const due = this.orders().filter(({ createdAt }) => next >= createdAt + BigInt(delay));
      const fresh = due.flatMap(({ orderId }) => orderId ?? []).filter((order) => !this.hasBid(order, from));
      const messages = fresh.map((order) => bidMessage(order, from, plan.price));
      return messages.length === 0 ? [] : [this.chain.sign(messages, { from })];
    });
    this.chain.block(txs);
    return this.chain.height;
  }

  hasBid(order: OrderKey, { address }: TestKey): boolean {
    const { owner, dseq, gseq, oseq } = order;
    const filters = { owner, dseq, gseq, oseq, provider: address };
    return this.chain.query(MarketQuery.method.bids, { filters }).bids.length > 0;
  }

  /** Open orders of the tenant. */
  orders(): readonly Order[] {
    const filters = { owner: this.tenant, state: "open" };
    return this.chain.query(MarketQuery.method.orders, { filters }).orders;
  }

  /** Every deployment that was ever made. */
  async all(): Promise<readonly bigint[]> {
    return (await this.tenantMarket().deployments("")).map(({ dseq }) => dseq);
  }

  async active(): Promise<readonly bigint[]> {
    return (await this.tenantMarket().deployments("active")).map(({ dseq }) => dseq);
  }

  tenantMarket(): Market {
    const { chain, clock } = this;
    const query: Pick<QueryClient, "call"> = {
      call: async <M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>) =>
        chain.query(method, request),
    };
    return chainMarket(query, {
      owner: this.tenant,
      chainId: chain.chainId,
      height: async () => chain.height,
      nextBlock: async (after, signal) => {
        if (chain.height > after) return chain.height;
        await clock.sleep(BLOCK_MS, signal);
        return this.block();
      },
      blockSeconds: async () => BLOCK_MS / 1000,
      send: async (messages) => {
        const { height } = chain.mustSend(messages, { from: this.key("alice") });
        return { hash: "AB", height };
      },
    });
  }

  gate({ address }: ProviderRecord): Gate {
    const name = [...this.chain.keys.values()].find((key) => key.address === address)?.name ?? "";
    return {
      sendManifest: async (dseq, manifest) => {
        if (this.outcome.kind !== "taken") return this.outcome;
        const key = `${dseq}/${address}`;
        this.manifests.set(key, [...(this.manifests.get(key) ?? []), manifest]);
        return { kind: "taken" };
      },
      status: async (lease) => this.status(lease),
      refusal: async () => this.plans.get(name)?.refusal,
    };
  }

  status(lease: LeaseKey): LeaseState | undefined {
    const manifest = this.manifests.get(`${lease.dseq}/${lease.provider}`)?.at(-1);
    const [service] = manifest?.[lease.gseq - 1]?.services ?? [];
    if (manifest === undefined || service === undefined) return undefined;
    const { name, count } = service;
    const urls = [`http://${name}-${lease.gseq}.example:8080/`];
    return {
      version: toHex(manifestHash(manifest)),
      services: [{ name, available: count, total: count, updated: count, urls }],
      ports: [{ service: name, host: "localhost", port: 30_001, containerPort: 80, proto: "TCP" }],
    };
  }

  readonly probe: Probe = {
    http: async () => {
      this.probes += 1;
      // The ingress knows the host a moment later than the provider says so.
      return { status: this.probes === 1 ? 503 : 200, start: "", isPlain: true };
    },
    tcp: async () => {},
  };

  async publishCertificate() {
    const filter = { owner: this.tenant, state: "valid" };
    const { certificates } = this.chain.query(CertQuery.method.certificates, { filter });
    if (this.hasCertificate && certificates.length > 0) return undefined;
    this.hasCertificate = true;
    const cert = new Uint8Array(toUtf8(certificate.certificate));
    const pubkey = new Uint8Array(toUtf8(certificate.publicKey));
    return packAny(MsgCreateCertificateSchema, { owner: this.tenant, cert, pubkey });
  }

  parts(): DeployParts {
    return {
      market: this.#killable(this.tenantMarket()),
      gate: (provider) => this.#killable(this.gate(provider)),
      journal: this.#killable(new Journal(this.home)),
      probe: this.#killable(this.probe),
      clock: this.clock,
      publishCertificate: () => this.#call(() => this.publishCertificate()),
    };
  }

  request(options: Partial<DeployRequest> & { readonly policy?: BidPolicy } = {}): DeployRequest {
    return {
      file: this.file,
      sdl: loadSdl(readFileSync(this.file, "utf8"), { file: this.file }),
      policy: { choice: { kind: "cheapest" } },
      bidWindow: 2n,
      timeoutMs: 120_000,
      fresh: false,
      signal: new AbortController().signal,
      ...options,
    };
  }

  readonly reporter: DeployReporter = {
    step: ({ name }, text) => void this.steps.push(`${name}: ${text}`),
    waiting: () => {},
    note: (text) => void this.notes.push(text),
  };

  deploy(options: Partial<DeployRequest> = {}): Promise<DeployResult> {
    return runDeploy(this.parts(), this.request(options), this.reporter);
  }

  /** The object with every method a place where the process may be killed. */
  #killable<T extends object>(object: T): T {
    return new Proxy(object, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => this.#call(() => value.apply(target, args), !(target instanceof Journal));
      },
    });
  }

  #call<T>(work: () => T, isAsync = true): T {
    this.calls += 1;
    const { call = 0, when } = this.kill ?? {};
    if (this.calls < call || this.kill === undefined) return work();
    if (this.calls === call && when === "after") work();
    this.#die();
    if (!isAsync) throw new Killed();
    // A killed process hears of nothing any more.
    return new Promise(() => {}) as T;
  }

  /** Runs `deploy` until it is killed. */
  async deployUntilKilled(): Promise<"killed" | "done"> {
    const killed = new Promise<"killed">((resolve) => {
      this.#die = () => resolve("killed");
    });
    return Promise.race([killed, this.deploy().then(() => "done" as const)]);
  }

  #die: () => void = () => {};
}

let certificate: NewCertificate;
let world: World;
const worlds: World[] = [];

function open(plans?: Readonly<Record<string, ProviderPlan>>): World {
  world = new World(plans);
  worlds.push(world);
  return world;
}

beforeAll(async () => {
  const address = testChain({ accounts: ["alice"] }).key("alice").address;
  const times = { notBefore: Date.UTC(2020, 0, 1), notAfter: Date.UTC(2090, 0, 1) };
  certificate = await createCertificate({ address, serial: 1n, hosts: [], ...times }, "test");
});

afterEach(() => {
  for (const each of worlds.splice(0)) each.close();
});

const never = new AbortController().signal;

describe("a deployment", () => {
  test("from the file to an address", async () => {
    const { file } = open();
    const result = await world.deploy();
    const [dseq] = await world.active();
    expect(result).toEqual({
      dseq: `${dseq}`,
      owner: world.tenant,
      groups: [{ gseq: 1, name: "anywhere", state: "open" }],
      leases: [
        {
          gseq: 1,
          oseq: 1,
          provider: world.key("p1").address,
          host: "provider.test:8443",
          price: { denom: "utoken", amount: "10" },
        },
      ],
      services: [
        {
          name: "web",
          gseq: 1,
          provider: world.key("p1").address,
          available: 1,
          total: 1,
          uris: ["http://web-1.example:8080/"],
        },
      ],
      uris: ["http://web-1.example:8080/"],
      ports: [{ service: "web", host: "localhost", port: 30_001, external_port: 8080, proto: "TCP" }],
      steps: result.steps,
    });
    const names = ["certificate", "order", "bid", "lease", "manifest", "ready", "first-200"];
    expect(result.steps.map(({ name }) => name)).toEqual(names);
    expect(addressLines(result)).toBe("http://web-1.example:8080/\ntcp://localhost:30001\n");
    expect(world.notes.join("")).toContain("PER MONTH");
    expect(world.steps[1]).toContain("deposit 5000000utoken, at most 1000utoken per block");
    expect(statSync(join(world.home, "deployments", `${dseq}.json`)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(world.home, "deployments", `${dseq}.json`), "utf8")).toContain(file);
  });

  test("again is the same deployment, --new is another one", async () => {
    open();
    const first = await world.deploy();
    const again = await world.deploy();
    expect(again.dseq).toBe(first.dseq);
    expect(world.notes.join("")).toContain("is there already");
    expect([...world.manifests.values()].map((sent) => sent.length)).toEqual([1]);
    const second = await world.deploy({ fresh: true });
    expect(second.dseq).not.toBe(first.dseq);
    expect(await world.active()).toHaveLength(2);
  });

  test("groups are leased in one transaction, each at its best price", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "9.5", delay: 1 } });
    world.write({ groups: ["east", "west"] });
    const { leases } = await world.deploy();
    const { address } = world.key("p2");
    expect(leases.map(({ gseq, provider, price }) => [gseq, provider, price.amount])).toEqual([
      [1, address, "9.5"],
      [2, address, "9.5"],
    ]);
  });

  test("the cheaper bid wins when it comes within the window, and everybody's bid ends the wait", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "5", delay: 2 } });
    const started = world.chain.height;
    const { leases } = await world.deploy();
    expect(leases[0]?.provider).toBe(world.key("p2").address);
    // The order, two blocks of bids, the lease.
    expect(world.chain.height - started).toBe(4n);
  });

  test("a bid that comes too late does not count", async () => {
    open({ p1: { price: "10", delay: 1 }, p2: { price: "5", delay: 5 } });
    const { leases } = await world.deploy({ bidWindow: 2n });
    expect(leases[0]?.provider).toBe(world.key("p1").address);
  });

  test("a named provider is waited for and taken at once", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 6 } });
    const { address } = world.key("p2");
    const { leases } = await world.deploy({ policy: { choice: { kind: "provider", address } } });
    expect(leases[0]?.provider).toBe(address);
  });

  test("the person at the terminal chooses", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 1 } });
    const asked: string[] = [];
    const choose: NonNullable<NonNullable<DeployRequest["questions"]>["choose"]> = async (group, offers) => {
      asked.push(...offers.map(({ bid }) => `${group} ${bid.price.amount / parseDec("1")}`));
      const last = offers.at(-1);
      if (last === undefined) throw new Error("nothing to choose from");
      return last.bid;
    };
    const { leases } = await world.deploy({ policy: { choice: { kind: "ask" } }, questions: { choose } });
    expect(asked).toEqual(["anywhere 1", "anywhere 10"]);
    expect(leases[0]?.price.amount).toBe("10");
  });

  test("nothing is sent when the user does not confirm", async () => {
    open();
    const questions = { confirm: async () => false };
    await expect(world.deploy({ questions })).rejects.toThrow("nothing was sent: cancelled");
    expect(await world.all()).toEqual([]);
  });

  test("a bid that is withdrawn meanwhile is replaced by the next one", async () => {
    open({ p1: { price: "1", delay: 1 }, p2: { price: "10", delay: 1 } });
    const choose = async (_: string, offers: readonly { readonly bid: { readonly id: LeaseKey } }[]) => {
      const [first] = offers;
      if (first === undefined) throw new Error("nothing to choose from");
      if (first.bid.id.provider === world.key("p1").address) world.market.closeBid(world.key("p1"), first.bid.id);
      return first.bid as never;
    };
    const { leases } = await world.deploy({ policy: { choice: { kind: "ask" } }, questions: { choose } });
    expect(leases[0]?.provider).toBe(world.key("p2").address);
    expect(world.notes.join("")).toContain("a chosen bid is gone");
  });

  test("the deposit covers the first blocks at the highest price", async () => {
    open();
    world.write({ price: 90_000 });
    await world.deploy();
    expect(world.steps[1]).toContain("deposit 9000000utoken");
  });
});

describe("what can go wrong", () => {
  test("nobody bids: every provider's reason, and the remedy", async () => {
    const refusal = "our price 12utoken per block is above the order's 10utoken";
    open({ p1: { price: "12", refusal }, p2: { price: "1" } });
    await expect(world.deploy({ timeoutMs: 60_000 })).rejects.toMatchObject({
      codespace: "deploy",
      code: 1,
      message: "waited 60 s, nobody has bid: no bid to take",
      hint: expect.stringContaining("svc deploy close --dseq"),
    });
    const told = world.notes.filter((note) => note.includes("nobody has bid"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(`${world.key("p1").address} (provider.test:8443): ${refusal}\n    -> raise the amount`);
    expect(told[0]).toContain("it has said nothing about the order yet");
  });

  test("no provider at all", async () => {
    open({});
    await expect(world.deploy({ timeoutMs: 30_000 })).rejects.toThrow("no bid to take");
    expect(world.notes.join("")).toContain("no provider is registered");
  });

  test("all bids are above the limit", async () => {
    open();
    const policy: BidPolicy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("9.5utoken") };
    await expect(world.deploy({ policy, timeoutMs: 30_000 })).rejects.toThrow(
      "waited 30 s, there is one bid, the cheapest at 10utoken per block, above --max-price 9.5utoken",
    );
  });

  test("after a file without bids was changed, its old order is closed with the new one", async () => {
    open({ p1: { price: "10" } });
    await expect(world.deploy({ timeoutMs: 30_000 })).rejects.toThrow("nobody has bid");
    const [old] = await world.active();
    world.write({ price: 2000 });
    world.plans.set("p1", { price: "10", delay: 1 });
    const result = await world.deploy();
    expect(await world.active()).toEqual([BigInt(result.dseq)]);
    expect(world.notes.join("")).toContain(`deployment ${old}, made from an earlier version of the file, is closed`);
  });

  test("a file that changed under a running deployment is not deployed twice", async () => {
    open();
    const { dseq } = await world.deploy();
    world.write({ env: "A=2" });
    await expect(world.deploy()).rejects.toMatchObject({
      message: `deployment ${dseq} of ${world.file} is active: the deployment was made from another version of the file`,
      hint: expect.stringContaining(`svc deploy update ${world.file} --dseq ${dseq}`),
    });
    expect(await world.active()).toHaveLength(1);
  });

  test("too little money is said before anything is sent", async () => {
    open();
    const deposit = { denom: "utoken", amount: 10n ** 15n };
    await expect(world.deploy({ deposit })).rejects.toThrow("the deposit is 1000000000000000utoken: not enough funds");
    expect(await world.all()).toEqual([]);
  });

  test("a manifest that the provider refuses", async () => {
    open();
    world.outcome = { kind: "refused", reason: "the image is not allowed here" };
    await expect(world.deploy()).rejects.toThrow("the image is not allowed here: a provider did not take the manifest");
    world.outcome = { kind: "taken" };
    await world.deploy();
    expect(await world.all()).toHaveLength(1);
  });

  test("a lease that the provider ends while the services start", async () => {
    open();
    world.status = () => undefined;
    const running = world.deploy();
    const closing = (async () => {
      while (world.manifests.size === 0) await world.clock.sleep(1000, never);
      const [dseq = 0n] = await world.active();
      world.market.closeBid(world.key("p1"), { owner: world.tenant, dseq, gseq: 1, oseq: 1 }, 10_000);
    })();
    await expect(running).rejects.toThrow('gave the reason "unstable": the lease has ended');
    await closing;
    Reflect.deleteProperty(world, "status");
    // The group is paused now: the next run opens a new order.
    const again = await world.deploy();
    expect(again.leases[0]?.oseq).toBe(2);
    expect(await world.all()).toHaveLength(1);
  });

  test("an interruption says so and the next run goes on", async () => {
    open({ p1: { price: "10" } });
    const stop = new AbortController();
    const running = world.deploy({ signal: stop.signal });
    const stopping = world.clock.sleep(20_000, never).then(() => stop.abort());
    await expect(running).rejects.toMatchObject({ codespace: "deploy", code: deployErrors.interrupted.code });
    await stopping;
    world.plans.set("p1", { price: "10", delay: 1 });
    await world.deploy();
    expect(await world.all()).toHaveLength(1);
    expect(world.notes.join("")).toContain("was begun before and is continued");
  });
});

describe("kill -9 at every call", () => {
  /** Calls of a run that nobody kills. */
  async function countCalls(): Promise<number> {
    open();
    await world.deploy();
    return world.calls;
  }

  for (const when of ["before", "after"] as const) {
    test(`${when} its effect: one deployment, one lease, one manifest at the end`, async () => {
      const calls = await countCalls();
      expect(calls).toBeGreaterThan(20);
      for (let call = 1; call <= calls; call++) {
        open();
        world.kill = { call, when };
        expect(await world.deployUntilKilled(), `call ${call}`).toBe("killed");
        world.kill = undefined;
        const { leases } = await world.deploy();
        expect(await world.all(), `call ${call}`).toHaveLength(1);
        expect(leases).toHaveLength(1);
        expect(
          [...world.manifests.values()].map((sent) => sent.length),
          `call ${call}`,
        ).toEqual([1]);
        world.close();
      }
    });
  }
});

describe("short forms", () => {
  const update = (options: Partial<UpdateRequest> = {}) =>
    runUpdate(world.parts(), { ...world.request(), ...options }, world.reporter);

  test("an update changes the hash and sends the manifest", async () => {
    open();
    const { dseq } = await world.deploy();
    world.write({ env: "A=2" });
    const result = await update();
    expect(result.dseq).toBe(dseq);
    expect([...world.manifests.values()][0]).toHaveLength(2);
    // The updated file is the deployment's file from now on.
    expect((await world.deploy()).dseq).toBe(dseq);
    await update();
    expect(world.notes.join("")).toContain("has this manifest already");
  });

  test("an update that changes groups names what changed, and changes nothing", async () => {
    open();
    const { dseq } = await world.deploy();
    world.write({ count: 2 });
    await expect(update()).rejects.toMatchObject({
      message: `deployment ${dseq}: group anywhere: web count was 1 and is 2: groups cannot be changed`,
      hint: expect.stringContaining(`svc deploy close --dseq ${dseq}`),
    });
    expect([...world.manifests.values()][0]).toHaveLength(1);
  });

  test("closing tells who was paid what and what came back", async () => {
    open();
    await world.deploy();
    world.chain.nextBlock(9);
    const before = await pickDeployment(world.parts(), undefined);
    const held = world.chain.balance(world.tenant);
    const earned = world.chain.balance(world.key("p1").address);
    const result = await closeAndSettle({ market: world.tenantMarket(), journal: new Journal(world.home) }, before);
    const paid = world.chain.balance(world.key("p1").address) - earned;
    const returned = world.chain.balance(world.tenant) - held;
    expect(paid).toBeGreaterThan(0n);
    expect(paid + returned).toBe(MIN_DEPOSIT);
    expect(result).toMatchObject({
      paid: [{ provider: world.key("p1").address, amount: { denom: "utoken", amount: paid } }],
      returned: { denom: "utoken", amount: returned },
    });
    expect(closeText(result)).toContain(`returned  ${returned}utoken\n`);
    expect(closeJson(result)).toMatchObject({ returned: { denom: "utoken", amount: `${returned}` } });
    expect(new Journal(world.home).entries(world.tenant, world.chain.chainId)).toEqual([]);
    await expect(pickDeployment(world.parts(), before.dseq)).rejects.toThrow("the deployment is closed");
    await expect(pickDeployment(world.parts(), undefined)).rejects.toThrow("has no active deployment");
  });

  test("one of several deployments has to be named", async () => {
    open();
    const first = await world.deploy();
    const second = await world.deploy({ fresh: true });
    await expect(pickDeployment(world.parts(), undefined)).rejects.toMatchObject({
      message: `${first.dseq} (web.yaml), ${second.dseq} (web.yaml): several deployments are active`,
      hint: "say which one with --dseq",
    });
    expect((await pickDeployment(world.parts(), BigInt(second.dseq))).dseq).toBe(BigInt(second.dseq));
    await expect(pickDeployment(world.parts(), 999n)).rejects.toThrow("has no deployment 999");
  });

  test("the list shows the balance of now and when it ends", async () => {
    open();
    await world.deploy();
    const leasedAt = world.chain.height;
    world.chain.nextBlock(100);
    const { market, gate } = world.parts();
    const now = Date.UTC(2025, 5, 1);
    const [line] = await listDeployments({ market, gate, now: () => now });
    // Ten a block since the block of the lease.
    const spent = 10n * (world.chain.height - leasedAt);
    expect(line).toMatchObject({
      state: "active",
      services: [{ name: "web", available: 1, total: 1 }],
      uris: ["http://web-1.example:8080/"],
      ports: ["tcp://localhost:30001"],
      price: { denom: "utoken", amount: "10" },
      balance: { denom: "utoken", amount: `${MIN_DEPOSIT - spent}` },
      problems: [],
    });
    const blocks = BigInt(line?.blocks_left ?? "0");
    expect(blocks).toBe((MIN_DEPOSIT - spent) / 10n);
    expect(line?.until).toBe(new Date(now + Number(blocks) * BLOCK_MS).toISOString().replace(".000Z", "Z"));
    expect(psTable(line === undefined ? [] : [line])).toContain("web 1/1");
  });
});
