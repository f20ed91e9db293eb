import { setTimeout as pause } from "node:timers/promises";
import { type Block, type ChainClient, clientErrors, followBlocks, type TxSigner } from "../../client/index.ts";
import { parseCertificatePem } from "../../crypto/index.ts";
import { type Clock, errorText, formatCoin, type IntCoin, type Logger } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { formatLeaseId, formatOrderId, type LeaseKey } from "../../wire/index.ts";
import { type ChainCertificate, type ChainView, chainView } from "../chain.ts";
import { daemonErrors } from "../errors.ts";
import { Gateway } from "../gateway/index.ts";
import { HostRegistry, type Ingress } from "../ingress/index.ts";
import { type Inventory, openInventory, reconcileReservations } from "../inventory/index.ts";
import { DEFAULT_MONITOR, LeaseService } from "../leases/index.ts";
import { marketEvents, OrderService } from "../orders/index.ts";
import { closeBidMessage, Outbox, outboxChain, type TxVerdict, withdrawMessages } from "../outbox/index.ts";
import type { ProviderConfig } from "./config.ts";
import { gatewaySources } from "./gateway-sources.ts";
import { leaseRouter, openIngress } from "./ingress.ts";
import { marketView } from "./market-view.ts";

/** Blocks until which a transaction of the provider must be in one. */
const TIMEOUT_BLOCKS = 20n;
/** Blocks in which a certificate that was sent just before must come. */
const CERTIFICATE_BLOCKS = 2n;
const MAX_BATCH = 20;
const RETRY_MS = 10_000;
const HTTPS_PORT = 443;
const SYNC_MS = 10_000;
const PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;

/** The server certificate as it is on the chain, and its key in the clear; both PEM. */
export interface GatewayIdentity {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface ProviderRequest {
  readonly config: ProviderConfig;
  readonly client: ChainClient;
  readonly signer: TxSigner;
  readonly identity: GatewayIdentity;
  /** Our own version, `v1.2.3`. */
  readonly version: string;
  readonly log: Logger;
  /** Time as the leases see it; the system's clock by default. */
  readonly clock?: Clock;
  /** From 0 up to 1: spreads the looks at leases over time. */
  readonly random?: () => number;
  /** Ends a start that still waits for the node; the running provider is ended by `stop`. */
  readonly signal?: AbortSignal;
}

export interface RunningProvider {
  /** Resolves when the provider can do its work no longer, with the reason; its workloads go on. */
  readonly failed: Promise<Error>;
  /** Stops the daemon; workloads go on. */
  stop(): Promise<void>;
}

/** Starts the provider: what was here before first, then the orders of the market. Rejects with one sentence. */
export async function runProvider(request: ProviderRequest): Promise<RunningProvider> {
  await checkChain(request);
  const provider = new ProviderDaemon(request, await askDeposit(request));
  try {
    await provider.start();
  } catch (error) {
    await provider.stop();
    throw error;
  }
  return provider;
}

/** A node of another chain shows none of our orders and leases. */
async function checkChain({ client, log, signal }: ProviderRequest): Promise<void> {
  const { chainId } = await untilAnswered(() => client.node.status(), { log, signal });
  const ours = await client.chainId();
  if (chainId !== ours) throw clientErrors.wrongChain(`the node serves ${chainId}, not ${ours}`);
}

/** The deposit of a bid: as configured, or the least that the chain takes. Rejects when the chain would refuse it. */
async function askDeposit({ config, client, log, signal }: ProviderRequest): Promise<IntCoin> {
  const { bidMinDeposits } = await untilAnswered(() => chainView(client.query).marketParams(), { log, signal });
  const { bidDeposit = bidMinDeposits[0] } = config;
  if (bidDeposit === undefined) throw daemonErrors.noDeposit();
  const least = bidMinDeposits.find(({ denom }) => denom === bidDeposit.denom);
  if (bidMinDeposits.length > 0 && (least === undefined || bidDeposit.amount < least.amount)) {
    const text = `${formatCoin(bidDeposit)}, the chain takes ${bidMinDeposits.map(formatCoin).join(" or ")} and more`;
    throw daemonErrors.badDeposit(text);
  }
  return bidDeposit;
}

class ProviderDaemon implements RunningProvider {
  readonly #request: ProviderRequest;
  readonly #chain: ChainView;
  readonly #inventory: Inventory;
  readonly #outbox: Outbox;
  readonly #orders: OrderService;
  readonly #leases: LeaseService;
  /** None where the cluster has its own. */
  readonly #ingress: Ingress | undefined;
  readonly #stop = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #gateway: Gateway | undefined;
  /** Why the cluster runs nothing of anybody. */
  #obstacle: string | undefined;
  #following: Promise<void> = Promise.resolve();
  #fail: (error: Error) => void = () => {};
  readonly failed = new Promise<Error>((resolve) => {
    this.#fail = resolve;
  });

