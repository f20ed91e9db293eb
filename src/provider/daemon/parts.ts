import { type ChainClient, clientErrors, marketReader } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { CertificateKeeper } from "../certificates/index.ts";
import { type ChainView, chainView } from "../chain.ts";
import { HostData } from "../cluster/index.ts";
import { bidsUnder, ControlServer, Examination, factsOf } from "../control/index.ts";
import { daemonErrors } from "../errors.ts";
import { Gateway } from "../gateway/index.ts";
import { openHostnames } from "../hostnames/index.ts";
import type { Ingress } from "../ingress/index.ts";
import { type Inventory, openInventory, reconcileReservations } from "../inventory/index.ts";
import { DEFAULT_MONITOR, LeaseService } from "../leases/index.ts";
import { type Metrics, openMetrics } from "../metrics/index.ts";
import { type OrderChain, OrderService } from "../orders/index.ts";
import { closeBidMessage, Outbox, outboxChain } from "../outbox/index.ts";
import { ChangeablePrices } from "../pricing/index.ts";
import { Probe } from "../probe/index.ts";
import { Bidding } from "./bidding.ts";
import { DiskGuard } from "./disk.ts";
import { gatewaySources } from "./gateway-sources.ts";
import { browserGateway, ingressPlace, keeperOf, leaseRouter, openIngress, plainRouter } from "./ingress.ts";
import { BidMoney } from "./money.ts";
import type { DaemonMoment } from "./monitoring.ts";
import { whyNotReady } from "./monitoring.ts";
import type { ProviderRequest } from "./request.ts";
import { growingPauseMs, sleep } from "./start/wait.ts";

/** Number of blocks within which a transaction of the provider must be included. */
const TIMEOUT_BLOCKS = 20n;
/** Messages of a transaction: a thousand bids take 25 blocks, twice that if one message fails in each. */
const MAX_BATCH = 40;
const RETRY_MS = 10_000;

/** Facts that a run learns as it goes. */
export interface RunFacts {
  isStarted: boolean;
  /** The node's chain is the one that the workloads here belong to. */
  isRightChain: boolean;
  lastBlock: DaemonMoment["lastBlock"];
  /** Port of the ingress in this process, once it listens. */
  ingressPort: number | undefined;
}

/** Parts that need nothing of the others. */
interface Basics {
  readonly chain: ChainView;
  readonly metrics: Metrics;
  readonly money: BidMoney;
  readonly disk: DiskGuard;
  readonly inventory: Inventory;
  readonly outbox: Outbox;
  readonly prices: ChangeablePrices;
  /** Undefined if the cluster has its own, or the data plane. */
  readonly ingress: Ingress | undefined;
  readonly keeper: CertificateKeeper | undefined;
}

/** The parts of a provider. Each is made from the functions that it needs; none knows the run that starts it. */
export interface Parts extends Basics {
  readonly probe: Probe;
  readonly bidding: Bidding;
  readonly orders: OrderService;
  readonly leases: LeaseService;
}

/** Makes all parts and starts none. A function that one part gets of another is called only after the start. */
export async function makeParts(request: ProviderRequest, facts: RunFacts, signal: AbortSignal): Promise<Parts> {
  const basics = await makeBasics(request, signal);
  const { disk, inventory, ingress, outbox } = basics;
  const { config, log, signer, clock } = request;
  const probe: Probe = new Probe({
    driver: config.driver,
    provider: signer.address,
    router: plainRouter({ config, ingress }),
    ingress: () => ingressPlace(config.ingress, facts.ingressPort),
    log: log.child({ module: "probe" }),
    // The trials of a stopping provider do not matter.
    changed: () => void bidding.look(),
    ...(clock === undefined ? {} : { clock }),
  });
  const bidding: Bidding = new Bidding({
    config,
    disk,
    inventory,
    probe,
    log,
    withdrawOpen: () => orders.withdrawOpen(),
    roomFound: () => orders.roomFound(),
    leases: () => leases.records().length,
  });
  const orders: OrderService = makeOrders(request, basics, {
    obstacle: () => bidding.lookForOrder(),
    onWon: (id) => leases.leaseWon(id),
  });
  const leases: LeaseService = makeLeases(request, basics, {
    onGone: (id) => orders.release(id),
    closeBid: async (id, reason) => {
      // Answers about the account from a node of another chain would be signed.
      if (!facts.isRightChain) throw clientErrors.unreachable("the node has not been compared yet");
      await outbox.send(closeBidMessage(id, reason), `close ${formatLeaseId(id)}`);
    },
  });
  return { ...basics, probe, bidding, orders, leases };
}

async function makeBasics(request: ProviderRequest, signal: AbortSignal): Promise<Basics> {
  const { config, client, proven, signer, log, freeDisk } = request;
  const { stateDir: folder, leastFreeDisk: least, fee, minimumBalance } = config;
  const { overcommit, addressesPerOwner, bidShare, nodePortQuantity: portQuantity } = config;
  const ingress = openIngress(request);
  const others = minimumBalance === undefined ? [fee] : [fee, minimumBalance];
  return {
    chain: chainView(client.query, proven),
    metrics: await openMetrics(config.metrics),
    money: new BidMoney({ address: signer.address, query: client.query, others }),
    disk: new DiskGuard({ folder, least, log, ...(freeDisk === undefined ? {} : { free: freeDisk }) }),
    inventory: openInventory(folder, { overcommit, portQuantity, addressesPerOwner, bidShare }, log),
    outbox: new Outbox({
      chain: outboxChain({ client, signer, fee, gasPrice: config.gasPrice }),
      log: log.child({ cmp: "client/broadcaster" }),
      timeoutBlocks: TIMEOUT_BLOCKS,
      batch: MAX_BATCH,
      pause: (attempt) => sleep(growingPauseMs(attempt), signal),
    }),
    prices: new ChangeablePrices({ configured: config.pricing, folder, log }),
    ingress,
    keeper: await keeperOf(request, ingress),
  };
}

