import assert from "node:assert/strict";
import { type Block, clientErrors, followBlocks, marketReader } from "../../client/index.ts";
import { errorText, type IntCoin } from "../../util/index.ts";
import { Query as BankQuery } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { CertificateKeeper } from "../certificates/index.ts";
import { type ChainView, chainView } from "../chain.ts";
import { HostData, leaseNamespace, probeLease } from "../cluster/index.ts";
import { ControlServer } from "../control/index.ts";
import { daemonErrors } from "../errors.ts";
import { Gateway } from "../gateway/index.ts";
import { openHostnames } from "../hostnames/index.ts";
import type { Ingress } from "../ingress/index.ts";
import { type Inventory, openInventory, reconcileReservations } from "../inventory/index.ts";
import { DEFAULT_MONITOR, LeaseService } from "../leases/index.ts";
import { type Metrics, type MetricsServer, openMetrics } from "../metrics/index.ts";
import { marketEvents, OrderService } from "../orders/index.ts";
import { closeBidMessage, Outbox, outboxChain, type TxVerdict } from "../outbox/index.ts";
import { Probe } from "../probe/index.ts";
import { Bidding } from "./bidding.ts";
import { DiskGuard } from "./disk.ts";
import { withdrawEarnings } from "./earnings.ts";
import { gatewaySources } from "./gateway-sources.ts";
import { ingressPlace, keeperOf, leaseRouter, openIngress, plainRouter } from "./ingress.ts";
import { type DaemonMoment, providerState, whyNotReady } from "./monitoring.ts";
import { orderChain } from "./order-chain.ts";
import type { ProviderRequest, StartRequest } from "./request.ts";
import { askDeposit, checkCertificate, checkChain, checkRegistered } from "./start/checks.ts";
import { checkGenesis } from "./start/genesis.ts";
import { growingPauseMs, sleep, untilAnswered } from "./start/wait.ts";

/** Number of blocks within which a transaction of the provider must be included. */
const TIMEOUT_BLOCKS = 20n;
/** Messages of a transaction: a thousand bids take 25 blocks, twice that if one message fails in each. */
const MAX_BATCH = 40;
const RETRY_MS = 10_000;
const SYNC_MS = 10_000;
const DISK_MS = 2_000;
const DRAIN_MS = 2_000;
const BALANCE_MS = 60_000;

export interface RunningProvider {
  /** Resolves with the reason when the provider can no longer work; its workloads keep running. */
  readonly failed: Promise<Error>;
  /** Stops the daemon; workloads keep running. */
  stop(): Promise<void>;
}

/** Starts the provider: first what was here before, then the orders of the market. Rejects with one sentence. */
export async function runProvider(request: ProviderRequest): Promise<RunningProvider> {
  const metrics = await openMetrics(request.config.metrics);
  const ingress = openIngress(request);
  const keeper = await keeperOf(request, ingress);
  const provider = new ProviderDaemon(request, { metrics, ingress, keeper });
  try {
    await provider.start();
  } catch (error) {
    await provider.giveUp();
    throw error;
  }
  return provider;
}

interface DaemonParts {
  readonly metrics: Metrics;
  readonly ingress: Ingress | undefined;
  readonly keeper: CertificateKeeper | undefined;
}

class ProviderDaemon implements RunningProvider {
  readonly #request: ProviderRequest;
  readonly #chain: ChainView;
  readonly #disk: DiskGuard;
  readonly #inventory: Inventory;
  readonly #outbox: Outbox;
  readonly #orders: OrderService;
  readonly #leases: LeaseService;
  /** Undefined if the cluster has its own. */
  readonly #ingress: Ingress | undefined;
  readonly #keeper: CertificateKeeper | undefined;
  readonly #stop = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Of a bid; undefined until the chain has told it. */
  #deposit: IntCoin | undefined;
  readonly #metrics: Metrics;
  #metricsServer: MetricsServer | undefined;
  /** In the coin of the deposit. */
  #balance: bigint | undefined;
  #lastBlock: DaemonMoment["lastBlock"];
  /** The node's chain is the one that the workloads here belong to. */
  #isRightChain = false;
  #isStarted = false;
  readonly #probe: Probe;
  readonly #bidding: Bidding;
  readonly #control: ControlServer;
  #gateway: Gateway | undefined;
  /** Of the ingress in this process, once it listens. */
  #ingressPort: number | undefined;
  #comparing = false;
  #following: Promise<void> = Promise.resolve();
  #serving: Promise<void> | undefined;
  #fail: (error: Error) => void = () => {};
  readonly failed = new Promise<Error>((resolve) => {
    this.#fail = resolve;
  });

