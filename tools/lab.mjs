// Longer runs than `npm test` has time for: npm run lab [parts], all of them unless some are named. Each part is a test of
// the tree with larger numbers; a random one prints its seed, and SVC_LAB_SEED repeats it. The part network takes rows:
// npm run lab -- network net-3.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildEarlier } from "./earlier.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const seed = Number(process.env.SVC_LAB_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isSafeInteger(seed)) {
  console.error("SVC_LAB_SEED must be a whole number: take the one that the run printed");
  process.exit(2);
}

/** Commits that `upgrade` begins with: 0.1.0, and the last one before drivers and bids had their new form. */
const VERSION_0_1_0 = "1752d1180abefe4522f2c76a9f040fb96cfcdb9a";
const BEFORE = "d60357accbfba9986c0fb55b7653d6461684f575";

/** Tests of each part and their environment; variables that are already set stay. */
const PARTS = {
  /** Twenty markets of a thousand blocks, each with its own seed, and a million schedules of escrow. */
  market: {
    project: "simulation",
    files: ["src/modules/market", "src/modules/escrow"],
    env: {
      MARKET_SIM_RUNS: 20,
      MARKET_SIM_BLOCKS: 1_000,
      MARKET_SIM_SEED: seed,
      SETTLEMENT_RUNS: 1_000_000,
      SETTLEMENT_SEED: seed,
    },
  },
  /** Thirty runs of five hundred blocks for each module that has its own model. */
  models: {
    project: "simulation",
    files: ["model.sim.test.ts"],
    env: { MODEL_SIM_RUNS: 30, MODEL_SIM_BLOCKS: 500, MODEL_SIM_SEED: seed },
  },
  /**
   * A million things that people do, over all modules, with faults, restarts and exports in between. WHOLE_SIM_RECORD
   * names a file for the results.
   */
  whole: {
    project: "simulation",
    files: ["src/app/whole.sim.test.ts"],
    env: { WHOLE_SIM_RUNS: 1, WHOLE_SIM_OPERATIONS: 1_000_000, WHOLE_SIM_SEED: seed },
  },
  /** Longer runs of random transactions on a chain of the reference, whose blocks then run through our application. */
  differential: {
    project: "e2e",
    files: ["test/interop/simd-differential.test.ts", "test/interop/simd-governance.test.ts"],
    env: { STAKE_DIFF_ROUNDS: 150, STAKE_DIFF_SEED: seed, GOV_DIFF_ROUNDS: 500, GOV_DIFF_SEED: seed },
  },
  /**
   * A node killed 500 times under load; every block is executed again from genesis, and its hash compared. Then 50 kills each of
   * a node that takes snapshots, and of commands that load and restore one.
   */
  kills: {
    project: "e2e",
    files: ["test/kill/node.test.ts", "test/kill/snapshots.test.ts"],
    env: { SVC_TEST_NODE_KILLS: 500, SVC_TEST_SNAPSHOT_KILLS: 50, SVC_TEST_SEED: seed },
  },
  /** A localnet killed at thirty points, each followed by a start and a stop that leave nothing behind. */
  localnet: {
    project: "e2e",
    files: ["test/kill/localnet.test.ts"],
    env: { SVC_TEST_LOCALNET_KILLS: 30, SVC_TEST_SEED: seed },
  },
  /** Four validators under CometBFT and the faults of a network, or the rows that are named behind it. */
  network: { program: "tools/network.mjs", takesRows: true, env: { SVC_LAB_SEED: seed } },
  /** A chain that begins with a million accounts. */
  genesis: {
    project: "e2e",
    files: ["test/attack/genesis.test.ts"],
    env: { SVC_TEST_GENESIS_ACCOUNTS: 1_000_000 },
  },
  /** A million deployments that are opened and closed. */
  pruned: {
    project: "e2e",
    files: ["test/attack/pruned.test.ts"],
    env: { SVC_TEST_PRUNED_DEPLOYMENTS: 1_000_000 },
  },
  /** A hundred thousand odd deployment files, from their text to leases that end, beside a tenant who is left alone. */
  files: {
    project: "simulation",
    files: ["src/provider/files.sim.test.ts"],
    env: { SVC_TEST_FILES: 100_000, SVC_TEST_SEED: seed },
  },
  /** Two hundred random faults around a provider with thirty leases, each with a client that asks all the time. */
  chaos: {
    project: "unit",
    files: ["src/provider/daemon/chaos.test.ts"],
    env: { SVC_TEST_FAULTS: 200, SVC_TEST_LEASES: 30, SVC_TEST_SEED: seed },
  },
  /** The same with real processes: daemon, data plane, engine, monitors, containers, node, and the disk below them. */
  faults: {
    project: "e2e",
    files: ["test/kill/chaos"],
    env: { SVC_TEST_FAULTS: 200, SVC_TEST_LEASES: 30, SVC_TEST_SEED: seed },
  },
  /** Sixteen readers of the logs of fifty replicas, ten megabytes each, with a neighbour beside. */
  logs: {
    project: "e2e",
    files: ["test/attack/log-readers.test.ts"],
    env: { SVC_TEST_LOG_REPLICAS: 50, SVC_TEST_LOG_BYTES: 10_000_000 },
  },
  /** Fifty random requests of each kind to every route of REST. */
  rest: { project: "e2e", files: ["test/interop/schemathesis.test.ts"], env: { SVC_REST_EXAMPLES: 50 } },
  /**
   * The client of clusters and the objects of leases against a real API server, and against a whole node that runs pods.
   * Both are built at the first run; the node needs root and Debian's packages. `npm test` has a part of it.
   */
  kubernetes: { project: "e2e", files: ["test/interop/kubernetes"], env: { SVC_TEST_KUBERNETES: 1 } },
  /** A certificate that ends while the provider runs and the ACME server is away; some minutes of real time. */
  acme: { project: "e2e", files: ["test/interop/acme-renewal.test.ts"], env: { SVC_TEST_ACME: 1 } },
  /** A flooded node behind nginx and HAProxy, which must be installed (Debian: nginx-light, haproxy). */
  proxies: { project: "e2e", files: ["test/attack/proxies.test.ts"], env: { SVC_TEST_PROXIES: 1 } },
  /** Thirty running leases, an earlier version stopped and this one started. The node of 0.1.0 has data in another format. */
  upgrade: {
    project: "e2e",
    files: ["test/e2e/upgrade.test.ts"],
    get env() {
      return { SVC_TEST_EARLIER_CHAIN: buildEarlier(VERSION_0_1_0), SVC_TEST_EARLIER: buildEarlier(BEFORE) };
    },
  },
  /** Twenty small changes of the source, and a test must catch each. */
  mutations: { program: "tools/mutations.mjs", env: { SVC_LAB_SEED: seed } },
  /** Every attack for two minutes instead of some seconds. */
  attacks: { project: "e2e", files: ["test/attack"], env: { SVC_TEST_ATTACK_MS: 120_000, SVC_TEST_SEED: seed } },
};

const words = process.argv.slice(2);
const [first = ""] = words;
const rows = PARTS[first]?.takesRows === true ? words.slice(1) : [];
const names = rows.length > 0 ? [first] : words;
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(", ")}; the parts are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}

const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const failed = Object.entries(PARTS)
  .filter(([name]) => names.length === 0 || names.includes(name))
  .filter(([name, { program, project, files, env }]) => {
    console.log(`\n== ${name} (repeat with SVC_LAB_SEED=${seed} npm run lab ${name})`);
    const args =
      program === undefined ? [vitest, "run", "--project", project, ...files] : [join(root, program), ...rows];
    const { status } = spawnSync(process.execPath, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])), ...process.env },
    });
    return status !== 0;
  })
  .map(([name]) => name);
console.log(failed.length === 0 ? "\nall parts passed" : `\nfailed: ${failed.join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);