interface OrderCalls {
  readonly obstacle: Bidding["lookForOrder"];
  readonly onWon: (id: LeaseKey) => void;
}

function makeOrders(
  { config, log, signer }: ProviderRequest,
  basics: Basics,
  { obstacle, onWon }: OrderCalls,
): OrderService {
  const { inventory, outbox, metrics, money, prices } = basics;
  const provider = signer.address;
  return new OrderService({
    provider,
    chain: orderChain(provider, config, basics),
    inventory,
    pricing: prices,
    send: (message, label, options) => outbox.send(message, label, options),
    log: log.child({ module: "bidengine-order" }),
    meter: metrics.meter,
    get deposit() {
      return money.deposit;
    },
    ...(config.minimumBalance === undefined ? {} : { keep: config.minimumBalance }),
    fee: config.fee,
    bidTimeoutMs: config.bidTimeoutMs,
    retryMs: RETRY_MS,
    obstacle,
    onWon: (id) => {
      const lease = { ...id, provider };
      try {
        onWon(lease);
      } catch (error) {
        // The comparison with the chain, which is repeated, takes it up.
        log.error("lease not recorded, trying again", { lease: formatLeaseId(lease), err: errorText(error) });
      }
    },
  });
}

/** The chain as the orders see it: with our own offer, as the chain knows it at this moment. */
function orderChain(
  provider: string,
  config: ProviderRequest["config"],
  { chain, money, inventory }: Basics,
): OrderChain {
  return {
    openOrders: () => chain.openOrders(),
    order: (id) => chain.order(id),
    bid: (id) => chain.bid(id),
    openBidPrices: (id) => chain.openBidPrices(id),
    marketParams: () => chain.marketParams(),
    balance: (denom) => money.balanceOf(denom),
    async offer(auditors) {
      const record = await chain.provider(provider);
      if (record === undefined) throw daemonErrors.notRegistered(provider);
      const audited = auditors.length === 0 ? [] : await chain.auditedAttributes(provider);
      return {
        attributes: record.attributes,
        signedBy: (auditor) => audited.find((each) => each.auditor === auditor)?.attributes ?? [],
        tenantAttributes: config.tenantAttributes,
        ...config.driver.limits,
        gpus: inventory.hasGpus,
      };
    },
  };
}

type LeaseCalls = Pick<ConstructorParameters<typeof LeaseService>[0], "onGone" | "closeBid">;

function makeLeases(request: ProviderRequest, basics: Basics, calls: LeaseCalls): LeaseService {
  const { config, identity, signer, log, clock, random } = request;
  const { chain, disk, ingress, keeper } = basics;
  const { domain, staticHosts } = config.ingress;
  return new LeaseService({
    folder: config.stateDir,
    settings: {
      provider: signer.address,
      publicHostname: config.publicHostname,
      manifestTimeoutMs: config.manifestTimeoutMs,
      monitor: { ...DEFAULT_MONITOR, ...config.monitor },
      domain,
      staticHosts,
    },
    chain,
    driver: config.driver,
    ...openHostnames({ config, certificate: identity.certificate, log, clock }),
    router: leaseRouter({ config, ingress, keeper }),
    log: log.child({ module: "provider-manifest" }),
    ...calls,
    makeRoom: () => disk.release(),
    ...(clock === undefined ? {} : { clock }),
    ...(random === undefined ? {} : { random }),
  });
}

/** Compares reservations with the chain. Rejects when the chain cannot be queried. */
export function reconcile({ inventory, chain, leases, orders }: Parts, provider: string, log: ProviderRequest["log"]) {
  return reconcileReservations({
    inventory,
    chain,
    provider,
    keep: () => new Set([...leases.orders(), ...orders.unsettled()]),
    released: () => orders.roomFound(),
    log,
  });
}

/** State for the operator's commands. */
export function makeControl(
  { config, log, signer, examine }: ProviderRequest,
  { bidding, probe, leases, orders, inventory, prices }: Parts,
  moment: () => DaemonMoment,
): ControlServer {
  const started_at = new Date().toISOString();
  const examination = examine === undefined ? {} : { examination: new Examination(examine) };
  return new ControlServer({
    folder: config.stateDir,
    log,
    facts: (view) => factsOf(view, { inventory, leases, pricing: prices, ...examination }),
    changePrices: (change) => prices.change(change),
    tryPrices: async (change, view) => bidsUnder(prices.changed(change), view.orders),
    view: () => ({
      provider: signer.address,
      started_at,
      draining: bidding.isDraining,
      obstacles: whyNotReady(moment()),
      probe: probe.state.kind,
      leases: leases.records().length,
      orders: orders.entries(),
    }),
  });
}

export function makeGateway(request: ProviderRequest, parts: Parts) {
  const { inventory, orders, outbox, leases, chain, metrics, prices } = parts;
  const { client, config, identity, version, log, signer } = request;
  const browsers = browserGateway(config)?.folder;
  return new Gateway({
    ...config.gateway,
    ...(browsers === undefined ? {} : { browsers }),
    ...identity,
    provider: signer.address,
    version,
    publicHostname: config.publicHostname,
    driver: config.driver,
    leases,
    chain,
    sources: gatewaySources({
      inventory,
      orders,
      outbox,
      pricing: prices,
      limits: () => depositLimits(client),
      host: new HostData([config.stateDir]),
    }),
    log: log.child({ module: "gateway" }),
    meter: metrics.meter,
  });
}

async function depositLimits({ query }: ChainClient) {
  return (await marketReader(query).depositTerms()).limits;
}
