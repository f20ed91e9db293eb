import { fork } from "node:child_process";
import { once } from "node:events";
import { create } from "@bufbuild/protobuf";
import { accountInfo, ChainClient } from "../../src/client/index.ts";
import { signTx, type TestKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM, toBase64 } from "../../src/util/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { decodeAddress, encodeAddress, type Namespace } from "../../src/wire/index.ts";
import { pause } from "../../test/support/index.ts";
import { Connection, request } from "./connection.ts";
import { cpuOfProcess } from "./cpu.ts";
import { loadKeys } from "./load-accounts.ts";

/** How a network spells its addresses, coins and types. */
export interface Network {
  readonly chainId: string;
  readonly prefix: string;
  readonly denom: string;
  readonly namespace: Namespace;
  /** Gas limit of a transaction, for each of its transfers. */
  readonly gas: number;
}

/** A chain of `startBenchNode`. A transfer uses a little less: the gas of a block counts what its transactions ask for. */
export const OWN: Network = {
  chainId: "svc-bench-1",
  prefix: "svc",
  denom: NATIVE_DENOM,
  namespace: "sdk",
  gas: 25_000,
};

const FEE = 500n;

export interface Load extends Network {
  readonly port: number;
  readonly txs: number;
  /** Transfers in each transaction. */
  readonly messages: number;
  readonly connections: number;
  readonly accounts: number;
  /** Transactions that each account has sent before; none unless given. */
  readonly sequence?: number;
}

export interface LoadResult {
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMs: number;
}

export interface Sent {
  /** Transactions a second, from the first to the last block that holds them. */
  readonly tps: number;
  readonly nodeCpuMs: number;
  /** Processor time of each process. */
  readonly cpuMs: readonly number[];
  readonly load: LoadResult;
}

/** Sends from a separate process, which runs `script`: the script must call `loader` with its first argument. */
export async function measureSends(script: string, pids: number | readonly number[], load: Load): Promise<Sent> {
  const child = fork(script, [JSON.stringify(load)]);
  const ended = once(child, "exit").then(() => {
    throw new Error("the loader ended without figures");
  });
  await Promise.race([once(child, "message"), ended]);
  const cpu = () => [pids].flat().map(cpuOfProcess);
  const cpuBefore = cpu();
  child.send("go");
  const [result] = (await Promise.race([once(child, "message"), ended])) as [LoadResult];
  const tps = await committedRate(load);
  const cpuMs = cpu().map((now, i) => now - (cpuBefore[i] ?? 0));
  const nodeCpuMs = cpuMs.reduce((total, each) => total + each, 0);
  console.log(
    `  ${tps.toFixed(0)} committed/s, accepted in ${result.seconds.toFixed(2)} s, node ${(nodeCpuMs / load.txs).toFixed(3)} ms CPU a transaction`,
  );
  return { tps, nodeCpuMs, cpuMs, load: result };
}

/** Waits until all are in blocks; returns their number over the time of these blocks. */
async function committedRate({ port, txs: wanted }: Load): Promise<number> {
  const client = new ChainClient(`tcp://127.0.0.1:${port}`);
  try {
    let height = 0n;
    let committed = 0;
    let first: bigint | undefined;
    while (committed < wanted) {
      const { latestHeight } = await client.node.status();
      for (; height < latestHeight; height++) {
        const { block } = (await client.rpc.call("block", { height: `${height + 1n}` })) as BlockAnswer;
        const count = block.data.txs?.length ?? 0;
        committed += count;
        if (count > 0) first ??= height + 1n;
      }
      await pause(200);
    }
    // A header carries the time at which the block before it was signed.
    const after = await headerTime(client, height + 1n);
    return (wanted * 1000) / (after - (await headerTime(client, first ?? 0n)));
  } finally {
    client.close();
  }
}

interface BlockAnswer {
  readonly block: { readonly header: { readonly time: string }; readonly data: { readonly txs: string[] | null } };
}

/** Milliseconds since 1970; waits for the block. */
async function headerTime(client: ChainClient, height: bigint): Promise<number> {
  while ((await client.node.status()).latestHeight < height) await pause(100);
  const { block } = (await client.rpc.call("block", { height: `${height}` })) as BlockAnswer;
  return Date.parse(block.header.time);
}

/** The second process: signs, reports that it is ready, sends on "go", and reports what it measured. */
export async function loader(load: Load): Promise<void> {
  const requests = signAll(load, await firstNumber(load));
  const connections = await Promise.all(requests.map(() => Connection.open(load.port)));
  process.send?.("ready");
  await once(process, "message");
  const cpu = process.cpuUsage();
  const started = performance.now();
  const latencies = await Promise.all(connections.map((connection, i) => sendAll(connection, requests[i] ?? [])));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - started) / 1000;
  for (const connection of connections) connection.close();
  process.send?.({ seconds, latenciesMs: latencies.flat(), cpuMs: (user + system) / 1000 });
}

/** All requests by connection; one account stays on one connection, so its sequences arrive in order. */
export function signAll(load: Load, first: bigint): Buffer[][] {
  const keys = loadKeys(load.accounts);
  const requests = Array.from({ length: load.connections }, (): Buffer[] => []);
  for (let i = 0; i < load.txs; i++) {
    const index = i % load.accounts;
    const sequence = (load.sequence ?? 0) + Math.floor(i / load.accounts);
    const tx = signOne(load, keys, { index, number: first + BigInt(index), sequence });
    requests[index % load.connections]?.push(request("broadcast_tx_sync", { tx: toBase64(tx) }));
  }
  return requests;
}

interface Sender {
  readonly index: number;
  readonly number: bigint;
  readonly sequence: number;
}

function signOne(load: Load, keys: readonly TestKey[], { index, number, sequence }: Sender): Uint8Array {
  const { messages: count, gas, denom, namespace } = load;
  const key = keyOf(keys, index);
  const amount = [{ denom, amount: "1" }];
  const messages = Array.from({ length: count }, (_, i) => {
    const toAddress = addressIn(load, keyOf(keys, (index * 7919 + 1 + i) % keys.length));
    return create(MsgSendSchema, { fromAddress: addressIn(load, key), toAddress, amount });
  });
  const signer = { key, accountNumber: number, sequence: BigInt(sequence) };
  const settings = { gas: BigInt(gas * count), fee: [{ denom, amount: FEE * BigInt(count) }], namespace };
  return signTx(load.chainId, messages, [signer], settings);
}

function keyOf(keys: readonly TestKey[], index: number): TestKey {
  const key = keys[index];
  if (key === undefined) throw new Error("there are no accounts");
  return key;
}

function addressIn({ prefix }: Network, { address }: TestKey): string {
  return encodeAddress(decodeAddress(address), "account", prefix);
}

/** Accounts of a genesis file have consecutive numbers. */
async function firstNumber(load: Load): Promise<bigint> {
  const client = new ChainClient(`tcp://127.0.0.1:${load.port}`, { namespace: load.namespace });
  try {
    return (await accountInfo(client.query, addressIn(load, keyOf(loadKeys(1), 0)))).accountNumber;
  } finally {
    client.close();
  }
}

export async function sendAll(connection: Connection, requests: readonly Buffer[]): Promise<number[]> {
  const latencies: number[] = [];
  for (const bytes of requests) {
    const sent = performance.now();
    const answer = await connection.ask(bytes);
    latencies.push(performance.now() - sent);
    if (!answer.includes('"code":0')) throw new Error(`a send was refused: ${answer}`);
  }
  return latencies;
}
