import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { accountInfo, type ChainClient } from "../../src/client/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { Query as BankQuery } from "../../src/wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Fixture, pause, type Rng, seedFrom, startNode, type TestNode, waitFor } from "../support/index.ts";
import { auditChain } from "./audit.ts";
import { type Acknowledged, ClientLog } from "./client-log.ts";
import { amountOf, FEE, type Lane, makeLanes } from "./lanes.ts";
import { Loader } from "./loader.ts";

const KILLS = Number(process.env.SVC_TEST_NODE_KILLS ?? 4);
const RATE = 100;
const LANES = 25;
const BLOCK_MS = 150;
const START_BALANCE = 10n ** 12n;
/** Expected share of the transfers per second. */
const SHARE = 0.25;
const TIMEOUT_MS = 60_000 + KILLS * 20_000;

const fixture = new Fixture();
afterAll(() => fixture.close());

describe(`a node killed ${KILLS} times while ${RATE} transfers a second come in`, { timeout: TIMEOUT_MS }, () => {
  it("keeps everything that it has reported to be in a block", async () => {
    const rng = seedFrom("SVC_TEST_SEED");
    const chainId = "svc-kill-1";
    const lanes = makeLanes(chainId, LANES, Math.ceil((KILLS * RATE * 2) / LANES));
    const coins = [{ denom: NATIVE_DENOM, amount: START_BALANCE }];
    const accounts = lanes.map(({ key }) => ({ address: key.address, coins }));
    const node = await startNode(fixture, { chainId, blockIntervalMs: BLOCK_MS, accounts });
    const log = new ClientLog(join(fixture.folder, "client.log"));
    let checked = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      await loadUntilKilled(node, { lanes, log, rng, least: (kill + 1) * RATE * SHARE });
      const height = await node.start();
      expect(height, `height after kill ${kill + 1}`).toBeGreaterThanOrEqual(log.height);
      await expectThere(node, log.entries.slice(checked));
      checked = log.entries.length;
    }
    await expectThere(node, log.entries);
    const told = await balancesAndSequences(node, lanes);
    expect(await node.process.stop()).toBe(0);

    const chain = auditChain(node.home);
    const changed = log.entries.filter(({ hash, height }) => chain.heights.get(hash) !== height);
    expect(changed, "acknowledged transfers that are not in their block").toEqual([]);
    expect(chain.succeeded).toBe(chain.heights.size);
    expect(told).toEqual(expectedBalances(lanes, told.sequences));
    expect(sum(told.sequences)).toBe(BigInt(chain.heights.size));
    console.log(
      `${KILLS} kills, ${chain.height} blocks, ${chain.heights.size} transfers, ${log.entries.length} acknowledged`,
    );
  });
});

interface Load {
  readonly lanes: readonly Lane[];
  readonly log: ClientLog;
  readonly rng: Rng;
  /** Transfers that must have been acknowledged before the kill, or it would not be under the load that this test names. */
  readonly least: number;
}

/** Half of the kills come at any moment, half around the moment at which the next block is made. */
async function loadUntilKilled(node: TestNode, { lanes, log, rng, least }: Load): Promise<void> {
  const client = node.client();
  const loader = new Loader(client, lanes);
  const listening = log.listen(client);
  const sending = loader.run(RATE);
  await pause(rng.between(300, 1800));
  await waitFor(() => log.entries.length >= least, `${least} acknowledged transfers`, { pollMs: 10 });
  if (rng.next() < 0.5) await untilNextBlock(client, rng.between(-15, 15));
  loader.stop();
  await node.process.kill();
  client.close();
  await Promise.all([listening, sending]);
  expect(loader.refusals).toEqual([]);
}

async function untilNextBlock(client: ChainClient, offsetMs: number): Promise<void> {
  for await (const item of client.socket().subscribe("tm.event='NewBlockHeader'")) if (item.kind === "event") break;
  await pause(Math.max(0, BLOCK_MS + offsetMs));
}

/** Asks the node for each of these transfers, by its hash. */
async function expectThere(node: TestNode, entries: readonly Acknowledged[]): Promise<void> {
  const client = node.client();
  try {
    const calls = entries.map(({ hash }) => ({
      method: "tx",
      params: { hash: Buffer.from(hash, "hex").toString("base64") },
    }));
    const answers = (await client.rpc.batch(calls)) as { height?: string; tx_result?: { code: number } }[];
    const lost = entries.filter(
      ({ height }, i) => answers[i]?.height !== `${height}` || answers[i].tx_result?.code !== 0,
    );
    expect(lost, "acknowledged transfers that the node no longer has").toEqual([]);
  } finally {
    client.close();
  }
}

interface Told {
  readonly balances: readonly bigint[];
  readonly sequences: readonly bigint[];
}

async function balancesAndSequences(node: TestNode, lanes: readonly Lane[]): Promise<Told> {
  const client = node.client();
  try {
    // Whatever still waits in the mempool goes into the next blocks.
    for (let waiting = true; waiting; await pause(BLOCK_MS)) {
      const { total } = (await client.rpc.call("num_unconfirmed_txs")) as { total: string };
      waiting = total !== "0";
    }
    const balances: bigint[] = [];
    const sequences: bigint[] = [];
    for (const { key } of lanes) {
      const { balance } = await client.query.call(BankQuery.method.balance, {
        address: key.address,
        denom: NATIVE_DENOM,
      });
      balances.push(BigInt(balance?.amount ?? "0"));
      sequences.push((await accountInfo(client.query, key.address)).sequence);
    }
    return { balances, sequences };
  } finally {
    client.close();
  }
}

/** Expected balances when each lane has sent its transfers up to its sequence, each once. */
function expectedBalances(lanes: readonly Lane[], sequences: readonly bigint[]): Told {
  const sent = sequences.map((count) => sum(Array.from({ length: Number(count) }, (_, i) => amountOf(BigInt(i)))));
  const balances = lanes.map((_, i) => {
    const received = sent[(i + lanes.length - 1) % lanes.length] ?? 0n;
    return START_BALANCE - (sent[i] ?? 0n) - (sequences[i] ?? 0n) * FEE + received;
  });
  return { balances, sequences };
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
