import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMethod, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import type { QueryClient } from "../../src/client/index.ts";
import type { ProviderRecord } from "../../src/client/market/types.ts";
import { createCertificate, type NewCertificate } from "../../src/crypto/index.ts";
import { loadSdlFile, type Manifest, manifestHash } from "../../src/sdl/index.ts";
import { chainMarket } from "../../src/tenant/chain/chain-market.ts";
import { FileJournal } from "../../src/tenant/node/journal.ts";
import type { DeployResult } from "../../src/tenant/result.ts";
import { runDeploy } from "../../src/tenant/run.ts";
import { sleep } from "../../src/tenant/session/clock.ts";
import type { LeaseState, ManifestOutcome, TenantGateway } from "../../src/tenant/session/gateway.ts";
import type { Market } from "../../src/tenant/session/market.ts";
import type { BidPolicy } from "../../src/tenant/session/policy.ts";
import type { Probe } from "../../src/tenant/session/probe.ts";
import type { DeployReporter, Note, Wait } from "../../src/tenant/session/progress.ts";
import type { DeployParts, DeployRequest } from "../../src/tenant/session/session.ts";
import { type TestChain, type TestKey, testChain, testKey } from "../../src/testing/index.ts";
import { type Clock, type IntCoin, toHex, toUtf8 } from "../../src/util/index.ts";
import { Query as CertQuery, MsgCreateCertificateSchema } from "../../src/wire/gen/svc/cert/v1beta1/cert_pb.js";
import type { Order } from "../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../src/wire/gen/svc/market/v1beta1/query_pb.js";
import { MsgCreateBidSchema } from "../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { type Any, type LeaseKey, type OrderKey, packAny } from "../../src/wire/index.ts";
import { coin, MIN_DEPOSIT, price as priceOf, TestMarket } from "../support/chain/index.ts";

export const BLOCK_MS = 6000;

export interface FileOptions {
  readonly price?: number;
  readonly env?: string;
  readonly count?: number;
  readonly groups?: readonly string[];
  /** Host name of the service. */
  readonly host?: string;
}

