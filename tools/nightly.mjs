// Long forms of tests that `npm test` has in short: npm run nightly [parts]. A run of all parts takes about 105 minutes on two cores.
// Each part that ran has its row in bench/results/nightly.json. Random parts print their seeds; SVC_NIGHTLY_SEED repeats them.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { broken, ended, root, tests } from "./suite/runner.mjs";
import { nodeOf } from "./suite/runtimes.mjs";

/** The commit that is tested, by the first letters of its hash. */
const commit = spawnSync("git", ["rev-parse", "--short=8", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
const seed = Number(process.env.SVC_NIGHTLY_SEED ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isSafeInteger(seed)) {
  console.error("SVC_NIGHTLY_SEED must be a whole number: take the one that the run printed");
  process.exit(2);
}

/** Files of real processes that run beside one another where no bound depends on the pace of the machine. */
const CORES = availableParallelism();

/** Each part is ended after its minutes; together, without the version that `npm test` runs with, they are 190. */
const PARTS = {
  /** Random operations on each module, on the whole chain and on a provider, with ten times the tries of `npm test`. */
  simulations: {
    minutes: 11,
    words: ["--project", "simulation"],
    env: {
      SVC_TEST_NIGHTLY: 1,
      ...seeds("SVC_TEST", "MARKET_SIM", "MODEL_SIM", "WHOLE_SIM", "STAKE_SIM", "SETTLEMENT"),
    },
  },
  /** Nodes, providers, localnets and commands that are killed, and faults around a provider with real processes. */
  kills: {
    minutes: 16,
    words: ["--project", "e2e", "test/kill"],
    env: {
      ...{ SVC_TEST_NODE_KILLS: 100, SVC_TEST_PROVIDER_KILLS: 20, SVC_TEST_ROLLBACK_KILLS: 10 },
      ...{ SVC_TEST_SNAPSHOT_KILLS: 6, SVC_TEST_LOCALNET_KILLS: 5, SVC_TEST_FAULTS: 10, SVC_TEST_LEASES: 4 },
      SVC_TEST_SYNC_ACCOUNTS: 100_000,
      SVC_TEST_WORKERS: CORES,
      ...seeds("SVC_TEST"),
    },
  },
  /** Every attack for some seconds more, and a flood behind nginx and HAProxy where these are installed. */
  attacks: {
    minutes: 14,
    words: ["--project", "e2e", "test/attack"],
    env: {
      ...{ SVC_TEST_NIGHTLY: 1, SVC_TEST_ATTACK_MS: 5_000, SVC_TEST_LOG_BYTES: 2_000_000, SVC_TEST_PROXIES: 1 },
      ...seeds("SVC_TEST"),
    },
  },
  /**
   * Whole tables of questions, longer runs of random transactions, and chains of blocks, to which the reference chain and its light
   * client have the answers.
   */
  reference: {
    minutes: 14,
    words: [
      "--project",
      "e2e",
      ...["differential", "governance", "lists", "modules", "staking"].map((name) => `test/interop/simd-${name}`),
      ...["keyring-services", "light", "schemathesis", "simd.test", "simd42-chain"].map(
        (name) => `test/interop/${name}`,
      ),
    ],
    env: {
      ...{ SVC_TEST_NIGHTLY: 1, SVC_TEST_WORKERS: CORES, STAKE_DIFF_ROUNDS: 60, GOV_DIFF_ROUNDS: 200 },
      ...seeds("STAKE_DIFF", "GOV_DIFF", "LIGHT"),
    },
  },
  /** Tests with real processes that `npm test` runs in part, and a download of 2 GB through both kinds of ingress. */
  thorough: {
    minutes: 14,
    words: [
      ...["--project", "e2e", "--project", "slow"],
      ...["engine-docker", "engine-driver", "engine-registry", "escape/exhaust", "library", "template"].map(
        (name) => `test/e2e/${name}`,
      ),
      ...["kubernetes-exhaust", "traefik.test"].map((name) => `test/interop/${name}`),
      ...["app/export", "provider/ingress/whole", "provider/orders/crowd"].map((name) => `src/${name}`),
    ],
    env: { SVC_TEST_NIGHTLY: 1, SVC_TEST_KUBERNETES: 1 },
  },
  /** Rarer faults of hosts, engines and upgrades, and the whole work with keys in each back end, which `npm test` has in part. */
  processes: {
    minutes: 25,
    words: [
      ...["--project", "e2e"],
      ...["chain-upgrade", "engine-host", "engine-probe", "escape/escape", "exhaustion", "keyring-backends"].map(
        (name) => `test/e2e/${name}`,
      ),
      ...["provider-state", "upgrade-plans"].map((name) => `test/e2e/${name}`),
      ...["acme-provider", "cometbft-signer", "cometbft-state-sync", "kubernetes-deploy"].map(
        (name) => `test/interop/${name}`,
      ),
    ],
    env: { SVC_TEST_NIGHTLY: 1, SVC_TEST_KUBERNETES: 1, SVC_TEST_WORKERS: CORES },
  },
  /** A whole release, with packages for Debian and RPM and the container image; the types of all entry points of the npm package. */
  packages: {
    minutes: 20,
    words: ["--project", "e2e", "test/e2e/linux-packages", "test/e2e/release", "test/interop/npm-package"],
    env: { SVC_TEST_NIGHTLY: 1 },
  },
  /** The set-up typed in fresh systems that have no Node.js, and an update of the program under running leases. */
  install: { minutes: 14, words: ["--project", "e2e", "test/e2e/installed.test.ts"], env: { SVC_TEST_NIGHTLY: 1 } },
  /** Processor time of a send beside the build of the last record: no more of it. */
  guard: { minutes: 12, bench: "guard" },
  /**
   * `npm test` with the supported versions of Node.js, without simulations, attacks, pages in a browser and pods of a cluster. The
   * machine's own version is left out unless it is named, because `npm test` has it.
   */
  "node-20": { minutes: 25, major: 20 },
  "node-22": { minutes: 25, major: 22 },
  "node-24": { minutes: 25, major: 24 },
};

function isOwnVersion({ major }) {
  return process.versions.node.startsWith(`${major}.`);
}

function seeds(...names) {
  return Object.fromEntries(names.map((name) => [`${name}_SEED`, seed]));
}

function inWords(env) {
  return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]));
}

