/**
 * The floor of a bank send: processor time that bare Node.js needs for the same requests over HTTP, native signature checks, hashes,
 * compressed results and rows of LMDB, without any of our code; one and fifty in a transaction, beside the node.
 *
 *   npm run bench -- floor [rounds] [transfers]
 */
import { fork } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { open } from "lmdb";
import { Fixture, freePorts } from "../test/support/index.ts";
import { Connection } from "./lib/connection.ts";
import { cpuOfProcess } from "./lib/cpu.ts";
import { cpuOfNode, loadOf, ownNode, PHASES, type Transfers } from "./lib/own-node.ts";
import { Report } from "./lib/report.ts";
import { loader, sendAll, signAll } from "./lib/sends.ts";

/** Rows of a transaction in a block of hundreds, as the node writes them: how many, bytes of a key and of a value. */
const ROWS = {
  1: { state: [2.84, 27, 27], old: [2.84, 40, 27], txs: [1, 16, 12], terms: [8.2, 18, 4], result: 1_750 },
  50: { state: [2.4, 27, 30], old: [2.4, 40, 27], txs: [1, 16, 12], terms: [10.6, 18, 20], result: 55_000 },
} as const;
const BINARY = { keyEncoding: "binary", encoding: "binary" } as const;
const TABLES = ["state", "old", "txs", "terms"] as const;
/** Hashes of a changed row of the state: its key, its value and its part of the tree's nodes. */
const ROW_HASHES = 4;
/** Hashes of a transaction besides: its own, what was signed, and the trees of transactions and results. */
const TX_HASHES = 6;
/** Transactions whose results are compressed together. */
const GROUP = 32;

const [role, argument = "{}"] = process.argv.slice(2);
if (process.send === undefined) await measure();
else if (role === "floor") serve(JSON.parse(argument));
else await loader(JSON.parse(role ?? "{}"));

async function measure(): Promise<void> {
  const [rounds = 3, transfers = 6_000] = process.argv.slice(2).map(Number);
  const method = `${transfers} bank sends on a fresh process (cold) and as many again (warm), the least of ${rounds} rounds in turn`;
  const report = new Report("floor", method);
  for (const messages of [1, 50] as const) {
    const least = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      for (const [name, run] of [
        ["bare Node.js", bare],
        ["svc", ours],
      ] as const) {
        for (const [i, cpuMs] of (await run({ messages, transfers })).entries()) {
          const key = `${name}: CPU of a send, ${messages} in a transaction, ${PHASES[i]}`;
          least.set(key, Math.min(least.get(key) ?? Number.POSITIVE_INFINITY, cpuMs));
        }
      }
    }
    for (const [name, ms] of least) report.add({ name, unit: "ms", samples: [ms] });
  }
  report.save();
}

function ours(each: Transfers): Promise<number[]> {
  return cpuOfNode(ownNode(), each, fileURLToPath(import.meta.url));
}

async function bare(each: Transfers): Promise<number[]> {
  const fixture = new Fixture();
  const [port = 0] = await freePorts(1);
  const floor = JSON.stringify({ folder: fixture.tempHome(), port, messages: each.messages });
  const child = fork(fileURLToPath(import.meta.url), ["floor", floor]);
  fixture.defer(() => child.kill());
  try {
    await once(child, "message");
    const taken: number[] = [];
    for (const phase of PHASES.keys()) {
      const requests = signAll({ ...loadOf(each, phase), port }, 1n);
      const connections = await Promise.all(requests.map(() => Connection.open(port)));
      const before = cpuOfProcess(child.pid ?? 0);
      await Promise.all(connections.map((connection, i) => sendAll(connection, requests[i] ?? [])));
      child.send("commit");
      await once(child, "message");
      taken.push((cpuOfProcess(child.pid ?? 0) - before) / each.transfers);
      for (const connection of connections) connection.close();
    }
    return taken;
  } finally {
    await fixture.close();
  }
}

/** The bare node: a block a second, and one when it is told. */
function serve(floor: { readonly folder: string; readonly port: number; readonly messages: 1 | 50 }): void {
  const rows = ROWS[floor.messages];
  const secp256k1: typeof import("secp256k1") = createRequire(import.meta.url)("secp256k1/bindings");
  const [key, signed] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const publicKey = secp256k1.publicKeyCreate(key, true);
  const { signature } = secp256k1.ecdsaSign(signed, key);
  const root = open(floor.folder, { ...BINARY, overlappingSync: false });
  const tables = TABLES.map((name) => root.openDB({ name, ...BINARY }));
  const blocks = root.openDB({ name: "blocks", ...BINARY });
  const waiting: Buffer[] = [];
  const sha256 = (data: Uint8Array) => hash("sha256", data, "buffer");

  function commit(): void {
    const txs = waiting.splice(0);
    root.transactionSync(() => {
      for (const [i, name] of TABLES.entries()) {
        const [count, keyBytes, valueBytes] = rows[name];
        for (let row = 0; row < txs.length * count; row++)
          tables[i]?.putSync(randomBytes(keyBytes), randomBytes(valueBytes));
      }
      for (let i = 0; i < txs.length * (rows.state[0] * ROW_HASHES + rows.terms[0] + TX_HASHES); i++)
        sha256(randomBytes(64));
      for (let i = 0; i < txs.length; i += GROUP) {
        const group = txs.slice(i, i + GROUP);
        blocks.putSync(randomBytes(12), Buffer.concat(group));
        const results = Buffer.concat(group.map((tx) => Buffer.alloc(rows.result, tx)));
        blocks.putSync(randomBytes(12), deflateRawSync(results, { level: 1 }));
      }
    });
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { id, params } = JSON.parse(Buffer.concat(chunks).toString());
      const tx = Buffer.from(params.tx, "base64");
      secp256k1.ecdsaVerify(signature, sha256(tx), publicKey);
      waiting.push(tx);
      const body = JSON.stringify({ jsonrpc: "2.0", id, result: { code: 0, hash: sha256(tx).toString("hex") } });
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length }).end(body);
    });
  });
  server.listen(floor.port, "127.0.0.1", () => process.send?.("ready"));
  setInterval(commit, 1_000);
  process.on("message", () => {
    commit();
    process.send?.("done");
  });
}

function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i + 4 <= length; i += 8) bytes.writeInt32LE((Math.random() * 2 ** 32) | 0, i);
  return bytes;
}
