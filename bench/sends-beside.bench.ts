/**
 * Committed bank sends a second, one and fifty in a transaction, beside the ecosystem's reference node in the same run: the same
 * loader, the same genesis, a block a second, no limit on the gas of a block; processor time of the node and its disk.
 *
 * `BENCH_BEFORE=<dist/svc.cjs of other checkouts, with commas between>` adds nodes of earlier builds (tools/earlier.mjs makes them).
 *
 *   npm run bench -- sends-beside [runs] [connections] [accounts] [times the load]
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPeer } from "../test/interop/peers.ts";
import { startSimdChain } from "../test/interop/simd-chain.ts";
import { Fixture } from "../test/support/index.ts";
import { sizeOnDisk } from "./lib/disk.ts";
import { addAccounts } from "./lib/many-accounts.ts";
import { type LoadedNode, ownNode, type StartLoaded } from "./lib/own-node.ts";
import { addressesOf } from "./lib/queries.ts";
import { Report } from "./lib/report.ts";
import { loader, measureSends, type Network } from "./lib/sends.ts";
import { median } from "./lib/stats.ts";

const MIB = 2 ** 20;
const DISK_PER = 10_000;
/** A transfer takes more gas there. */
const PEER: Network = { chainId: "simd-1", prefix: "peer", denom: "stake", namespace: "cosmos", gas: 120_000 };
/** Transfers of a transaction, and of a run: 20,000 transactions of one, and 1,200 of fifty. */
const LOADS = [
  { messages: 1, transfers: 20_000 },
  { messages: 50, transfers: 60_000 },
] as const;
const TARGETS = { rate: { atLeast: 3 }, cpu: { atMost: 0.35 } } as const;

interface Work {
  readonly messages: number;
  readonly transfers: number;
  readonly connections: number;
  readonly accounts: number;
}

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));

async function measure(): Promise<void> {
  const [runs = 3, connections = 32, accounts = 1_000, times = 1] = process.argv.slice(2).map(Number);
  const loads = LOADS.map(({ messages, transfers }) => ({ messages, transfers: times * transfers }));
  const method =
    `${loads.map(({ messages, transfers }) => `${transfers} bank sends with ${messages} in a transaction`).join(", ")}, from ${accounts} accounts, signed beforehand, over ${connections} connections (JSON-RPC ` +
    "broadcast_tx_sync, one at a time each); node and loader are two processes on the same cores; a fresh chain for each run, " +
    "the nodes in turn; a block a second, no limit on its gas; committed sends over the time from the first to the last block " +
    "that holds them; disk is what the data of the node grew by.";
  const report = new Report(times === 1 ? "sends-beside" : "sends-beside-long", method);
  const earlier = (process.env.BENCH_BEFORE ?? "").split(",").filter((path) => path !== "");
  const before = earlier.map((main, i): [string, StartLoaded] => [`earlier build ${i + 1}`, ownNode(main)]);
  const nodes: [string, StartLoaded][] = [["svc", ownNode()], ...before, ...(await peers())];
  for (const load of loads) {
    const rows = nodes.map(([name, start]): Row => ({ name, start, rates: [], accepted: [], cpu: [], disk: [] }));
    for (let run = 0; run < runs; run++)
      for (const row of rows) await measureRow(row, { ...load, connections, accounts });
    reportRows(report, `${load.messages} in a transaction`, rows);
  }
  report.save();
}

/** The samples of a node, one a run. */
interface Row {
  readonly name: string;
  readonly start: StartLoaded;
  readonly rates: number[];
  readonly accepted: number[];
  readonly cpu: number[];
  readonly disk: number[];
}

function reportRows(report: Report, title: string, rows: readonly Row[]): void {
  for (const { name, rates, accepted, cpu, disk } of rows) {
    report.add({ name: `${name}: committed sends, ${title}`, unit: "1/s", samples: rates });
    report.add({ name: `${name}: accepted sends, ${title}`, unit: "1/s", samples: accepted });
    report.add({ name: `${name}: CPU of the node a send, ${title}`, unit: "ms", samples: cpu });
    report.add({ name: `${name}: disk of ${DISK_PER} sends, ${title}`, unit: "MiB", samples: disk });
  }
  const [own, ...others] = rows;
  const peer = others.find(({ start }) => start === peerNode);
  if (own === undefined || peer === undefined) return;
  const over = (pick: (row: Row) => readonly number[]) => ({
    unit: "x",
    samples: [median(pick(own)) / median(pick(peer))],
  });
  const beside = `${own.name} over ${peer.name}`;
  report.add({ name: `${beside}: committed sends, ${title}`, ...over(({ rates }) => rates), target: TARGETS.rate });
  report.add({ name: `${beside}: CPU of the node a send, ${title}`, ...over(({ cpu }) => cpu), target: TARGETS.cpu });
}

async function measureRow({ start, rates, accepted, cpu, disk }: Row, { transfers, ...work }: Work) {
  const fixture = new Fixture();
  try {
    const { network, pid, port, data } = await start(fixture, work.accounts);
    const before = sizeOnDisk(data);
    const load = { ...network, ...work, port, txs: Math.ceil(transfers / work.messages) };
    const { tps, nodeCpuMs, load: taken } = await measureSends(fileURLToPath(import.meta.url), pid, load);
    const sent = load.txs * work.messages;
    rates.push(tps * work.messages);
    accepted.push(sent / taken.seconds);
    cpu.push(nodeCpuMs / sent);
    disk.push(((sizeOnDisk(data) - before) / MIB) * (DISK_PER / sent));
  } finally {
    await fixture.close();
  }
}

/** The reference node, or nothing and the reason if it cannot be built. */
async function peers(): Promise<[string, StartLoaded][]> {
  const peer = await buildPeer("simd53");
  if ("missing" in peer) {
    console.error(`left out: simd53: ${peer.missing}`);
    return [];
  }
  peer.remove();
  return [["simd53", peerNode]];
}

async function peerNode(fixture: Fixture, accounts: number): Promise<LoadedNode> {
  const peer = await buildPeer("simd53");
  if ("missing" in peer) throw new Error(peer.missing);
  const chain = await startSimdChain(peer, {
    prefix: PEER.prefix,
    blockTimeMs: 1000,
    finishGenesis: ({ app_state }) => addAccounts(app_state, addressesOf(accounts, PEER.prefix), PEER),
  });
  fixture.defer(() => chain.stop());
  const { port } = new URL(chain.url);
  return { network: PEER, pid: chain.pid, port: Number(port), data: join(chain.home, "data") };
}