  constructor(request: ProviderRequest, deposit: IntCoin) {
    const { config, client, signer, log } = request;
    this.#request = request;
    this.#chain = chainView(client.query);
    this.#inventory = openInventory(config.stateDir, {
      overcommit: config.overcommit,
      portQuantity: config.nodePortQuantity,
    });
    this.#outbox = new Outbox({
      chain: outboxChain({ client, signer, fee: config.fee, gasPrice: config.gasPrice }),
      log: log.child({ cmp: "client/broadcaster" }),
      timeoutBlocks: TIMEOUT_BLOCKS,
      batch: MAX_BATCH,
      pause: (attempt) => sleep(Math.min(PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS), this.#stop.signal),
    });
    this.#orders = this.#makeOrders(deposit);
    this.#ingress = openIngress(request);
    this.#leases = this.#makeLeases();
  }

  async start(): Promise<void> {
    const { client, log, signal } = this.#request;
    await this.#checkRegistered();
    await this.#checkCertificate();
    await this.#observeNodes();
    await this.#observeObstacle();
    await this.#ingress?.listen();
    await this.#leases.start();
    signal?.throwIfAborted();
    await this.#syncSequence("info");
    // Blocks are followed from before the first look at the orders, so that none falls between.
    const from = (await client.node.status()).latestHeight + 1n;
    await this.#reconcileReservations();
    await this.#orders.catchUp();
    this.#following = this.#follow(from);
    this.#gateway = this.#makeGateway();
    const port = await this.#gateway.listen();
    this.#schedule();
    log.info("provider started", { provider: this.#address, gateway: port });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    for (const timer of this.#timers) clearInterval(timer);
    this.#orders.stop();
    this.#outbox.stop();
    await this.#gateway?.close();
    await this.#following;
    await this.#leases.stop();
    await this.#ingress?.close();
    await this.#request.config.driver.close();
    this.#request.client.close();
    this.#request.log.info("shutdown complete");
  }

  get #address(): string {
    return this.#request.signer.address;
  }

  async #checkRegistered(): Promise<void> {
    const record = await untilAnswered(() => this.#chain.provider(this.#address), this.#request);
    if (record === undefined) throw daemonErrors.notRegistered(this.#address);
    this.#comparePorts(record.hostUri);
  }

  /** Behind a proxy or a router they differ rightly; elsewhere nobody ever reaches this provider. */
  #comparePorts(hostUri: string): void {
    const { config, log } = this.#request;
    const { host, port } = config.gateway;
    const uri = URL.canParse(hostUri) ? new URL(hostUri) : undefined;
    if (uri === undefined || port === 0 || Number(uri.port || HTTPS_PORT) === port) return;
    log.warn("tenants are sent to another port than the gateway's", {
      host_uri: hostUri,
      gateway: `${host}:${port}`,
      remedy: `forward that port to ${port}, start with --gateway-listen-address ${host}:${uri.port || HTTPS_PORT}, or change host_uri with: svc tx provider update`,
    });
  }

  /** Tenants compare the gateway's certificate with the chain: without it they could take our bids and never reach us. */
  async #checkCertificate(): Promise<void> {
    const { serial, notAfter } = parseCertificatePem(this.#request.identity.certificate);
    const name = `certificate ${serial}`;
    const end = new Date(notAfter * 1000);
    if (end.getTime() <= Date.now()) throw daemonErrors.certificate(`${name} ended on ${end.toISOString()}`);
    const record = await this.#publishedCertificate(serial);
    if (record === undefined) throw daemonErrors.certificate(`${name} is not on the chain`);
    if (record.state !== "valid") throw daemonErrors.certificate(`${name} is ${record.state}`);
  }

  /** The certificate on the chain; whoever has just sent it need not wait for its block. */
  async #publishedCertificate(serial: string): Promise<ChainCertificate | undefined> {
    const { client, log, signal } = this.#request;
    const height = async (): Promise<bigint> => (await client.node.status()).latestHeight;
    const last = (await untilAnswered(height, { log, signal })) + CERTIFICATE_BLOCKS;
    for (let tries = 0; ; tries++) {
      const now = await untilAnswered(height, { log, signal });
      const record = await untilAnswered(() => this.#chain.certificate(this.#address, serial), { log, signal });
      if (record !== undefined || now >= last) return record;
      if (tries === 0) log.info("waiting for the certificate to come into a block", { serial });
      await sleep(PAUSE_MS, signal);
    }
  }

  async #observeNodes(): Promise<void> {
    const { config, log } = this.#request;
    const capacity = await config.driver.capacity();
    this.#inventory.observe(capacity);
    log.info("inventory fetched", { module: "provider-cluster", nodes: capacity.nodes.length });
    for (const { name, cpu, memory, storage } of this.#inventory.available()) {
      const left = { "available-cpu": cpu, "available-memory": memory, "available-storage": storage };
      log.info("node resources", { module: "provider-cluster", "node-id": name, ...left });
    }
    log.info("pricing", { strategy: config.pricing.description });
  }

  /** A poll that fails changes nothing: the last look stays valid. */
  async #pollNodes(): Promise<void> {
    const { config, log } = this.#request;
    try {
      this.#inventory.observe(await config.driver.capacity());
      await this.#observeObstacle();
    } catch (error) {
      log.warn("inventory not refreshed", { err: errorText(error) });
    }
  }

  /** A cluster that would refuse every deployment gets none: said before the first bid, and when it changes. */
  async #observeObstacle(): Promise<void> {
    const { config, log } = this.#request;
    const before = this.#obstacle;
    this.#obstacle = await config.driver.obstacle();
    if (this.#obstacle === before) return;
    if (this.#obstacle === undefined) log.info("this provider bids again");
    else log.error("this provider does not bid", { reason: this.#obstacle });
  }

  async #syncSequence(level: "info" | "debug"): Promise<void> {
    const { log } = this.#request;
    try {
      const { local, remote } = await this.#outbox.sync();
      log[level]("syncing sequence", { cmp: "client/broadcaster", local, remote });
    } catch (error) {
      log.warn("sequence not synced", { cmp: "client/broadcaster", err: errorText(error) });
    }
  }

  async #reconcileReservations(): Promise<void> {
    const inUse = new Set(this.#leases.records().map(({ id }) => formatOrderId(id)));
    const { log } = this.#request;
    await reconcileReservations({
      inventory: this.#inventory,
      chain: this.#chain,
      provider: this.#address,
      inUse,
      log,
    });
  }

  async #follow(from: bigint): Promise<void> {
    const { client, log } = this.#request;
    const onProblem = (error: Error) => log.warn("node does not answer", { err: error.message });
    try {
      for await (const block of followBlocks(client, { from, signal: this.#stop.signal, onProblem }))
        this.#onBlock(block);
    } catch (error) {
      // Without the blocks nothing is bid for and nothing torn down; the next start looks at the whole state.
      log.error("blocks can no longer be followed", { err: errorText(error) });
      this.#fail(daemonErrors.lostBlocks(errorText(error)));
    }
  }

  #onBlock(block: Block): void {
    const txs = new Map<string, TxVerdict>(
      block.txs.map(({ hash, code, codespace, log }) => [hash, { code, codespace, log }]),
    );
    this.#outbox.onBlock({ height: block.height, txs });
    const events = block.txs.flatMap((tx) => (tx.code === 0 ? tx.events : []));
    for (const event of marketEvents([...events, ...block.events])) {
      this.#orders.onEvent(event);
      if (event.action === "lease-closed" && event.id.provider === this.#address) {
        this.#leaseClosed({ ...event.id, provider: this.#address }, block.height);
      }
    }
  }

  /** A block that we followed is the proof on which a workload may be torn down. */
  #leaseClosed(id: LeaseKey, height: bigint): void {
    const { log } = this.#request;
    log.info("lease closed", { lease: formatLeaseId(id), height });
    this.#leases.leaseClosed(id, height).catch((error: unknown) => {
      log.error("teardown not finished, going on with it", { lease: formatLeaseId(id), err: errorText(error) });
    });
  }

  #makeOrders(deposit: IntCoin): OrderService {
    const { config, client, log } = this.#request;
    const provider = this.#address;
    const balance = async (denom: string): Promise<bigint> => {
      const answer = await client.query.call(BankQuery.method.balance, { address: provider, denom });
      return BigInt(answer.balance?.amount ?? "0");
    };
    return new OrderService({
      provider,
      chain: marketView({
        chain: this.#chain,
        provider,
        tenantAttributes: config.tenantAttributes,
        balance,
        cluster: () => ({ ...config.driver.limits, gpus: this.#inventory.hasGpus }),
      }),
      inventory: this.#inventory,
      pricing: config.pricing,
      send: (message, label) => this.#outbox.send(message, label),
      log: log.child({ module: "bidengine-order" }),
      deposit,
      fee: config.fee,
      bidTimeoutMs: config.bidTimeoutMs,
      retryMs: RETRY_MS,
      obstacle: () => this.#obstacle,
      onWon: (id) => this.#leases.leaseWon({ ...id, provider }),
    });
  }

  #makeLeases(): LeaseService {
    const { config, log, clock, random } = this.#request;
    const { domain, staticHosts, blockedHosts } = config.ingress;
    return new LeaseService({
      folder: config.stateDir,
      settings: {
        provider: this.#address,
        publicHostname: config.publicHostname,
        manifestTimeoutMs: config.manifestTimeoutMs,
        monitor: { ...DEFAULT_MONITOR, ...config.monitor },
        domain,
        staticHosts,
      },
      chain: this.#chain,
      driver: config.driver,
      registry: new HostRegistry({ blocked: blockedHosts, domain }),
      router: leaseRouter(this.#ingress, config),
      log: log.child({ module: "provider-manifest" }),
      closeBid: async (id, reason) => {
        await this.#outbox.send(closeBidMessage(id, reason), `close ${formatLeaseId(id)}`);
      },
      onGone: (id) => this.#orders.release(id),
      ...(clock === undefined ? {} : { clock }),
      ...(random === undefined ? {} : { random }),
    });
  }

  #makeGateway(): Gateway {
    const { config, identity, version, log } = this.#request;
    return new Gateway({
      ...config.gateway,
      ...identity,
      provider: this.#address,
      version,
      publicHostname: config.publicHostname,
      driver: config.driver,
      leases: this.#leases,
      chain: this.#chain,
      sources: gatewaySources({
        inventory: this.#inventory,
        orders: this.#orders,
        outbox: this.#outbox,
        pricing: config.pricing,
      }),
      log: log.child({ module: "gateway" }),
    });
  }

  #schedule(): void {
    const { config } = this.#request;
    const every = (ms: number, work: () => Promise<void>) => this.#timers.push(setInterval(() => void work(), ms));
    every(config.inventoryPollMs, () => this.#pollNodes());
    every(SYNC_MS, () => this.#syncSequence("debug"));
    every(config.withdrawalPeriodMs, () => this.#withdraw());
  }

  /** Collects what all leases have earned. */
  async #withdraw(): Promise<void> {
    const warn = (error: unknown) => this.#request.log.warn("earnings not withdrawn", { err: errorText(error) });
    try {
      const leases = await this.#chain.activeLeases({ provider: this.#address });
      const messages = withdrawMessages(
        this.#address,
        leases.map(({ id }) => id),
      );
      await Promise.all(messages.map((each) => this.#outbox.send(each, "withdraw").catch(warn)));
    } catch (error) {
      warn(error);
    }
  }
}

/** Repeats a call until the node answers; the first start may come before the node is up. */
async function untilAnswered<T>(
  call: () => Promise<T>,
  { log, signal }: { readonly log: Logger; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      log.warn("waiting for the node", { err: errorText(error) });
      await sleep(Math.min(PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS), signal);
    }
  }
}

/** Ends early, and without an error, when the signal is aborted. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});
}
