// The whole test run: installs what the end-to-end tests need where that is possible (Debian or Ubuntu, as root), then
// lint, types, build, unit tests, simulations and end-to-end tests, and a closing line with the sum of all tests.
import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, constants as constantsOfSystem, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { broken, ended, reports, root, tests } from "./suite/runner.mjs";
import { nodeOf } from "./suite/runtimes.mjs";

/** Programs of the end-to-end tests and the packages they come from. */
const NEEDED = {
  curl: ["curl"],
  wget: ["wget"],
  openssl: ["openssl"],
  debootstrap: ["debootstrap"],
  podman: ["podman", "runc", "netavark", "aardvark-dns"],
  iptables: ["iptables"],
  ipset: ["ipset"],
  busybox: ["busybox-static"],
  "mkfs.ext4": ["e2fsprogs"],
  catatonit: ["catatonit"],
  conntrack: ["conntrack"],
  nft: ["nftables"],
  "docker-registry": ["docker-registry"],
  ip: ["iproute2"],
  nsenter: ["util-linux"],
  chromium: ["chromium"],
  "chromium-headless-shell": ["chromium-headless-shell"],
  certutil: ["libnss3-tools"],
  "dbus-daemon": ["dbus-daemon"],
  "gnome-keyring-daemon": ["gnome-keyring"],
  kwalletd5: ["libkf5wallet-bin"],
  pass: ["pass"],
  gpg: ["gnupg"],
  zsh: ["zsh"],
  fish: ["fish"],
};

/**
 * Docker's daemon beside Podman: unpacked for its tests and not installed, because its package would start it and change the
 * machine's firewall.
 */
const UNPACKED = { folder: join(root, ".cache", "docker"), packages: ["docker.io", "containerd", "tini"] };

/** The newest version of Node.js that is supported. */
const NEWEST = 24;

/** Settings under which Podman works on constrained hosts too; written only where there are none. */
const CONFIG = {
  "/etc/containers/containers.conf": `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 2

[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"

[network]
network_backend = "netavark"
`,
  "/etc/containers/policy.json": '{"default":[{"type":"insecureAcceptAnything"}]}\n',
};

function installed(program) {
  return `${process.env.PATH}:/usr/sbin:/sbin`.split(":").some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  return status === 0;
}

/** Whether the distribution has a package: Ubuntu, for example, has its browser elsewhere. */
function isOffered(name) {
  const { status, stdout } = spawnSync("apt-cache", ["show", name], { stdio: ["ignore", "pipe", "ignore"] });
  return status === 0 && stdout.length > 0;
}

