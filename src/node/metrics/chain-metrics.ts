import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { ChainSource, ChainStatus } from "../../engine/index.ts";
import { equalBytes, toHexUpper } from "../../util/index.ts";
import type { VersionWatch } from "../../util/servers/index.ts";

/** Figures that are read on request. */
interface Reading {
  readonly name: string;
  readonly help: string;
  readonly value: (state: State) => number | undefined;
}

/** Facts of an engine that does not answer are undefined, and keep their last figures. */
interface State extends ChainStatus {
  readonly waiting: { readonly txs: number; readonly bytes: number } | undefined;
  readonly peers: number | undefined;
}

const READINGS: readonly Reading[] = [
  { name: "consensus_height", help: "Height of the latest block", value: ({ height }) => Number(height) },
  { name: "consensus_latest_block_height", help: "Height of the latest block", value: ({ height }) => Number(height) },
  { name: "consensus_validators", help: "Number of validators", value: ({ validators }) => validators.length },
  { name: "consensus_validators_power", help: "Voting power of all validators", value: totalPower },
  { name: "consensus_missing_validators", help: "Validators that did not sign the latest block", value: missing },
  { name: "consensus_num_txs", help: "Transactions of the latest block", value: ({ latest }) => latest?.txCount ?? 0 },
  { name: "consensus_block_size_bytes", help: "Size of the latest block", value: ({ latest }) => latest?.size ?? 0 },
  { name: "blocksync_syncing", help: "Whether the node catches up", value: ({ catchingUp }) => Number(catchingUp) },
  { name: "mempool_size", help: "Transactions that wait for a block", value: ({ waiting }) => waiting?.txs },
  { name: "mempool_size_bytes", help: "Bytes of the waiting transactions", value: ({ waiting }) => waiting?.bytes },
  { name: "p2p_peers", help: "Number of peers", value: ({ peers }) => peers },
];

/** Flag of a validator without a signature in a commit. */
const ABSENT = 1;
/** Before the names, as in CometBFT. */
const NAMESPACE = "cometbft";
const NANOS = 1e9;
/** Shorter than Prometheus waits. */
const MAX_ENGINE_MS = 2_000;
/** Seconds between blocks. */
const INTERVALS = [0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 30, 60];

/** Metrics of a node as a server sends them. */
export interface ChainMetrics {
  readonly contentType: string;
  /** All metrics now. */
  text(): Promise<string>;
  /** Ends their collection. */
  stop(): void;
}

/** Sources of the figures. */
export interface Measured {
  readonly chain: ChainSource;
  /** Undefined = newer versions are not asked for. */
  readonly watch?: Pick<VersionWatch, "newer"> | undefined;
}

/** The metrics of a chain, and of this process. */
export function chainMetrics({ chain, watch }: Measured): ChainMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ chain_id: chain.genesis.chainId });
  collectDefaultMetrics({ register: registry });
  const read = addReadings(chain, registry);
  const stop = addBlocks(chain, registry);
  if (watch !== undefined) addNewer(watch, registry);
  const text = async () => {
    await read();
    return registry.metrics();
  };
  return { contentType: registry.contentType, text, stop };
}

/** Not among the figures of CometBFT, so without its name in front. */
function addNewer(watch: Pick<VersionWatch, "newer">, registry: Registry): void {
  const help = "Whether the network publishes a newer version than the one that runs";
  const collect = function (this: Gauge): void {
    this.set(Number(watch.newer));
  };
  registry.registerMetric(new Gauge({ name: "svc_newer_version", help, registers: [], collect }));
}

/** Adds the gauges; returns the function that sets them. */
function addReadings(chain: ChainSource, registry: Registry): () => Promise<void> {
  const gauges = READINGS.map(({ value, ...row }) => ({ value, gauge: gaugeOf(registry, row) }));
  const power = { name: "consensus_validator_power", help: "Voting power of the node's validator" };
  const own = gaugeOf(registry, power, ["validator_address"]);
  const { address } = chain.validator;
  return async () => {
    const [waiting, net] = await Promise.all([
      inTime(async () => chain.mempool.size()),
      inTime(async () => chain.ask?.("net_info", {}) ?? { n_peers: 0 }),
    ]);
    const state = { ...(await chain.status()), waiting, peers: net && Number(net.n_peers ?? 0) };
    for (const { value, gauge } of gauges) {
      const figure = value(state);
      if (figure !== undefined) gauge.set(figure);
    }
    const voter = state.validators.find((each) => equalBytes(each.address, address));
    own.set({ validator_address: toHexUpper(address) }, Number(voter?.power ?? 0n));
  };
}

/** Undefined for an engine that does not answer: it is away, or hangs. */
function inTime<T>(ask: () => Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), MAX_ENGINE_MS).unref();
  });
  return Promise.race([ask().catch(() => undefined), late]);
}

function gaugeOf(registry: Registry, row: Pick<Reading, "name" | "help">, labelNames: string[] = []): Gauge {
  return new Gauge({ name: `${NAMESPACE}_${row.name}`, help: row.help, labelNames, registers: [registry] });
}

/** Counts the blocks that come from now on. */
function addBlocks(chain: ChainSource, registry: Registry): () => void {
  const registers = [registry];
  const total = { name: "consensus_total_txs", help: "Transactions in blocks since the node started" };
  const txs = gaugeOf(registry, total);
  txs.set(0);
  const interval = new Histogram({
    name: `${NAMESPACE}_consensus_block_interval_seconds`,
    help: "Time between a block and the one before, in seconds",
    buckets: INTERVALS,
    registers,
  });
  let last: bigint | undefined;
  return chain.events.listen(({ block: { header, txs: included } }) => {
    txs.inc(included.length);
    if (last !== undefined) interval.observe(Number(header.time - last) / NANOS);
    last = header.time;
  });
}

function totalPower({ validators }: State): number {
  return Number(validators.reduce((sum, { power }) => sum + power, 0n));
}

function missing({ latest }: State): number {
  return latest?.commit.signatures.filter(({ flag }) => flag === ABSENT).length ?? 0;
}
