import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { makeToken } from "../../src/client/index.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { type Seen, seenMeanwhile } from "../e2e/escape/neighbour.ts";
import { closed } from "../support/closed.ts";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { pause, waitFor, webFile } from "../support/index.ts";
import { sized } from "../support/runs.ts";
import { MemoryWatch, residentMiB } from "./lib/memory.ts";

/** `npm run nightly` has logs of two megabytes, `npm run lab logs` fifty of ten. */
const REPLICAS = Number(process.env.SVC_TEST_LOG_REPLICAS ?? 2);
const LOG_BYTES = Number(process.env.SVC_TEST_LOG_BYTES ?? 500_000);
/** The engine begins a log anew at its limit; times count too. */
const KEPT = 0.4;
const READERS = 16;
/** A request of a tenant may take this much of the daemon's memory. */
const MOST_MIB = 64;
/** The bound of every attack. */
const MANY_MIB = 512;
/** The attack is repeated so often: what a reader kept would add up. */
const TIMES = sized(2, 3);
const UNREAD_MS = 1_000;
const LINE = "a line of a log that is about as long as lines of logs are, with a number of words in it";

describeWithEngine(`readers of the logs of ${REPLICAS} replicas`, { timeout: 240_000 + REPLICAS * 20_000 }, () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  let gateway = "";

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    provider = await localnet.provider({ name: "provider", cpuScale: "0.1" });
    const { args } = provider.process;
    gateway = args[args.indexOf("--gateway-listen-address") + 1] ?? "";
  });
  afterAll(() => localnet?.close());

  it("take no memory, whether they read or not, and leave the neighbour served", async () => {
    const [lease, { url }] = [await deploy(logFile()), await page(await deploy(webFile({ page: "neighbour" })))];
    const usual = await seenMeanwhile(url, () => pause(UNREAD_MS));
    const before = residentMiB(provider.process.pid);
    const one = await attacked(url, () => readAll(lease, 1));
    expect(one.peakMiB - before, "memory for one reader").toBeLessThan(MOST_MIB);
    const rounds: (Seen & { readonly peakMiB: number })[] = [];
    while (rounds.length < TIMES) rounds.push(await attacked(url, () => readAll(lease, READERS)));
    const peaks = rounds.map(({ peakMiB }) => peakMiB);
    expect(Math.max(...peaks) - before, `memory for ${READERS} readers`).toBeLessThan(MANY_MIB);
    expect(peaks.at(-1), `memory of the last of ${peaks}`).toBeLessThan((peaks[0] ?? 0) + MOST_MIB);
    for (const { wrong } of [usual, one, ...rounds]) expect(wrong).toEqual([]);
    const figures = `${before} MiB before, ${one.peakMiB} with one reader, ${peaks.join(", ")} with ${READERS}`;
    const p95 = [usual, one, ...rounds].map((seen) => seen.p95.toFixed(1)).join(", ");
    process.stderr.write(`${REPLICAS} replicas of ${LOG_BYTES} bytes: ${figures}; neighbour p95 ${p95} ms\n`);
  });

  async function deploy(file: string): Promise<LeaseKey> {
    const { tenant } = localnet;
    // Two orders in one block would have the same number.
    const ordered = await waitFor(() => tenant.order(file), "an order to be placed");
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    await waitFor(() => tenant.awaitReady(lease), "the deployment to be ready", {
      timeoutMs: 60_000 + REPLICAS * 5_000,
    });
    return lease;
  }

  async function page(lease: LeaseKey): Promise<{ readonly url: string }> {
    return { url: await localnet.tenant.awaitReady(lease) };
  }

  async function attacked(url: string, work: () => Promise<void>): Promise<Seen & { readonly peakMiB: number }> {
    const memory = new MemoryWatch(provider.process.pid);
    try {
      const seen = await seenMeanwhile(url, work);
      return { ...seen, peakMiB: memory.stop() };
    } finally {
      memory.stop();
    }
  }

  /** Opens so many streams of all lines, lets them wait, and reads them to the end. */
  async function readAll(lease: LeaseKey, count: number): Promise<void> {
    const readers = await Promise.all(Array.from({ length: count }, () => openLogs(lease)));
    for (const { socket } of readers) socket.pause();
    await pause(UNREAD_MS);
    for (const { socket } of readers) socket.resume();
    for (const reader of readers) expect(await reader.bytes).toBeGreaterThan(REPLICAS * LOG_BYTES * KEPT);
  }

  async function openLogs(lease: LeaseKey): Promise<{ readonly socket: WebSocket; readonly bytes: Promise<number> }> {
    const { key } = localnet.tenant;
    const credential = { kind: "token" as const, account: key.address, sign: (bytes: Uint8Array) => key.sign(bytes) };
    const purpose = { ...lease, provider: provider.address, scope: "logs" as const };
    const token = await makeToken(credential, purpose, Date.now());
    const { dseq, gseq, oseq } = lease;
    const socket = new WebSocket(`wss://${gateway}/lease/${dseq}/${gseq}/${oseq}/logs?follow=0&tail=-1`, {
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${token}` },
    });
    let count = 0;
    socket.on("message", (data: Buffer) => {
      count += data.length;
    });
    const bytes = closed(socket).then(() => count);
    await once(socket, "open");
    return { socket, bytes };
  }
});

/** Each replica writes its log before it serves. */
function logFile(): string {
  const write = `yes '${LINE}' | head -c ${LOG_BYTES}; `;
  return webFile({ count: REPLICAS }).replace("- mkdir", `- ${write}mkdir`).replace("units: 0.1", "units: 0.02");
}