function unpackDocker() {
  const { folder, packages } = UNPACKED;
  if (existsSync(folder) || installed("dockerd") || !packages.every(isOffered)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  const inDraft = (program, args) => spawnSync(program, args, { cwd: draft, stdio: "ignore" }).status === 0;
  const got = inDraft("apt-get", ["download", "-qq", ...packages]);
  const archives = readdirSync(draft).filter((name) => name.endsWith(".deb"));
  const ok = got && archives.every((name) => inDraft("dpkg", ["-x", name, "root"]));
  if (ok) renameSync(join(draft, "root"), folder);
  else console.log("the tests with Docker will be skipped: its packages could not be downloaded");
  rmSync(draft, { recursive: true, force: true });
}

/** Whether Python can make virtual environments, which Debian has in a package of their own. */
function hasPythonVenv() {
  return spawnSync("python3", ["-c", "import venv, ensurepip"], { stdio: "ignore" }).status === 0;
}

function installNeeded() {
  const packages = Object.entries(NEEDED).flatMap(([program, names]) => (installed(program) ? [] : names));
  if (!hasPythonVenv()) packages.push("python3", "python3-venv");
  const able = process.platform === "linux" && process.getuid?.() === 0 && installed("apt-get");
  if (packages.length > 0 && able) {
    console.log(`installing ${packages.join(" ")} ...`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-qq"], env);
    const offered = packages.filter(isOffered);
    for (const name of packages.filter((each) => !offered.includes(each))) {
      console.log(`some end-to-end tests will be skipped: this distribution has no package ${name}`);
    }
    if (!run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0", ...offered], env))
      process.exit(1);
  } else if (packages.length > 0) {
    console.log(
      `some end-to-end tests will be skipped: ${packages.join(" ")} not installed (as root on Debian this command installs them)`,
    );
  }
  if (!able) return;
  unpackDocker();
  for (const [path, text] of Object.entries(CONFIG)) {
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Programs for the tests on Kubernetes, in the order in which they are built. */
const CLUSTER = ["kubernetes", "kubernetes-node", "containerd", "kube-router", "gateway-api", "traefik", "helm"];
/** For each program: several times its usual build time beside the other tests. */
const BUILD_MINUTES = 40;

/** Why no cluster whose node runs pods can be here; undefined where one can. */
function clusterObstacle() {
  if (process.platform !== "linux" || !installed("dpkg")) return "a node that runs pods needs Debian or Ubuntu";
  if (process.getuid?.() !== 0) return "only root can start a node that runs pods";
  if (!installed("go")) return "Go 1.25 or newer, of which the cluster is built, is not installed";
  return undefined;
}

/**
 * Builds the cluster at the first run, below the priority of the tests that run meanwhile; afterwards it is kept in the
 * user's cache. Resolves to why there is none, or undefined.
 */
async function buildCluster() {
  const obstacle = clusterObstacle();
  if (obstacle !== undefined) return obstacle;
  for (const name of CLUSTER) {
    const child = spawn(join(root, "tools", "peers", "build.sh"), [name], {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: BUILD_MINUTES * 60_000,
    });
    setPriority(child.pid, constantsOfSystem.priority.PRIORITY_BELOW_NORMAL);
    const said = [];
    child.stderr.on("data", (part) => said.push(part));
    if (!(await ended(child))) return `${name} cannot be built: ${Buffer.concat(said).toString().slice(-1_000)}`;
  }
  return undefined;
}

/** The tests of a cluster that runs pods; if a cluster is required, they fail and tell the missing part. */
async function onKubernetes(cluster, words, env) {
  const missing = await cluster;
  if (missing !== undefined) console.log(`the tests on Kubernetes will be skipped: ${missing}`);
  if (missing !== undefined && process.env.CI !== "true") return { passed: 0, failures: [], skipped: 1 };
  return tests("e2e-kubernetes", [...words, ...KUBERNETES, ...BESIDE_CLUSTER], {
    minutes: MINUTES.beside,
    env: { ...env, SVC_TEST_KUBERNETES: "1" },
    isSilent: true,
  });
}

/** Minutes after which a part of the run is ended, with what it was doing: several times what it takes on two cores. */
const MINUTES = { unit: 15, quick: 10, alone: 15, beside: 50 };

/**
 * Files of real processes that run beside one another: more than there are cores, because many wait. A fourth on two cores, where
 * pods and pages have a lane each, makes the run no shorter and the waits longer.
 */
const WORKERS = Math.max(3, Math.ceil(1.5 * availableParallelism()));

/** Attacks without a bound of pace, which run among the others. */
const UNHURRIED = "deposits|gas|gateway|genesis|ingress|ingress-leases|leases|modules|pruned|queries";
/** Attacks whose bounds hold on a machine with one attack for each core, and nothing else. */
const ALONE = [`test/attack/!(${UNHURRIED}).test.ts`];
const BESIDE = [`test/attack/@(${UNHURRIED}).test.ts`, "test/attack/lib/**"];

/** The driver on a cluster that runs pods, tenants and hostile ones there, one file at a time. The rest of its tests is `npm run lab kubernetes`. */
const KUBERNETES = ["conformance", "deploy", "ingress", "inside", "policies", "restricted", "surroundings"].map(
  (name) => `test/interop/kubernetes-${name}.test.ts`,
);
/** Tests that run with the programs of the cluster's lane, and without a cluster. */
const BESIDE_CLUSTER = ["test/interop/traefik"];

/** Pages in a browser, one file at a time. */
const IN_BROWSER = ["test/browser/**"];

/**
 * A network of its own, with loopback alone: a browser drops every connection when an interface of its machine changes, and tests
 * with containers change them all the time. Empty where the system gives no such network, or `ip` is missing.
 */
function ownNetwork() {
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const prefix = ["unshare", ...user, "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  const [program, ...args] = prefix;
  return spawnSync(program, [...args, "true"], { stdio: "ignore" }).status === 0 ? prefix : [];
}

/** Pages run in the browser, which no version of Node.js changes; the servers behind them have tests among the others. */
function inBrowser(words, env) {
  return tests("browser", [...words, "test/browser/"], {
    minutes: MINUTES.beside,
    env,
    prefix: ownNetwork(),
    isSilent: true,
  });
}

/** The configuration leaves these out: the test runner's own switch has no effect on one of several projects. */
const without = (globs) => ({ SVC_TEST_WITHOUT: globs.join() });

/** The version of Node.js that `npm run nightly` tries: other parts, and `npm test`, have simulations, attacks, pages and pods. */
const RUNTIME = process.env.SVC_TEST_RUNTIME;

/** Tests within the process of the test runner. */
function inProcess(env) {
  const words = ["--project", "unit", "--project", "isolated"];
  return tests("unit", words, { minutes: MINUTES.unit, env: { ...env, SVC_TEST_ALL: "1" } });
}

/** Files beside one another, those on a cluster and those in a browser in their order; then the attacks, alone. */
async function endToEnd(env, cluster) {
  const words = ["--project", "e2e"];
  const beside = await Promise.all([
    tests("e2e", words, {
      minutes: MINUTES.beside,
      env: { ...env, ...without([...ALONE, ...IN_BROWSER]), SVC_TEST_WORKERS: `${WORKERS}` },
    }),
    ...(RUNTIME === undefined ? [onKubernetes(cluster, words, env), inBrowser(words, env)] : []),
  ]);
  if (RUNTIME !== undefined) return beside;
  const alone = await tests("e2e-alone", [...words, "test/attack/"], {
    minutes: MINUTES.alone,
    env: { ...env, ...without(BESIDE), SVC_TEST_WORKERS: `${availableParallelism()}` },
  });
  return [...beside, alone];
}

/**
 * Folders that use the parts in which versions of Node.js differ: streams, servers and clients, cryptography, timers and the
 * file system. Arithmetic of the chain, codecs and golden files use no such part. `npm run nightly` runs all tests with each version.
 */
const ON_NEWEST = [
  ...["certs", "client", "crypto", "engine", "keyring", "library", "node", "store", "util"].map(
    (each) => `src/${each}/`,
  ),
  ...["gateway", "ingress", "plane"].map((each) => `src/provider/${each}/`),
];

async function quickOnNewest() {
  if (RUNTIME !== undefined || process.versions.node.startsWith(`${NEWEST}.`)) return [];
  const node = nodeOf(NEWEST);
  const missing = `the quick tests with Node.js ${NEWEST}: npm cannot install node@${NEWEST}`;
  if (node !== undefined)
    return [await tests("quick", ["--project", "unit", ...ON_NEWEST], { node, minutes: MINUTES.quick })];
  if (process.env.CI === "true") return [broken(missing)];
  console.log(`skipped: ${missing}`);
  return [{ passed: 0, failures: [], skipped: 1 }];
}

/** A check without tests of its own counts as one; its output is printed when it has ended. */
async function check(name, script, args) {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { out: "", err: "" };
  child.stdout.on("data", (part) => (said.out += part));
  child.stderr.on("data", (part) => (said.err += part));
  const ok = await new Promise((resolve) => child.once("close", (code) => resolve(code === 0)));
  console.log(`\n== ${name}\n${said.out}${said.err}`);
  return { ...(ok ? { passed: 1, failures: [], skipped: 0 } : broken(name)), said: ok ? said.out.trim() : "" };
}

/** Results for unchanged files are kept between runs, as `npm run check` does. */
const types = (name) => ["--noEmit", "--incremental", "--tsBuildInfoFile", `.cache/${name}.tsbuildinfo`];

installNeeded();
mkdirSync(join(root, ".cache"), { recursive: true });
const cluster = RUNTIME === undefined ? buildCluster() : undefined;
const [lint, typed, pages, build] = await Promise.all([
  check("lint", "node_modules/@biomejs/biome/bin/biome", ["check"]),
  check("types", "node_modules/typescript/bin/tsc", types("types")),
  check("types of the console", "node_modules/typescript/bin/tsc", ["--project", "src/console", ...types("console")]),
  check("build", "tools/build.mjs", []),
]);
/** The program and its package are made once for all tests; if that failed, each test makes them and reports why. */
const built = build.passed === 1 ? { SVC_TEST_BUILT: "1" } : {};
const [packed, unit] = await Promise.all([
  check("package", "tools/package.mjs", [reports, ...(build.passed === 1 ? ["dist", "--built"] : [])]),
  inProcess(built),
]);
const made = packed.said === "" ? built : { ...built, SVC_TEST_PACKAGE: packed.said };
const counts = [
  ...[lint, typed, pages, build, packed, unit],
  ...(await quickOnNewest()),
  ...(await endToEnd(made, cluster)),
];
const sum = (key) => counts.reduce((total, each) => total + each[key], 0);
const skipped = sum("skipped");
const failures = counts.flatMap((each) => each.failures);
// Repeated at the end, where readers of a long log look first.
for (const failure of failures) console.log(`\nFAILED ${failure}`);
console.log(`\n${sum("passed")} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exit(failures.length === 0 ? 0 : 1);
