import { errorText } from "../../util/index.ts";
import { VERSION_ASKED_MS, VersionWatch } from "../../util/servers/index.ts";
import { formatLeaseId } from "../../wire/index.ts";
import { leaseNamespace, probeLease } from "../cluster/index.ts";
import { daemonErrors } from "../errors.ts";
import { type BlockStep, compareLedger, endClosedLeases, passBlocks, settleTxs } from "./blocks.ts";
import { withdrawEarnings } from "./money.ts";
import { type DaemonMoment, providerState, whyNotReady } from "./monitoring.ts";
import { makeControl, makeGateway, makeParts, type Parts, type RunFacts, reconcile } from "./parts.ts";
import type { ProviderRequest, StartRequest } from "./request.ts";
import { askDeposit, checkCertificate, checkChain, checkRegistered } from "./start/checks.ts";
import { checkGenesis } from "./start/genesis.ts";
import { untilAnswered } from "./start/wait.ts";

const SYNC_MS = 10_000;
const ORDERS_MS = 500;
const DISK_MS = 2_000;
const DRAIN_MS = 2_000;
const BALANCE_MS = 60_000;

export interface RunningProvider {
  /** Resolves with the reason when the provider can no longer work; its workloads keep running. */
  readonly failed: Promise<Error>;
  /** Stops the daemon; workloads keep running. */
  stop(): Promise<void>;
}

/** Starts the provider: first the existing workloads, then the orders of the market. Rejects with one sentence. */
export async function runProvider(request: ProviderRequest): Promise<RunningProvider> {
  const stopping = new AbortController();
  const facts = { isStarted: false, isRightChain: false, lastBlock: undefined, ingressPort: undefined };
  const run = new ProviderRun({ request, facts, stopping, parts: await makeParts(request, facts, stopping.signal) });
  try {
    await run.start();
  } catch (error) {
    await run.giveUp();
    throw error;
  }
  return run;
}

interface RunOptions {
  readonly request: ProviderRequest;
  readonly parts: Parts;
  readonly facts: RunFacts;
  readonly stopping: AbortController;
}

/** The order in which the parts of a provider start and stop. */
class ProviderRun implements RunningProvider {
  readonly #options: RunOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Servers that listen, in the order of their start. */
  readonly #servers: { close(): Promise<void> }[] = [];
  #following: Promise<void> = Promise.resolve();
  #serving: Promise<void> | undefined;
  #fail: (error: Error) => void = () => {};
  readonly failed = new Promise<Error>((resolve) => {
    this.#fail = resolve;
  });

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { request, parts, facts } = this.#options;
    const { log, signal, signer } = request;
    const waiting = { ...request, meanwhile: () => this.#serve() };
    await this.#openMetrics();
    await this.#listen(makeControl(request, parts, () => this.#moment()));
    parts.probe.begin();
    await this.#checkAll(waiting);
    await parts.bidding.begin();
    log.info("pricing", { strategy: parts.prices.description });
    await this.#serve();
    await this.#startLeases();
    signal?.throwIfAborted();
    await this.#syncSequence("info");
    this.#following = this.#follow(await untilAnswered(() => this.#catchUp(), waiting));
    const port = await this.#listen(makeGateway(request, parts));
    this.#schedule();
    facts.isStarted = true;
    log.info("provider started", { provider: signer.address, gateway: port });
  }