/** `npm test` under another version of Node.js. Its programs find that version too. */
async function underNode({ minutes, major }) {
  const node = nodeOf(major);
  if (node === undefined) return broken(`Node.js ${major} cannot be installed from the npm package node@${major}`);
  const env = { PATH: `${dirname(node)}:${process.env.PATH}`, SVC_TEST_RUNTIME: `${major}` };
  const { ok, said } = await inGroup(node, [join(root, "tools", "test.mjs")], { minutes, env });
  const [, passed, skipped = "0"] = /^(\d+) passed, \d+ failed(?:, (\d+) skipped)?$/m.exec(said) ?? [];
  if (passed === undefined) return broken(`npm test with Node.js ${major} did not end within ${minutes} minutes`);
  const failures = failuresIn(said);
  if (!ok && failures.length === 0) failures.push(`npm test with Node.js ${major} failed`);
  return { passed: Number(passed), skipped: Number(skipped), failures };
}

/** A benchmark that fails when its figures are worse than the recorded ones. */
async function measured({ minutes, bench }) {
  const { ok, said } = await inGroup(process.execPath, [join(root, "bench", "run.mjs"), bench], { minutes });
  if (ok) return { passed: 1, skipped: 0, failures: [] };
  const failures = failuresIn(said);
  return failures.length > 0 ? { passed: 0, skipped: 0, failures } : broken(`the benchmark ${bench} did not end`);
}

function failuresIn(said) {
  return [...said.matchAll(/^FAILED (.*)$/gm)].map(([, title]) => title);
}

/** Runs a program of Node.js in a group of its own, so that all of its processes can be ended. Resolves with its last output. */
async function inGroup(node, args, { minutes, env = {} }) {
  const stdio = ["ignore", "pipe", "inherit"];
  const child = spawn(node, args, { cwd: root, detached: true, stdio, env: { ...process.env, ...env } });
  const end = () => process.kill(-child.pid, "SIGKILL");
  const timer = setTimeout(end, minutes * 60_000);
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      end();
      process.exit(1);
    });
  }
  let said = "";
  child.stdout.on("data", (part) => {
    process.stdout.write(part);
    said = `${said}${part}`.slice(-100_000);
  });
  const ok = await ended(child);
  clearTimeout(timer);
  return { ok, said };
}

function resultOf(name, part) {
  if (part.major !== undefined) return underNode(part);
  if (part.bench !== undefined) return measured(part);
  return tests(name, part.words, { minutes: part.minutes, env: inWords(part.env) });
}

async function run(name, part) {
  console.log(`\n== ${name} (repeat with SVC_NIGHTLY_SEED=${seed} npm run nightly ${name})`);
  const began = new Date();
  const { passed, skipped, failures } = await resultOf(name, part);
  const titles = failures.map((failure) => failure.split("\n")[0]);
  const minutes = Math.round((Date.now() - began.getTime()) / 6_000) / 10;
  return { name, date: began.toISOString(), commit, seed, minutes, passed, skipped, failures: titles };
}

/** Puts the rows of parts that ran in place of their rows of earlier runs. */
function record(rows) {
  const file = join(root, "bench", "results", "nightly.json");
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).parts : [];
  const all = [...earlier.filter(({ name }) => rows.every((row) => row.name !== name)), ...rows];
  const places = Object.keys(PARTS);
  const parts = all.toSorted((a, b) => places.indexOf(a.name) - places.indexOf(b.name));
  writeFileSync(file, `${JSON.stringify({ command: "npm run nightly", parts }, undefined, 2)}\n`);
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`there is no part ${unknown.join(", ")}; the parts are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}

mkdirSync(join(root, ".cache"), { recursive: true });
const results = [];
for (const [name, part] of Object.entries(PARTS)) {
  if (names.includes(name) || (names.length === 0 && !isOwnVersion(part))) results.push(await run(name, part));
}
record(results);
for (const { name, minutes, passed, skipped, failures } of results) {
  console.log(`${name.padEnd(12)} ${minutes} min, ${passed} passed, ${failures.length} failed, ${skipped} skipped`);
  for (const failure of failures) console.log(`  FAILED ${failure}`);
}
process.exit(results.every(({ failures }) => failures.length === 0) ? 0 : 1);
