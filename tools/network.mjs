// Faults of a network of four validators under CometBFT: npm run lab -- network [rows], as root; without a name, all rows.
// Each row that ran has its line in bench/results/network.json. SVC_LAB_SEED repeats random ones.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reports, root, tests } from "./suite/runner.mjs";

/** Tests of the lab run in a network of their own, where nothing else listens. */
const ALONE = ["unshare", "--net"];

/**
 * The file of each row in `test/network/`, or the words of its tests elsewhere, and the minutes after which it is ended: on a busy
 * machine each may take long, on a quiet one all take 70 minutes.
 * `shortened` says by which factor the fault is shorter than in a run of hours.
 */
const ROWS = {
  "net-1": { file: "partitions", minutes: 11 },
  "net-2": { file: "partitions", minutes: 12 },
  "net-3": { file: "partitions", minutes: 18 },
  "net-4": { file: "partitions", minutes: 11, shortened: 2 },
  "net-5": { file: "links", minutes: 13, shortened: 3 },
  "net-6": { file: "links", minutes: 11, shortened: 5 },
  "net-7": { file: "links", minutes: 13, shortened: 3 },
  "net-8": { file: "links", minutes: 14 },
  "net-9": { file: "disturbances", minutes: 18, shortened: 5 },
  "net-10": { file: "validators", minutes: 12 },
  "net-11": { file: "byzantine", minutes: 15 },
  "net-12": { file: "validators", minutes: 12 },
  "net-13": { file: "validators", minutes: 14 },
  "net-14": { file: "strangers", minutes: 12, shortened: 10 },
  "net-15": { file: "state-sync", minutes: 16 },
  "net-16": { file: "disturbances", minutes: 11, shortened: 10 },
  "net-17": { file: "links", minutes: 11 },
  /** An upgrade with one of four late, and with two. */
  "net-18": { minutes: 12, words: ["--project", "e2e", "test/interop/cometbft-upgrade.test.ts"] },
  /** One validator, whose node or engine ends at each step of a block. */
  replay: {
    minutes: 16,
    words: ["--project", "e2e", "test/interop/cometbft-replay.test.ts"],
    env: { SVC_TEST_NIGHTLY: 1 },
  },
  /** One validator, whose key another program holds: Rust builds that program once, in ten minutes or more. */
  signer: {
    minutes: 12,
    words: ["--project", "e2e", "test/interop/cometbft-signer.test.ts"],
    env: { SVC_TEST_NIGHTLY: 1 },
    peers: ["tmkms"],
  },
  /** Each of four validators is killed 25 times in turn under twenty sends a second, with a deployment that must answer. */
  kills: {
    minutes: 30,
    words: ["--project", "e2e", "test/interop/cometbft-localnet.test.ts"],
    env: { SVC_TEST_NETWORK_KILLS: 100 },
  },
};

const commit = spawnSync("git", ["rev-parse", "--short=8", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
const seed = Number(process.env.SVC_LAB_SEED ?? Math.floor(Math.random() * 2 ** 31));
const figuresFile = join(reports, "figures");

async function run(name) {
  const { minutes, file, words, env = {}, shortened } = ROWS[name];
  console.log(`\n== ${name} (repeat with SVC_LAB_SEED=${seed} npm run lab -- network ${name})`);
  const began = new Date();
  const titled = ["--project", "e2e", `test/network/${file}.test.ts`, "-t", `${name.toUpperCase()}:`];
  const [args, prefix] = words === undefined ? [titled, ALONE] : [words, []];
  const given = { SVC_TEST_NETWORK: "1", SVC_TEST_SEED: `${seed}`, SVC_TEST_FIGURES: figuresFile };
  const own = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]));
  const { passed, failures } = await tests(name, args, { minutes, prefix, env: { ...given, ...own } });
  if (passed === 0 && failures.length === 0) failures.push(`no test has the name ${name.toUpperCase()}`);
  return {
    name,
    date: began.toISOString(),
    commit,
    seed,
    minutes: Math.round((Date.now() - began.getTime()) / 6_000) / 10,
    ...(shortened === undefined ? {} : { shortened }),
    passed,
    failures: failures.map((failure) => failure.split("\n")[0]),
    figures: figuresOf(name),
  };
}

/** The figures that the tests of a row reported. */
function figuresOf(name) {
  if (!existsSync(figuresFile)) return {};
  const lines = readFileSync(figuresFile, "utf8").trim().split("\n");
  const reported = lines.map((line) => JSON.parse(line)).filter(({ row }) => row.toLowerCase() === name);
  return Object.assign({}, ...reported.map(({ figures }) => figures));
}

/** Puts a row that ran in place of its line of an earlier run. */
function record(row) {
  const file = join(root, "bench", "results", "network.json");
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).rows : [];
  const all = [...earlier.filter(({ name }) => name !== row.name), row];
  const places = Object.keys(ROWS);
  const sorted = all.toSorted((a, b) => places.indexOf(a.name) - places.indexOf(b.name));
  writeFileSync(file, `${JSON.stringify({ command: "npm run lab -- network", rows: sorted }, undefined, 2)}\n`);
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(ROWS, name));
if (unknown.length > 0) {
  console.error(`there is no row ${unknown.join(", ")}; the rows are ${Object.keys(ROWS).join(", ")}`);
  process.exit(2);
}
const wanted = names.length === 0 ? Object.keys(ROWS) : names;
// A row has no way to the registries.
for (const peer of new Set(["cometbft", ...wanted.flatMap((name) => ROWS[name].peers ?? [])]))
  if (spawnSync(join(root, "tools", "peers", "build.sh"), [peer], { stdio: "inherit" }).status !== 0) process.exit(3);
const results = [];
for (const name of wanted) {
  const row = await run(name);
  results.push(row);
  record(row);
}
for (const { name, minutes, failures } of results) {
  console.log(`${name.padEnd(8)} ${minutes} min, ${failures.length === 0 ? "passed" : "failed"}`);
  for (const failure of failures) console.log(`  FAILED ${failure}`);
}
process.exit(results.every(({ failures }) => failures.length === 0) ? 0 : 1);
