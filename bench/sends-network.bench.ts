/**
 * Bank sends on networks of CometBFT, with one validator and with four on the same cores, beside the reference node with its built-in
 * CometBFT: committed and accepted sends a second, and processor time a send of all nodes together.
 *
 * The reference has application and engine in one process. Its application's part is its time less that of CometBFT under our
 * application in the same run. `BENCH_PROFILE=<folder>` leaves profiles of all nodes, which show it directly.
 *
 *   npm run bench -- sends-network [rounds] [sends with one validator] [sends with four]
 */
import { fileURLToPath } from "node:url";
import { testKey } from "../src/testing/index.ts";
import { buildPeer, Peer } from "../test/interop/peers.ts";
import { Fixture } from "../test/support/index.ts";
import { enginePid, startValidators } from "../test/support/validators.ts";
import { profiling } from "./lib/bench-node.ts";
import { type AppState, addAccounts } from "./lib/many-accounts.ts";
import { addressesOf } from "./lib/queries.ts";
import { Report } from "./lib/report.ts";
import { loader, measureSends, type Network, OWN } from "./lib/sends.ts";
import { startSimdNetwork } from "./lib/simd-network.ts";
import { median } from "./lib/stats.ts";

/** A transfer takes more gas there. */
const PEER: Network = { chainId: "simd-1", prefix: "peer", denom: "stake", namespace: "cosmos", gas: 120_000 };
const [ACCOUNTS, CONNECTIONS, BLOCK_MS, MEMPOOL_TXS] = [1_000, 32, 1_000, 50_000];
const TARGETS = { rate: { atLeast: 1.5 }, cpu: { atMost: 0.6 }, own: { atMost: 0.5 } } as const;

/** Processes of a network, and the port of JSON-RPC that takes the sends. */
interface Running {
  readonly network: Network;
  readonly port: number;
  /** Each with application and servers, and in the reference with the engine. */
  readonly nodes: readonly number[];
  readonly engines: readonly number[];
}

/** The samples of a network, one a round; processor time in milliseconds. */
interface Row {
  readonly name: string;
  readonly start: (fixture: Fixture, validators: number) => Promise<Running>;
  readonly rates: number[];
  readonly accepted: number[];
  readonly nodes: number[];
  readonly engines: number[];
}

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));

async function measure(): Promise<void> {
  const [rounds = 3, one = 20_000, four = 20_000] = process.argv.slice(2).map(Number);
  const sizes = [
    { validators: 1, sends: one, title: "one validator" },
    { validators: 4, sends: four, title: "four validators" },
  ];
  const report = new Report(
    "sends-network",
    `bank sends, ${one} to one validator and ${four} to one of four on the same cores, from ${ACCOUNTS} accounts, signed beforehand, ` +
      `over ${CONNECTIONS} connections (JSON-RPC broadcast_tx_sync, one at a time each); svc with CometBFT 0.38.26 as its child, ` +
      "simd53 with its built-in CometBFT 0.38.21; a fresh chain for each round, the networks in turn; timeout_commit of a second, no limit " +
      "on the gas of a block; committed sends over the time from the first to the last block that holds them; processor time of all " +
      "nodes of the network over the sends; the application's part of simd53 is its time less that of CometBFT under svc.",
  );
  for (const { validators, sends, title } of sizes.filter((size) => size.sends > 0)) {
    const rows = [rowOf("svc", startOwn), rowOf("simd53", startPeer)] as const;
    for (let round = 0; round < rounds; round++) for (const row of rows) await measureRow(row, validators, sends);
    reportRows(report, title, rows);
  }
  report.save();
}

function rowOf(name: string, start: Row["start"]): Row {
  return { name, start, rates: [], accepted: [], nodes: [], engines: [] };
}

