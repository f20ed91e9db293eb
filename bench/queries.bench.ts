/**
 * Balance queries a second against a real node process over JSON-RPC (`abci_query`), REST and gRPC, from a second process on
 * the same cores, at several numbers of connections; the same work against the ecosystem's reference node in the same run.
 * Without Go to build that node, its rows are left out. Over gRPC there is a bare server of `node:http2` beside them, which gives
 * every call the same answer. `BENCH_BEFORE=<dist/svc.cjs of another checkout>` adds the node of an
 * earlier build, over JSON-RPC.
 *
 *   npm run bench -- queries [runs] [seconds] [accounts]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { fileURLToPath } from "node:url";
import { buildPeer } from "../test/interop/peers.ts";
import { startSimdChain } from "../test/interop/simd-chain.ts";
import { Fixture, svcOk } from "../test/support/index.ts";
import { type BenchPorts, startBenchNode } from "./lib/bench-node.ts";
import { cpuOfProcess } from "./lib/cpu.ts";
import { loadKeys } from "./lib/load-accounts.ts";
import { addressesOf, INTERFACES, type Interface, type Load, runLoad } from "./lib/queries.ts";
import { Report } from "./lib/report.ts";
import { median } from "./lib/stats.ts";

const CONNECTIONS = [1, 16, 64];
const PEER_BALANCE = "1000000000000";
/** The measured speed over the reference node's, and over an earlier build's. */
const TARGET = { atLeast: 2 };
const TARGET_BEFORE = { atLeast: 1 };

const BARE = "node:http2";
/** Bytes of a balance. */
const ANSWER_BYTES = 25;

/** A node under load. */
interface Queried extends BenchPorts {
  readonly interfaces: readonly Interface[];
  /** An earlier build of ours. */
  readonly isEarlier: boolean;
  readonly name: string;
  readonly pid: number;
  readonly prefix: string;
  readonly denom: string;
}

interface Answers {
  readonly count: number;
  readonly seconds: number;
}

if (process.send === undefined) await measure();
else if (process.argv[2] === BARE) serveBare();
else process.send(await runLoad(JSON.parse(process.argv[2] ?? "{}")));

async function measure(): Promise<void> {
  const [runs = 3, seconds = 3, accounts = 10_000] = process.argv.slice(2).map(Number);
  const method =
    `Balance of one of ${accounts} accounts after the other, for ${seconds} s, by the same loader against each node in turn; ` +
    "node and loader are two processes on the same cores, blocks every second; each connection waits for its answer (gRPC: " +
    "as many calls at a time over one connection).";
  const report = new Report("queries", method);
  const fixture = new Fixture();
  try {
    const nodes = [await ownNode(fixture, accounts), ...(await peerNode(fixture, accounts))];
    const { BENCH_BEFORE: before } = process.env;
    if (before !== undefined) nodes.push(await ownNode(fixture, accounts, before));
    nodes.push(await bareServer(fixture));
    for (const kind of INTERFACES)
      for (const connections of CONNECTIONS) {
        const asked = nodes.filter(({ interfaces }) => interfaces.includes(kind));
        const measured = asked.map((node) => ({ node, rates: [] as number[], costs: [] as number[] }));
        for (let run = 0; run < runs; run++)
          for (const { node, rates, costs } of measured) {
            const { rate, cpuMs } = await askFor(node, { kind, connections, seconds, accounts });
            rates.push(rate);
            costs.push(cpuMs);
          }
        reportRow(report, `${kind}, ${connections} connections`, measured);
      }
    report.save();
  } finally {
    await fixture.close();
  }
}

interface Measured {
  readonly node: Queried;
  readonly rates: readonly number[];
  readonly costs: readonly number[];
}

function reportRow(report: Report, title: string, measured: readonly Measured[]): void {
  for (const { node, rates, costs } of measured) {
    report.add({ name: `${node.name}: balance queries, ${title}`, unit: "1/s", samples: rates });
    report.add({ name: `${node.name}: CPU of the node a query, ${title}`, unit: "ms", samples: costs });
  }
  const [own, ...others] = measured;
  if (own === undefined) return;
  for (const { node, rates } of others) {
    if (node.name === BARE) continue;
    const samples = [median(own.rates) / median(rates)];
    const target = node.isEarlier ? TARGET_BEFORE : TARGET;
    report.add({ name: `${own.node.name} over ${node.name}: ${title}`, unit: "x", samples, target });
  }
}

