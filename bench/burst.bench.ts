/**
 * A thousand orders at once, one in twenty cancelled, against a provider in this process on a cluster in memory; the
 * node is a separate process. Then leases of half of them, with manifests, and the memory that they take.
 *
 *   npm run bench -- burst [orders] [leases]
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { sendTx } from "../src/client/index.ts";
import { chainView } from "../src/provider/chain.ts";
import { testKey } from "../src/testing/index.ts";
import { NATIVE_DENOM } from "../src/util/index.ts";
import { MsgCreateLeaseSchema } from "../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { packAny } from "../src/wire/index.ts";
import { Fixture, pause, startNode, waitFor } from "../test/support/index.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../test/support/provider/daemon.ts";
import { sampleDeployment } from "../test/support/provider/deployment.ts";
import { orderBurst } from "../test/support/provider/orders/burst.ts";
import { Report } from "./lib/report.ts";

const BLOCK_MS = 2_000;
const CANCEL_EVERY = 20;
const MOST_BLOCKS = 60;
const MOST_STALL_MS = 100;
const BATCH = 20;
const MIB = 1 << 20;
/** The gateway accepts this many requests per second from a tenant. */
const MANIFESTS_A_SECOND = 15;

const [orders = 1_000, wantedLeases = 500] = process.argv.slice(2).map(Number);
const fixture = new Fixture();
try {
  const [alice, bob] = [testKey("alice"), testKey("bob")];
  const coins = [{ denom: NATIVE_DENOM, amount: 10n ** 13n }];
  const node = await startNode(fixture, {
    blockIntervalMs: BLOCK_MS,
    checkInvariants: false,
    accounts: [alice, bob].map(({ address }) => ({ address, coins })),
  });
  const client = node.client();
  fixture.defer(() => client.close());
  const url = node.address.replace("tcp:", "http:");
  const market = await testMarketplace({ url, key: (name) => (name === "alice" ? alice : bob) });
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-bench-burst-")));
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 }, cores: orders });
  fixture.defer(() => daemon.stop());
  await daemon.start();
  const method =
    `${orders} orders in transactions of 20, one in ${CANCEL_EVERY} cancelled in the block after; the node in a process of ` +
    `its own with a block every ${BLOCK_MS} ms; the daemon in the measuring process on a cluster in memory. Memory: after ` +
    "collections of garbage, the cluster's simulated replicas included.";
  const report = new Report("burst", method);
  const before = await memory();

  const stall = monitorEventLoopDelay({ resolution: 5 });
  stall.enable();
  const tenant = { address: bob.address, publicKey: bob.publicKey, sign: async (bytes: Uint8Array) => bob.sign(bytes) };
  const burst = {
    url,
    tenant,
    provider: alice.address,
    orders,
    cancelEvery: CANCEL_EVERY,
    mostBlocks: 10 * MOST_BLOCKS,
  };
  const { wanted, bidOn, blocks, failed } = await orderBurst(burst);
  stall.disable();
  if (bidOn !== wanted) throw new Error(`${bidOn} of ${wanted} orders were bid on`);
  report.add({
    name: "blocks until every order has a bid",
    unit: "blocks",
    samples: [blocks],
    target: { atMost: MOST_BLOCKS },
  });
  report.add({ name: "transactions of the provider that failed", unit: "", samples: [failed] });
  const longest = stall.max / 1e6;
  report.add({
    name: "longest stall of the daemon",
    unit: "ms",
    samples: [longest],
    target: { atMost: MOST_STALL_MS },
  });
  report.add({ name: "99th percentile of stalls", unit: "ms", samples: [stall.percentile(99) / 1e6] });
  report.add({ name: "memory before", unit: "MiB", samples: [before] });
  report.add({ name: "memory after the burst", unit: "MiB", samples: [await memory()] });

  const bids = (await chainView(client.query).openBids(alice.address)).slice(0, wantedLeases);
  for (let at = 0; at < bids.length; at += BATCH) {
    const batch = bids.slice(at, at + BATCH).map(({ id }) => packAny(MsgCreateLeaseSchema, { bidId: id }));
    const { code, rawLog } = await sendTx(client, tenant, batch, { gas: 500_000n * BigInt(batch.length) });
    if (code !== 0) throw new Error(rawLog);
  }
  const gateway = daemon.gateway();
  const { manifest } = sampleDeployment();
  for (const { id } of bids) {
    await waitFor(() => gateway.sendManifest(id.dseq, manifest).then(() => true), `the manifest of ${id.dseq}`);
    await pause(1_000 / MANIFESTS_A_SECOND);
  }
  await pause(10_000);
  report.add({ name: `memory with ${bids.length} leases`, unit: "MiB", samples: [await memory()] });
  report.save();
} finally {
  await fixture.close();
}

/** Resident memory of this process, in MiB. */
async function memory(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc?.();
    await pause(200);
  }
  return process.memoryUsage().rss / MIB;
}