  /** Compares the chain with the local state; rejects if they do not match. */
  async #checkAll(waiting: StartRequest): Promise<void> {
    const { parts, facts } = this.#options;
    await checkChain(waiting);
    await checkGenesis(waiting);
    facts.isRightChain = true;
    parts.money.deposit = await askDeposit(waiting);
    if (parts.metrics.serve !== undefined) await parts.money.observe();
    await checkRegistered(waiting);
    await checkCertificate(waiting);
  }

  /** Leases are served before the node has answered: if both start with their machine, tenants wait for neither. */
  #serve(): Promise<void> {
    const { parts, facts } = this.#options;
    const begin = async (): Promise<void> => {
      facts.ingressPort = await parts.ingress?.listen();
      parts.leases.takeUp();
    };
    this.#serving ??= begin();
    return this.#serving;
  }

  async #listen<T>(server: { listen(): Promise<T>; close(): Promise<void> }): Promise<T> {
    this.#servers.push(server);
    return server.listen();
  }

  /** The height from which blocks are followed: before the first query of the orders, so that none is missed. */
  async #catchUp(): Promise<bigint> {
    const { request, parts } = this.#options;
    const { latestHeight } = await request.client.node.status();
    await this.#reconcile();
    await parts.orders.catchUp();
    return latestHeight + 1n;
  }

  /** Ends a start that failed. A provider that serves nothing leaves no process behind. */
  async giveUp(): Promise<void> {
    const { request, parts } = this.#options;
    // A trial under way needs the data plane to remove its container.
    await parts.probe.close();
    if (parts.leases.records().length === 0) await request.config.plane?.abandon();
    await this.stop();
  }

  async stop(): Promise<void> {
    const { request, parts, stopping } = this.#options;
    stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    parts.orders.stop();
    parts.outbox.stop();
    for (const server of this.#servers.toReversed()) await server.close();
    await this.#following;
    await parts.leases.stop();
    await parts.probe.close();
    await parts.keeper?.close();
    // Nothing of this run may still be written when the next one reads. A failure was logged when it was recorded.
    await parts.inventory.durable().catch(() => {});
    await parts.ingress?.close();
    await request.config.plane?.close();
    await request.config.driver.close();
    request.client.close();
    request.log.info("shutdown complete");
  }

  /** Removes from the data plane what it carries for leases that neither the store nor the cluster knows. */
  async #startLeases(): Promise<void> {
    const { request, parts } = this.#options;
    const { config, log, signer } = request;
    const { orphans } = await parts.leases.start();
    if (config.plane === undefined || orphans === undefined) return;
    const ids = [probeLease(signer.address), ...parts.leases.records().map(({ id }) => id)];
    await config.plane
      .retain(ids.map(formatLeaseId), ids.map(leaseNamespace))
      .catch((error: unknown) => log.warn("data plane not compared", { err: errorText(error) }));
  }

  /** From the beginning: a start that waits for the node is seen as such. */
  async #openMetrics(): Promise<void> {
    const { request, parts } = this.#options;
    const { config, identity, log } = request;
    const watch = this.#watchVersions();
    if (parts.metrics.serve === undefined) return;
    const { certificate } = identity;
    const bidCost = () => parts.money.bidCost();
    const monitored = { ...parts, leastDisk: config.leastFreeDisk, bidCost, certificate, watch };
    const state = () => providerState(monitored, this.#moment());
    await this.#listen(parts.metrics.serve({ state, obstacles: () => whyNotReady(this.#moment()), log }));
    this.#every(BALANCE_MS, () => parts.money.observe());
  }

  /** Asks for a newer version now and every day, where the operator has named a network. */
  #watchVersions(): VersionWatch | undefined {
    const { config, version, log } = this.#options.request;
    if (config.net === undefined) return undefined;
    const watch = new VersionWatch({ net: config.net, version, log });
    void watch.ask();
    this.#every(VERSION_ASKED_MS, () => watch.ask());
    return watch;
  }

  #moment(): DaemonMoment {
    const { facts, parts } = this.#options;
    const { bidding, probe, money } = parts;
    return {
      isStarted: facts.isStarted,
      isDraining: bidding.isDraining,
      obstacle: bidding.obstacle,
      probe: probe.state.kind,
      balance: money.balance,
      lastBlock: facts.lastBlock,
      now: Date.now(),
    };
  }

  async #syncSequence(level: "info" | "debug"): Promise<void> {
    const { request, parts } = this.#options;
    try {
      const { local, remote } = await parts.outbox.sync();
      request.log[level]("syncing sequence", { cmp: "client/broadcaster", local, remote });
    } catch (error) {
      request.log.warn("sequence not synced", { cmp: "client/broadcaster", err: errorText(error) });
    }
  }

  #reconcile(): Promise<void> {
    const { request, parts } = this.#options;
    return reconcile(parts, request.signer.address, request.log);
  }

  async #follow(from: bigint): Promise<void> {
    const { request, stopping } = this.#options;
    const { client, log } = request;
    try {
      await passBlocks({ client, from, signal: stopping.signal, log, steps: this.#steps() });
    } catch (error) {
      // Without the blocks the provider neither bids nor tears anything down; the next start looks at the whole state.
      log.error("blocks can no longer be followed", { err: errorText(error) });
      this.#fail(daemonErrors.lostBlocks(errorText(error)));
    }
  }

  /** Steps of each block, in their order. */
  #steps(): BlockStep[] {
    const { request, parts, facts } = this.#options;
    const { orders, leases, outbox, metrics } = parts;
    return [
      ({ height }) => {
        facts.lastBlock = { height, at: Date.now() };
        metrics.meter.mark("lastBlock");
      },
      settleTxs(outbox),
      ({ market }) => {
        for (const event of market) orders.onEvent(event);
      },
      endClosedLeases(request.signer.address, leases, request.log),
      compareLedger(() => this.#reconcile(), request.log),
    ];
  }

  #schedule(): void {
    const { request, parts } = this.#options;
    const { config, signer, log } = request;
    const { bidding, chain, outbox, metrics } = parts;
    const earnings = { provider: signer.address, chain, outbox, meter: metrics.meter, log };
    this.#every(config.inventoryPollMs, () => bidding.lookAtNodes());
    this.#every(ORDERS_MS, async () => parts.orders.pass());
    this.#every(DISK_MS, () => bidding.lookAtDisk());
    this.#every(DRAIN_MS, () => bidding.lookAtDrain());
    this.#every(SYNC_MS, () => this.#syncSequence("debug"));
    this.#every(config.withdrawalPeriodMs, () => withdrawEarnings(earnings));
  }

  #every(ms: number, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void work(), ms));
  }
}