  constructor(request: ProviderRequest, { metrics, ingress, keeper }: DaemonParts) {
    const { config, client, signer, log } = request;
    this.#request = request;
    this.#metrics = metrics;
    this.#keeper = keeper;
    this.#chain = chainView(client.query);
    const { stateDir: folder, leastFreeDisk: least } = config;
    const { freeDisk } = request;
    this.#disk = new DiskGuard({ folder, least, log, ...(freeDisk === undefined ? {} : { free: freeDisk }) });
    const { overcommit, nodePortQuantity: portQuantity, addressesPerOwner } = config;
    this.#inventory = openInventory(config.stateDir, { overcommit, portQuantity, addressesPerOwner }, log);
    this.#outbox = new Outbox({
      chain: outboxChain({ client, signer, fee: config.fee, gasPrice: config.gasPrice }),
      log: log.child({ cmp: "client/broadcaster" }),
      timeoutBlocks: TIMEOUT_BLOCKS,
      batch: MAX_BATCH,
      pause: (attempt) => sleep(growingPauseMs(attempt), this.#stop.signal),
    });
    this.#ingress = ingress;
    this.#probe = this.#makeProbe();
    this.#bidding = this.#makeBidding();
    this.#orders = this.#makeOrders();
    this.#control = this.#makeControl();
    this.#leases = this.#makeLeases();
  }

  async start(): Promise<void> {
    const { config, log, signal } = this.#request;
    const waiting = { ...this.#request, meanwhile: () => this.#serve() };
    await this.#serveMetrics();
    await this.#control.listen();
    this.#probe.begin();
    await this.#checkAll(waiting);
    await this.#bidding.begin();
    log.info("pricing", { strategy: config.pricing.description });
    await this.#serve();
    await this.#startLeases();
    signal?.throwIfAborted();
    await this.#syncSequence("info");
    this.#following = this.#follow(await untilAnswered(() => this.#catchUp(), waiting));
    this.#gateway = this.#makeGateway();
    const port = await this.#gateway.listen();
    this.#schedule();
    this.#isStarted = true;
    log.info("provider started", { provider: this.#address, gateway: port });
  }

  /** Compares what the chain knows with what is here; rejects where the two do not fit. */
  async #checkAll(waiting: StartRequest): Promise<void> {
    await checkChain(waiting);
    await checkGenesis(waiting);
    this.#isRightChain = true;
    this.#deposit = await askDeposit(waiting);
    if (this.#metricsServer !== undefined) await this.#observeBalance();
    await checkRegistered(waiting);
    await checkCertificate(waiting);
  }

  /** What runs is served before the node has answered: where both start with their machine, tenants wait for neither. */
  #serve(): Promise<void> {
    const begin = async (): Promise<void> => {
      this.#ingressPort = await this.#ingress?.listen();
      this.#leases.takeUp();
    };
    this.#serving ??= begin();
    return this.#serving;
  }

  /** The height from which blocks are followed: before the first query of the orders, so that none is missed. */
  async #catchUp(): Promise<bigint> {
    const { latestHeight } = await this.#request.client.node.status();
    await this.#reconcileReservations();
    await this.#orders.catchUp();
    return latestHeight + 1n;
  }

  /** Ends a start that failed. A provider that serves nothing leaves no process behind. */
  async giveUp(): Promise<void> {
    // A trial under way needs the data plane to remove its container.
    await this.#probe.close();
    if (this.#leases.records().length === 0) await this.#request.config.plane?.abandon();
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    for (const timer of this.#timers) clearInterval(timer);
    this.#orders.stop();
    this.#outbox.stop();
    await this.#gateway?.close();
    await this.#metricsServer?.close();
    await this.#control.close();
    await this.#following;
    await this.#leases.stop();
    await this.#probe.close();
    await this.#keeper?.close();
    await this.#writeReservations();
    await this.#ingress?.close();
    await this.#request.config.plane?.close();
    await this.#request.config.driver.close();
    this.#request.client.close();
    this.#request.log.info("shutdown complete");
  }

  /** Nothing of this run may still be written when the next one reads. A failure was logged when it was recorded. */
  async #writeReservations(): Promise<void> {
    await this.#inventory.durable().catch(() => {});
  }

  /** Removes from the data plane what it carries for leases that neither the store nor the cluster knows. */
  async #startLeases(): Promise<void> {
    const { config, log } = this.#request;
    const { orphans } = await this.#leases.start();
    if (config.plane === undefined || orphans === undefined) return;
    const ids = [probeLease(this.#address), ...this.#leases.records().map(({ id }) => id)];
    await config.plane
      .retain(ids.map(formatLeaseId), ids.map(leaseNamespace))
      .catch((error: unknown) => log.warn("data plane not compared", { err: errorText(error) }));
  }

  /** From the beginning: a start that waits for the node is seen as such. */
  async #serveMetrics(): Promise<void> {
    const { config, identity, log } = this.#request;
    if (this.#metrics.serve === undefined) return;
    const parts = {
      inventory: this.#inventory,
      orders: this.#orders,
      leases: this.#leases,
      outbox: this.#outbox,
      disk: this.#disk,
      leastDisk: config.leastFreeDisk,
      bidCost: () => this.#bidCost(),
      certificate: identity.certificate,
      keeper: this.#keeper,
    };
    this.#metricsServer = this.#metrics.serve({
      state: () => providerState(parts, this.#moment()),
      obstacles: () => whyNotReady(this.#moment()),
      log,
    });
    await this.#metricsServer.listen();
    this.#timers.push(setInterval(() => void this.#observeBalance(), BALANCE_MS));
  }

  #moment(): DaemonMoment {
    return {
      isStarted: this.#isStarted,
      isDraining: this.#bidding.isDraining,
      obstacle: this.#bidding.obstacle,
      probe: this.#probe.state.kind,
      balance: this.#balance,
      lastBlock: this.#lastBlock,
      now: Date.now(),
    };
  }

  /** What a bid takes of the coin of the deposit. */
  #bidCost(): bigint | undefined {
    if (this.#deposit === undefined) return undefined;
    const { denom, amount } = this.#deposit;
    const { fee, minimumBalance } = this.#request.config;
    const others = minimumBalance === undefined ? [fee] : [fee, minimumBalance];
    return others.reduce((sum, coin) => sum + (coin.denom === denom ? coin.amount : 0n), amount);
  }

  /** A balance that cannot be asked for is not shown. */
  async #observeBalance(): Promise<void> {
    if (this.#deposit === undefined) return;
    this.#balance = await this.#balanceOf(this.#deposit.denom).catch(() => undefined);
  }

  async #balanceOf(denom: string): Promise<bigint> {
    const answer = await this.#request.client.query.call(BankQuery.method.balance, { address: this.#address, denom });
    return BigInt(answer.balance?.amount ?? "0");
  }

  get #address(): string {
    return this.#request.signer.address;
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

  /** Compares reservations with the chain, at the start and after every block; one comparison at a time. */
  async #reconcileReservations(): Promise<void> {
    await reconcileReservations({
      inventory: this.#inventory,
      chain: this.#chain,
      provider: this.#address,
      keep: () => new Set([...this.#leases.orders(), ...this.#orders.unsettled()]),
      released: () => this.#orders.roomFound(),
      log: this.#request.log,
    });
  }

  /** A block that comes while the last comparison still runs is compared with the next one. */
  #compareLedger(): void {
    if (this.#comparing) return;
    this.#comparing = true;
    this.#reconcileReservations()
      .catch((error: unknown) => this.#request.log.debug("reservations not compared", { err: errorText(error) }))
      .finally(() => {
        this.#comparing = false;
      });
  }

  async #follow(from: bigint): Promise<void> {
    const { client, log } = this.#request;
    const onProblem = (error: Error) => log.warn("node does not answer", { err: error.message });
    try {
      for await (const block of followBlocks(client, { from, signal: this.#stop.signal, onProblem }))
        this.#onBlock(block);
    } catch (error) {
      // Without the blocks the provider neither bids nor tears anything down; the next start looks at the whole state.
      log.error("blocks can no longer be followed", { err: errorText(error) });
      this.#fail(daemonErrors.lostBlocks(errorText(error)));
    }
  }

  #onBlock(block: Block): void {
    this.#lastBlock = { height: block.height, at: Date.now() };
    this.#metrics.meter.mark("lastBlock");
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
    this.#compareLedger();
  }

  /** A lease that cannot be recorded now is taken up by the comparison with the chain, which is repeated. */
  #leaseWon(id: LeaseKey): void {
    try {
      this.#leases.leaseWon(id);
    } catch (error) {
      const { log } = this.#request;
      log.error("lease not recorded, trying again", { lease: formatLeaseId(id), err: errorText(error) });
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

  #makeProbe(): Probe {
    const { config, log, clock } = this.#request;
    return new Probe({
      driver: config.driver,
      provider: this.#address,
      router: plainRouter({ config, ingress: this.#ingress }),
      ingress: () => ingressPlace(config.ingress, this.#ingressPort),
      log: log.child({ module: "probe" }),
      // The trials of a stopping provider concern nobody.
      changed: () => void this.#bidding.look(),
      ...(clock === undefined ? {} : { clock }),
    });
  }

  #makeBidding(): Bidding {
    const { config, log } = this.#request;
    return new Bidding({
      config,
      disk: this.#disk,
      inventory: this.#inventory,
      probe: this.#probe,
      log,
      withdrawOpen: () => this.#orders.withdrawOpen(),
      roomFound: () => this.#orders.roomFound(),
      leases: () => this.#leases.records().length,
    });
  }

  #makeOrders(): OrderService {
    const { config, log } = this.#request;
    const provider = this.#address;
    const deposit = () => this.#knownDeposit();
    return new OrderService({
      provider,
      chain: orderChain({
        chain: this.#chain,
        provider,
        tenantAttributes: config.tenantAttributes,
        balance: (denom) => this.#balanceOf(denom),
        cluster: () => ({ ...config.driver.limits, gpus: this.#inventory.hasGpus }),
      }),
      inventory: this.#inventory,
      pricing: config.pricing,
      send: (message, label, options) => this.#outbox.send(message, label, options),
      log: log.child({ module: "bidengine-order" }),
      meter: this.#metrics.meter,
      get deposit() {
        return deposit();
      },
      ...(config.minimumBalance === undefined ? {} : { keep: config.minimumBalance }),
      fee: config.fee,
      bidTimeoutMs: config.bidTimeoutMs,
      ...(config.bidPatience === undefined ? {} : { patience: config.bidPatience }),
      retryMs: RETRY_MS,
      obstacle: () => this.#bidding.lookForOrder(),
      onWon: (id) => this.#leaseWon({ ...id, provider }),
    });
  }

  #knownDeposit(): IntCoin {
    assert(this.#deposit !== undefined, "orders come after the deposit is known");
    return this.#deposit;
  }

  #makeLeases(): LeaseService {
    const { config, identity, log, clock, random } = this.#request;
    const { domain, staticHosts } = config.ingress;
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
      ...openHostnames({ config, certificate: identity.certificate, log, clock }),
      router: leaseRouter({ config, ingress: this.#ingress, keeper: this.#keeper }),
      log: log.child({ module: "provider-manifest" }),
      closeBid: async (id, reason) => {
        // What a node of another chain says of the account would be signed.
        if (!this.#isRightChain) throw clientErrors.unreachable("the node has not been compared yet");
        await this.#outbox.send(closeBidMessage(id, reason), `close ${formatLeaseId(id)}`);
      },
      onGone: (id) => this.#orders.release(id),
      makeRoom: () => this.#disk.release(),
      ...(clock === undefined ? {} : { clock }),
      ...(random === undefined ? {} : { random }),
    });
  }

  #makeControl(): ControlServer {
    const { config, log } = this.#request;
    const started_at = new Date().toISOString();
    return new ControlServer({
      folder: config.stateDir,
      log,
      view: () => ({
        provider: this.#address,
        started_at,
        draining: this.#bidding.isDraining,
        obstacles: whyNotReady(this.#moment()),
        probe: this.#probe.state.kind,
        leases: this.#leases.records().length,
        orders: this.#orders.entries(),
      }),
    });
  }

  #makeGateway(): Gateway {
    const { client, config, identity, version, log } = this.#request;
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
        limits: async () => (await marketReader(client.query).depositTerms()).limits,
        host: new HostData([config.stateDir]),
      }),
      log: log.child({ module: "gateway" }),
      meter: this.#metrics.meter,
    });
  }

  #schedule(): void {
    const { config } = this.#request;
    const every = (ms: number, work: () => Promise<void>) => this.#timers.push(setInterval(() => void work(), ms));
    every(config.inventoryPollMs, () => this.#bidding.lookAtNodes());
    every(DISK_MS, () => this.#bidding.lookAtDisk());
    every(DRAIN_MS, () => this.#bidding.lookAtDrain());
    every(SYNC_MS, () => this.#syncSequence("debug"));
    every(config.withdrawalPeriodMs, () => this.#withdrawEarnings());
  }

  #withdrawEarnings(): Promise<void> {
    return withdrawEarnings({
      provider: this.#address,
      chain: this.#chain,
      outbox: this.#outbox,
      meter: this.#metrics.meter,
      log: this.#request.log,
    });
  }
}