async function measureRow({ start, rates, accepted, nodes, engines }: Row, validators: number, txs: number) {
  const fixture = new Fixture();
  try {
    const running = await start(fixture, validators);
    const { network, port } = running;
    const load = { ...network, port, txs, messages: 1, connections: CONNECTIONS, accounts: ACCOUNTS };
    const pids = [...running.nodes, ...running.engines];
    const { tps, cpuMs, load: taken } = await measureSends(fileURLToPath(import.meta.url), pids, load);
    const perSend = (part: readonly number[]) => part.reduce((total, each) => total + each, 0) / txs;
    rates.push(tps);
    accepted.push(txs / taken.seconds);
    nodes.push(perSend(cpuMs.slice(0, running.nodes.length)));
    engines.push(perSend(cpuMs.slice(running.nodes.length)));
  } finally {
    await fixture.close();
  }
}

function reportRows(report: Report, title: string, [own, peer]: readonly [Row, Row]): void {
  for (const { name, rates, accepted } of [own, peer]) {
    report.add({ name: `${name}: committed sends, ${title}`, unit: "1/s", samples: rates });
    report.add({ name: `${name}: accepted sends, ${title}`, unit: "1/s", samples: accepted });
  }
  report.add({ name: `svc: CPU of the application a send, ${title}`, unit: "ms", samples: own.nodes });
  report.add({ name: `svc: CPU of CometBFT a send, ${title}`, unit: "ms", samples: own.engines });
  report.add({ name: `simd53: CPU of both a send, ${title}`, unit: "ms", samples: peer.nodes });
  const [node, engine, theirs] = [own.nodes, own.engines, peer.nodes].map((samples) => median(samples));
  if (node === undefined || engine === undefined || theirs === undefined) return;
  const ratio = (value: number) => ({ unit: "x", samples: [value] });
  const beside = "svc over simd53";
  const rate = median(own.rates) / median(peer.rates);
  report.add({ name: `${beside}: committed sends, ${title}`, ...ratio(rate), target: TARGETS.rate });
  report.add({ name: `${beside}: CPU of both, ${title}`, ...ratio((node + engine) / theirs), target: TARGETS.cpu });
  const part = ratio(node / (theirs - engine));
  report.add({ name: `${beside}: CPU of the application, ${title}`, ...part, target: TARGETS.own });
}

async function startOwn(fixture: Fixture, count: number): Promise<Running> {
  const { binary: program } = await built("cometbft", fixture);
  const nodes = await startValidators(fixture, {
    ...{ count, chainId: OWN.chainId, program, account: testKey("alice"), blockIntervalMs: BLOCK_MS },
    flags: ["--log_level", "error", "--mempool.size", `${MEMPOOL_TXS}`],
    nodeFlags: profiling(),
    editGenesis: (genesis) => {
      Object.assign(genesis.consensus_params.block, { max_gas: "-1" });
      fund(genesis.app_state, OWN);
    },
  });
  const [first] = nodes;
  // V8 writes its profile when a process ends by itself.
  if (process.env.BENCH_PROFILE !== undefined) for (const node of nodes) fixture.defer(() => node.process.stop());
  return {
    network: OWN,
    port: Number(new URL(first?.address ?? "").port),
    nodes: nodes.map((node) => node.process.pid),
    engines: nodes.map((node) => enginePid(node, program)),
  };
}

async function startPeer(fixture: Fixture, count: number): Promise<Running> {
  const peer = await built("simd53", fixture);
  const { chainId, prefix } = PEER;
  const nodes = await startSimdNetwork(fixture, peer, {
    ...{ count, chainId, prefix, blockTimeMs: BLOCK_MS, mempoolTxs: MEMPOOL_TXS },
    finishGenesis: ({ app_state }) => fund(app_state, PEER),
  });
  return { network: PEER, port: nodes[0]?.port ?? 0, nodes: nodes.map(({ pid }) => pid), engines: [] };
}

function fund(state: AppState, network: Network): void {
  addAccounts(state, addressesOf(ACCOUNTS, network.prefix), network);
}

async function built(name: "cometbft" | "simd53", fixture: Fixture): Promise<Peer> {
  const peer = await buildPeer(name);
  if (!(peer instanceof Peer)) throw new Error(`${name}: ${peer.missing}`);
  fixture.defer(async () => peer.remove());
  return peer;
}