/** A deployment file of one web service in each group. */
function sdlText({ price = 1000, env = "A=1", count = 1, groups = ["anywhere"], host }: FileOptions = {}): string {
  const accept = host === undefined ? "" : `accept: ["${host}"], `;
  const pricing = groups.map((name) => `    ${name}: { pricing: { small: { denom: utoken, amount: ${price} } } }`);
  const places = groups.map((name) => `    ${name}: { profile: small, count: ${count} }`);
  return [
    'version: "2.0"',
    "services:",
    `  web: { image: "localhost/sample:1", env: ["${env}"], expose: [{ port: 80, as: ${host === undefined ? 8080 : 80}, ${accept}to: [{ global: true }] }] }`,
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
export class VirtualClock implements Clock {
  #now = 0;
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  #ticking = false;

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, task: () => void): () => void {
    const sleeper = { at: this.#now + milliseconds, wake: task };
    this.#sleepers.push(sleeper);
    this.#tick();
    return () => {
      this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
    };
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

export interface ProviderPlan {
  readonly price: string;
  /** Blocks after the order in which it bids; never when left out. */
  readonly delay?: number;
  readonly refusal?: string;
  /** Why its gateway cannot be used. */
  readonly away?: string;
  /** How often its gateway cannot be used; always unless given. */
  readonly awayTimes?: number;
  /** A host name of another tenant. */
  readonly taken?: string;
  /** It will not bid later either. */
  readonly isFinal?: boolean;
  /** The remedy for the refusal that tenants read. */
  readonly remedy?: string;
}

function bidMessage(order: OrderKey, from: TestKey, price: string): Any {
  const deposit = coin(MIN_DEPOSIT);
  return packAny(MsgCreateBidSchema, { order, provider: from.address, price: priceOf(price), deposit });
}

export class Killed extends Error {}

/** A real chain in memory with providers that bid, their gateways, and a way to stop everything at any call. */
export class DeployFixture {
  readonly chain: TestChain;
  readonly market: TestMarket;
  readonly clock = new VirtualClock();
  readonly home = mkdtempSync(join(tmpdir(), "svc-deploy-"));
  readonly file = join(this.home, "web.yaml");
  readonly notes: string[] = [];
  /** The same as values, and the awaited events. */
  readonly told: Note[] = [];
  readonly waits: Wait[] = [];
  readonly steps: string[] = [];
  /** Manifests taken, by deployment and provider. */
  readonly manifests = new Map<string, Manifest[]>();
  readonly plans = new Map<string, ProviderPlan>();
  /** The certificate in the tenant's home. */
  hasCertificate = false;
  /** Fees of each transaction that the tenant expects. */
  fees: readonly IntCoin[] = [];
  probes = 0;
  /** Times that a gateway was asked whether it answers. */
  reaches = 0;
  calls = 0;
  /** The call at which the process is killed, before or after it has its effect. */
  kill: { readonly call: number; readonly when: "before" | "after" } | undefined;
  outcome: ManifestOutcome = { kind: "taken" };
  /** Changes answers of the node that are not proven; all are believed without. */
  lie: (<M extends DescMethod>(method: M, answer: MessageShape<M["output"]>) => void) | undefined;

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
    const lying: Pick<QueryClient, "call"> = {
      call: async (method, request) => {
        const answer = await query.call(method, request);
        this.lie?.(method, answer);
        return answer;
      },
    };
    const ends = {
      owner: this.tenant,
      chainId: chain.chainId,
      height: async () => chain.height,
      nextBlock: async (after: bigint, signal: AbortSignal) => {
        if (chain.height > after) return chain.height;
        await sleep(clock, BLOCK_MS, signal);
        return this.block();
      },
      blockSeconds: async () => BLOCK_MS / 1000,
      fee: () => this.fees,
      send: async (messages: readonly Any[]) => {
        const { height } = chain.mustSend(messages, { from: this.key("alice") });
        return { hash: "AB", height };
      },
    };
    return this.lie === undefined ? chainMarket(query, ends) : chainMarket(lying, ends, query);
  }

  openGateway({ address }: ProviderRecord): TenantGateway {
    const name = [...this.chain.keys.values()].find((key) => key.address === address)?.name ?? "";
    return {
      reach: async () => {
        const { away, awayTimes = Number.POSITIVE_INFINITY } = this.plans.get(name) ?? {};
        this.reaches += 1;
        if (away !== undefined && this.reaches <= awayTimes) throw new Error(away);
      },
      sendManifest: async (dseq, manifest) => {
        if (this.outcome.kind !== "taken") return this.outcome;
        const key = `${dseq}/${address}`;
        this.manifests.set(key, [...(this.manifests.get(key) ?? []), manifest]);
        return { kind: "taken" };
      },
      status: async (lease) => this.status(lease),
      hostsRefusal: async (_, hosts) => {
        const { taken } = this.plans.get(name) ?? {};
        if (taken === undefined || !hosts.includes(taken)) return undefined;
        return { reason: `"${taken}": hostname not available here`, remedy: "use another host name" };
      },
      refusal: async () => {
        const { refusal: reason, isFinal = false, remedy } = this.plans.get(name) ?? {};
        return reason === undefined ? undefined : { reason, isFinal, ...(remedy === undefined ? {} : { remedy }) };
      },
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
    const made = await tenantCertificate();
    const cert = new Uint8Array(toUtf8(made.certificate));
    const pubkey = new Uint8Array(toUtf8(made.publicKey));
    return packAny(MsgCreateCertificateSchema, { owner: this.tenant, cert, pubkey });
  }

  parts(): DeployParts {
    return {
      market: this.#killable(this.tenantMarket()),
      openGateway: (provider) => this.#killable(this.openGateway(provider)),
      journal: this.#killable(new FileJournal(this.home)),
      probe: this.#killable(this.probe),
      clock: this.clock,
      publishCertificate: () => this.#call(() => this.publishCertificate()),
    };
  }

  request(options: Partial<DeployRequest> & { readonly policy?: BidPolicy } = {}): DeployRequest {
    return {
      file: this.file,
      sdl: loadSdlFile(this.file),
      reread: (chain) => loadSdlFile(this.file, chain),
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
    waiting: (_, wait) => void this.waits.push(wait),
    note: (text, note) => {
      this.notes.push(text);
      this.told.push(note);
    },
  };

  deploy(options: Partial<DeployRequest> = {}): Promise<DeployResult> {
    return runDeploy(this.parts(), this.request(options), this.reporter);
  }

  /** The object with a point before and after every method at which the process may be killed. */
  #killable<T extends object>(object: T): T {
    return new Proxy(object, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => this.#call(() => value.apply(target, args), !(target instanceof FileJournal));
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
    // A killed process receives nothing any more.
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

let certificate: NewCertificate | undefined;

/** One certificate serves all tests: the tenant's key is the same in each. */
async function tenantCertificate(): Promise<NewCertificate> {
  const { address } = testKey("alice");
  const times = { notBefore: Date.UTC(2020, 0, 1), notAfter: Date.UTC(2090, 0, 1) };
  certificate ??= await createCertificate({ address, serial: 1n, hosts: [], ...times }, "test");
  return certificate;
}

/** A fixture that is gone after the test. */
export function openDeployFixture(plans?: Readonly<Record<string, ProviderPlan>>): DeployFixture {
  const fixture = new DeployFixture(plans);
  onTestFinished(() => fixture.close());
  return fixture;
}