async function ownNode(fixture: Fixture, accounts: number, main?: string): Promise<Queried> {
  const addresses = loadKeys(accounts).map(({ address }) => address);
  const node = await startBenchNode(fixture, addresses, main === undefined ? {} : { main });
  // It ends by itself, so that it can leave its profile.
  fixture.defer(() => node.process.stop());
  const { port, restPort, grpcPort } = node;
  const version = main === undefined ? "" : ` ${(await svcOk(["version"], { main })).trim()}`;
  const ports = { port, restPort, grpcPort };
  return {
    name: `svc${version}`,
    pid: node.process.pid,
    prefix: "svc",
    denom: "utoken",
    isEarlier: main !== undefined,
    interfaces: main === undefined ? INTERFACES : ["abci_query"],
    ...ports,
  };
}

/** The reference node with the same accounts, or nothing and the reason if it cannot be built. */
async function peerNode(fixture: Fixture, accounts: number): Promise<Queried[]> {
  const peer = await buildPeer("simd53");
  if ("missing" in peer) {
    console.error(`left out: simd53: ${peer.missing}`);
    return [];
  }
  const prefix = "peer";
  const chain = await startSimdChain(peer, {
    prefix,
    blockTimeMs: 1000,
    finishGenesis: ({ app_state: { bank, ...state } }) => {
      if (bank === undefined) throw new Error(`there is no bank in ${Object.keys(state)}`);
      const coins = [{ denom: "stake", amount: PEER_BALANCE }];
      const added = addressesOf(accounts, prefix).map((address) => ({ address, coins }));
      bank.balances = [...(bank.balances as unknown[]), ...added];
      // Without a supply, it is the sum of the balances.
      bank.supply = [];
    },
  });
  fixture.defer(() => chain.stop());
  const [port, restPort] = [chain.url, chain.api].map((url) => Number(new URL(url).port));
  const ports = { port: port ?? 0, restPort: restPort ?? 0, grpcPort: chain.grpcPort };
  return [
    { name: "simd53", pid: chain.pid, prefix, denom: "stake", isEarlier: false, interfaces: INTERFACES, ...ports },
  ];
}

/** A server of the protocol in Node.js without any of our code. */
async function bareServer(fixture: Fixture): Promise<Queried> {
  const child = fork(fileURLToPath(import.meta.url), [BARE]);
  fixture.defer(() => void child.kill());
  const [grpcPort] = (await once(child, "message")) as [number];
  const parts = { prefix: "svc", denom: "utoken", isEarlier: false, interfaces: ["gRPC"] as const };
  return { ...parts, name: BARE, pid: child.pid ?? 0, port: 0, restPort: 0, grpcPort };
}

function serveBare(): void {
  const answer = Buffer.concat([Buffer.from([0, 0, 0, 0, ANSWER_BYTES]), Buffer.alloc(ANSWER_BYTES)]);
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.resume();
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    process.send?.(typeof address === "object" ? address?.port : 0);
  });
}

async function askFor(
  { pid, prefix, denom, ...ports }: Queried,
  load: Omit<Load, "port" | "prefix" | "denom">,
): Promise<{ rate: number; cpuMs: number }> {
  const port = portOf(ports, load.kind);
  const before = cpuOfProcess(pid);
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ ...load, port, prefix, denom })]);
  const ended = once(child, "exit").then(() => {
    throw new Error("the loader ended without figures");
  });
  const [{ count, seconds }] = (await Promise.race([once(child, "message"), ended])) as [Answers];
  return { rate: count / seconds, cpuMs: (cpuOfProcess(pid) - before) / count };
}

function portOf({ port, restPort, grpcPort }: BenchPorts, kind: Interface): number {
  return { abci_query: port, REST: restPort, gRPC: grpcPort }[kind];
}
