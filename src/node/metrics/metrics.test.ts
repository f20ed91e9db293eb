import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { KvNetwork } from "../../../test/support/block-engine/network.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { embeddedSource } from "../../engine/index.ts";
import { silentLogger, toHexUpper } from "../../util/index.ts";
import { nodeConfig } from "../config.ts";
import { initHome } from "../home/init.ts";
import { type Node, startNode } from "../node.ts";
import { chainMetrics } from "./chain-metrics.ts";

let root = "";
let node: Node;
let url = "";

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "svc-metrics-"));
  const home = join(root, "home");
  initHome({ home, moniker: "measured", chainId: "svc-metrics-1" });
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "instrumentation.prometheus": "true",
    "instrumentation.prometheus-listen-addr": "tcp://127.0.0.1:0",
    "block-interval": "100ms",
  });
  node = await startNode({ home, config, logger: silentLogger, version: "v9.9.9" });
  url = node.addresses.metrics?.address ?? "";
  await waitFor(() => node.engine.blocks.height > 2n, "three blocks");
});

afterAll(async () => {
  await node.stop();
  rmSync(root, { recursive: true });
});

/** Status of a request, with the name of a host. */
function statusFor(host: string, method = "GET", path = "/metrics"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once("error", reject).end();
  });
}

describe("the metrics of a node", () => {
  it("have the names and the kinds that CometBFT gives them", async () => {
    const response = await fetch(`${url}/metrics`);
    const text = await response.text();
    expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
    const value = (name: string) =>
      Number(new RegExp(`^cometbft_${name}\\{.*chain_id="svc-metrics-1".*\\} (\\S+)$`, "m").exec(text)?.[1]);
    expect(value("consensus_height")).toBeGreaterThan(2);
    expect(value("consensus_latest_block_height")).toBe(value("consensus_height"));
    for (const name of ["consensus_validators", "consensus_validators_power", "consensus_validator_power"])
      expect([name, value(name)]).toEqual([name, expect.any(Number)]);
    expect(value("consensus_validators")).toBe(1);
    expect(text).toContain(`validator_address="${toHexUpper(node.chain.validator.address)}"`);
    expect(value("consensus_block_interval_seconds_count")).toBeGreaterThan(0);
    expect(value("consensus_block_size_bytes")).toBeGreaterThan(100);
    const zeros = ["consensus_num_txs", "consensus_total_txs", "consensus_missing_validators", "mempool_size"];
    for (const name of [...zeros, "mempool_size_bytes", "blocksync_syncing", "p2p_peers"])
      expect([name, value(name)]).toEqual([name, 0]);
    expect(text).toMatch(/^process_resident_memory_bytes\{/m);
  });

  it("are for those who ask this host, and nothing else is here", async () => {
    expect(await statusFor("localhost")).toBe(200);
    expect(await statusFor("evil.example")).toBe(403);
    expect(await statusFor("localhost", "POST")).toBe(405);
    expect(await statusFor("localhost", "GET", "/")).toBe(404);
  });
});

it("has the peers of an engine beside the node", async () => {
  const engine = new KvNetwork().engine();
  const metrics = chainMetrics({ chain: { ...embeddedSource(engine), ask: () => ({ n_peers: "3" }) } });
  expect(await metrics.text()).toContain('cometbft_p2p_peers{chain_id="kv-1"} 3\n');
  metrics.stop();
});

it("tells whether the network publishes a newer version, where it is asked", async () => {
  const chain = embeddedSource(new KvNetwork().engine());
  const [silent, told] = [chainMetrics({ chain }), chainMetrics({ chain, watch: { newer: true } })];
  expect(await silent.text()).not.toContain("newer_version");
  expect(await told.text()).toContain('svc_newer_version{chain_id="kv-1"} 1\n');
  for (const metrics of [silent, told]) metrics.stop();
});

it("answers while an engine beside the node is away or hangs", async () => {
  const source = embeddedSource(new KvNetwork().engine());
  const size = () => new Promise<never>(() => undefined);
  const ask = () => Promise.reject(new Error("away"));
  const metrics = chainMetrics({ chain: { ...source, mempool: { ...source.mempool, size }, ask } });
  vi.useFakeTimers();
  try {
    const text = metrics.text();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await text).toContain('cometbft_consensus_height{chain_id="kv-1"} 0\n');
  } finally {
    vi.useRealTimers();
    metrics.stop();
  }
});
