/**
 * Balance queries a second (JSON-RPC `abci_query` of one balance, decoded by nobody) against a real node process, from a
 * second process on the same cores, at several numbers of connections.
 *
 *   npm run bench -- queries [runs] [seconds] [accounts]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { NATIVE_DENOM, toHex } from "../src/util/index.ts";
import { Query as BankQuery } from "../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { encodeMessage, methodPath } from "../src/wire/index.ts";
import { Fixture } from "../test/support/index.ts";
import { startBenchNode } from "./lib/bench-node.ts";
import { Connection, request } from "./lib/connection.ts";
import { cpuOfProcess } from "./lib/cpu.ts";
import { loadKeys } from "./lib/load-accounts.ts";
import { Report } from "./lib/report.ts";

const CONNECTIONS = [1, 16, 64];

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly accounts: number;
}

interface Answers {
  readonly count: number;
  readonly seconds: number;
}

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));

async function measure(): Promise<void> {
  const [runs = 5, seconds = 3, accounts = 10_000] = process.argv.slice(2).map(Number);
  const method =
    `abci_query of the balance of one of ${accounts} accounts after the other, for ${seconds} s; node and loader are two ` +
    "processes on the same cores, blocks every second; each connection waits for its answer.";
  const report = new Report("queries", method);
  const fixture = new Fixture();
  try {
    const node = await startBenchNode(
      fixture,
      loadKeys(accounts).map(({ address }) => address),
    );
    for (const connections of CONNECTIONS) {
      const rates: number[] = [];
      const costs: number[] = [];
      for (let run = 0; run < runs; run++) {
        const before = cpuOfProcess(node.process.pid);
        const { count, seconds: taken } = await runLoader({ port: node.port, connections, seconds, accounts });
        rates.push(count / taken);
        costs.push((cpuOfProcess(node.process.pid) - before) / count);
      }
      report.add({ name: `balance queries, ${connections} connections`, unit: "1/s", samples: rates });
      report.add({ name: `CPU of the node a query, ${connections} connections`, unit: "ms", samples: costs });
    }
    report.save();
  } finally {
    await fixture.close();
  }
}

async function runLoader(load: Load): Promise<Answers> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(load)]);
  const [answers] = (await once(child, "message")) as [Answers];
  return answers;
}

async function loader({ port, connections, seconds, accounts }: Load): Promise<void> {
  const requests = loadKeys(accounts).map(({ address }) => {
    const data = encodeMessage(
      BankQuery.method.balance.input,
      create(BankQuery.method.balance.input, { address, denom: NATIVE_DENOM }),
    );
    const params = { path: methodPath(BankQuery.method.balance), data: toHex(data), height: "0", prove: false };
    return request("abci_query", params);
  });
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const started = performance.now();
  const end = started + seconds * 1000;
  const counts = await Promise.all(open.map((connection, i) => askUntil(connection, requests, { end, from: i * 131 })));
  const taken = (performance.now() - started) / 1000;
  for (const connection of open) connection.close();
  process.send?.({ count: counts.reduce((total, count) => total + count, 0), seconds: taken });
}

async function askUntil(
  connection: Connection,
  requests: readonly Buffer[],
  { end, from }: { readonly end: number; readonly from: number },
): Promise<number> {
  let count = 0;
  while (performance.now() < end) {
    const bytes = requests[(from + count) % requests.length];
    if (bytes === undefined) throw new Error("there are no accounts");
    const answer = await connection.ask(bytes);
    if (!answer.includes('"code":0')) throw new Error(`a query was refused: ${answer}`);
    count += 1;
  }
  return count;
}
