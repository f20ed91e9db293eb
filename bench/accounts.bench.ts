/**
 * Chains with many accounts: from the start of the node to its first block, and a restart on its data, with processor
 * time, memory and disk; the ecosystem's reference node in the same run. Without Go to build that node, its rows are
 * left out.
 *
 * npm run bench -- accounts [accounts] [more accounts]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { highestMiB, residentMiB } from "../test/attack/lib/memory.ts";
import { buildPeer } from "../test/interop/peers.ts";
import { makeSimdHome } from "../test/interop/simd-home.ts";
import { Fixture, freePorts, SvcProcess, svcOk, waitFor } from "../test/support/index.ts";
import { cpuOfProcess } from "./lib/cpu.ts";
import { sizeOnDisk } from "./lib/disk.ts";
import { addAccounts, addressesAtRandom } from "./lib/many-accounts.ts";
import { Report } from "./lib/report.ts";

const FIRST_BLOCK_WITHIN_MS = 600_000;
const CHAIN_ID = "svc-bench-1";
const MIB = 2 ** 20;
/** For a genesis of a hundred thousand accounts, and of a million. */
const SECONDS = [6, 60] as const;

/** A node with its own home that can be started again. */
interface Startable {
  readonly name: string;
  readonly data: string;
  readonly start: (port: number) => Promise<Running>;
}

interface Running {
  readonly pid: number;
  readonly isRunning: () => boolean;
  readonly stop: () => Promise<unknown>;
}

const [few = 100_000, many = 1_000_000] = process.argv.slice(2).map(Number);
const report = new Report(
  "accounts",
  `A genesis of ${few} and of ${many} accounts at random addresses, each with a balance, every account in auth and in bank; until ` +
    "the node tells of a block (the reference node tells of it before the state is written). Memory is the most that was resident until then, and what is when it has been started again.",
);
const fixture = new Fixture();
try {
  for (const [index, accounts] of [few, many].filter((each) => each > 0).entries()) {
    await measure(await ownNode(accounts), accounts, SECONDS[index]);
    for (const peer of await peerNodes(accounts)) await measure(peer, accounts);
  }
  report.save();
} finally {
  await fixture.close();
}

async function measure(node: Startable, accounts: number, seconds?: number): Promise<void> {
  const target = seconds === undefined ? {} : { target: { atMost: seconds } };
  const title = (what: string) => `${node.name}, ${accounts} accounts: ${what}`;
  const first = await costOfStart(node);
  report.add({ name: title("genesis to block 1"), unit: "s", samples: [first.seconds], ...target });
  report.add({ name: title("CPU to block 1"), unit: "s", samples: [first.cpuSeconds] });
  report.add({ name: title("most memory to block 1"), unit: "MiB", samples: [first.highest] });
  report.add({ name: title("disk after it"), unit: "MiB", samples: [sizeOnDisk(node.data) / MIB] });
  const again = await costOfStart(node);
  report.add({ name: title("start again until it tells of it"), unit: "s", samples: [again.seconds] });
  report.add({ name: title("CPU of it"), unit: "s", samples: [again.cpuSeconds] });
  report.add({ name: title("memory then"), unit: "MiB", samples: [again.resident] });
  report.add({ name: title("most memory of it"), unit: "MiB", samples: [again.highest] });
}

/** Starts a node, waits until it reports a block, and ends it. */
async function costOfStart({ name, start }: Startable) {
  const [port = 0] = await freePorts(1);
  const began = performance.now();
  const { pid, isRunning, stop } = await start(port);
  try {
    const isMade = async (): Promise<boolean> => {
      if (!isRunning()) throw new Error(`${name} has ended`);
      return (await heightAt(port)) > 0;
    };
    await waitFor(isMade, `a block of ${name}`, { timeoutMs: FIRST_BLOCK_WITHIN_MS, pollMs: 50 });
    const seconds = (performance.now() - began) / 1000;
    return { seconds, cpuSeconds: cpuOfProcess(pid) / 1000, highest: highestMiB(pid), resident: residentMiB(pid) };
  } finally {
    await stop();
  }
}

async function heightAt(port: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/status`);
  const { result } = (await response.json()) as { result: { sync_info: { latest_block_height: string } } };
  return Number(result.sync_info.latest_block_height);
}

async function ownNode(accounts: number): Promise<Startable> {
  const home = fixture.tempHome(`accounts-${accounts}`);
  await svcOk(["init", "validator", "--chain-id", CHAIN_ID, "--home", home]);
  const path = join(home, "config", "genesis.json");
  const genesis = JSON.parse(readFileSync(path, "utf8"));
  addAccounts(genesis.app_state, addressesAtRandom(accounts, "svc"), { denom: "utoken", namespace: "sdk" });
  writeFileSync(path, JSON.stringify(genesis));
  const start = async (port: number): Promise<Running> => {
    const listen = ["--rpc.laddr", `tcp://127.0.0.1:${port}`, "--grpc.enable=false"];
    const quiet = ["--minimum-gas-prices", "0utoken", "--log_level", "error"];
    const running = await SvcProcess.start(["start", "--home", home, ...listen, ...quiet], {
      home,
      log: join(fixture.folder, "accounts.log"),
    });
    return { pid: running.pid, isRunning: () => running.running, stop: () => running.stop() };
  };
  return { name: "svc", data: join(home, "data"), start };
}

async function peerNodes(accounts: number): Promise<Startable[]> {
  const peer = await buildPeer("simd53");
  if ("missing" in peer) {
    console.error(`left out: simd53: ${peer.missing}`);
    return [];
  }
  fixture.defer(async () => peer.remove());
  const { home } = await makeSimdHome(peer, {
    chainId: CHAIN_ID,
    prefix: "peer",
    accounts: ["validator"],
    balance: "1000000000000stake",
    bonded: "100000000000stake",
    blockTimeMs: 1000,
    changeGenesis: () => {},
    finishGenesis: ({ app_state }) =>
      addAccounts(app_state, addressesAtRandom(accounts, "peer"), { denom: "stake", namespace: "cosmos" }),
  });
  const start = async (port: number): Promise<Running> => {
    const others = await freePorts(3);
    const [p2p = "", proxy = ""] = others.map((each) => `tcp://127.0.0.1:${each}`);
    const listen = [
      "--rpc.laddr",
      `tcp://127.0.0.1:${port}`,
      "--p2p.laddr",
      p2p,
      "--address",
      proxy,
      "--grpc.enable=false",
    ];
    const quiet = ["--minimum-gas-prices", "0stake", "--rpc.pprof_laddr", "", "--log_level", "error"];
    const { process: child, ended } = peer.start(["start", ...listen, ...quiet], { prefix: "peer" });
    const stop = () =>
      new Promise((resolve) => {
        child.once("close", resolve);
        child.kill("SIGTERM");
      });
    return { pid: child.pid ?? 0, isRunning: () => !ended(), stop };
  };
  return [{ name: "simd53", data: join(home, "data"), start }];
}
