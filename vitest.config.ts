import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";
import { runFolder } from "./test/support/run-folder.ts";
import { PATIENCE_MS } from "./test/support/wait.ts";

/** No test opens a keyring of the developer's own session, and all agree about the ports that they take. */
const BASE_ENV = {
  DBUS_SESSION_BUS_ADDRESS: "disabled:",
  PASSWORD_STORE_DIR: "/nonexistent/password-store",
  SVC_TEST_PORTS: join(tmpdir(), "svc-test-ports"),
};

/** Thousands of random or interrupted runs of one thing, with a printed seed. */
const SIMULATIONS = ["src/**/*.sim.test.ts", "test/gas/*.sim.test.ts"];

/** Properties that are tried a little among the unit tests, and ten times as often at night, with `runs` of test/support. */
const PROPERTIES = [
  "src/cli/command/words/flags-anywhere.test.ts",
  "src/keyring/ledger/app.test.ts",
  "src/modules/deployment/verdicts.test.ts",
  "src/sdl/properties.test.ts",
  "src/store/proofs.test.ts",
  "src/wire/codec/codec.test.ts",
  "src/wire/tx/strict.test.ts",
];

/** `npm run nightly` tries more, and longer runs: `sized` and `runs` of test/support. */
const IS_NIGHT = process.env.SVC_TEST_NIGHTLY !== undefined;

/** Properties of which even a few tries are long. */
const LONG_PROPERTIES = ["src/modules/market/pruning.test.ts"];

/** The quick tests have a part of these, the slow ones all: `part` and `thorough` of test/support. */
const IN_PART = [
  "src/cli/bad-inputs.test.ts",
  "src/cli/completion/answer.test.ts",
  "src/modules/gov/gov.test.ts",
  "src/modules/gov/voting/voting.test.ts",
];

/** `npm test` has all tests of one process in the project `unit`: each worker then loads the sources once. */
const HAS_ALL = process.env.SVC_TEST_ALL !== undefined;
/** No version of Node.js differs in simulations: runs with other versions leave them out. */
const HAS_SIMULATIONS = HAS_ALL && process.env.SVC_TEST_RUNTIME === undefined;

/**
 * What takes long because it is real or thorough: derivations of keys at their full cost, servers under clients that stall,
 * processes, databases of thousands of blocks. `npm test` runs them; `npm run check` leaves them out.
 */
const SLOW = [
  "test/memory-cluster.test.ts",
  "src/app/{export,proofs,restart}.test.ts",
  "src/app/{snapshots/snapshots,upgrades/upgrades}.test.ts",
  "src/cli/completion/completion.test.ts",
  "src/cli/console/{server,signing}.test.ts",
  "src/cli/deploy/{estimate,short-forms}.test.ts",
  "src/cli/keys/{commands,flags,keys,ledger,recorded-keys,recorded-terminal}.test.ts",
  "src/cli/localnet/localnet.test.ts",
  "src/cli/localnet/processes/{left,processes}.test.ts",
  "src/cli/node/{gentx,node,snapshots}.test.ts",
  "src/cli/provider/client/provider-client.test.ts",
  "src/cli/query/verified.test.ts",
  "src/cli/provider/{examine/examine,run/run}.test.ts",
  "src/cli/self/self.test.ts",
  "src/cli/tx/{documented,grants-chain,recorded-live,sequence}.test.ts",
  "src/cli/tx/files/commands.test.ts",
  "src/cli/tx/gov/draft.test.ts",
  "src/cli/tx/market/{cert,market}.test.ts",
  "src/client/light/queries.test.ts",
  "src/console/deploy/form/form.test.ts",
  "src/console/wallet/{local,send}.test.ts",
  "src/crypto/armor/armor.test.ts",
  "src/engine/cometbft/supervisor.test.ts",
  "src/engine/embedded/{blocks/codec,retain}.test.ts",
  "src/engine/embedded/index/{search,tx-index}.test.ts",
  "src/keyring/keyring.test.ts",
  "src/light/client.test.ts",
  "src/modules/bank/holders.test.ts",
  "src/modules/market/{containment,extremes}.test.ts",
  "src/node/{idle,node}.test.ts",
  "src/node/grpc/server.test.ts",
  "src/node/home/rollback.test.ts",
  "src/node/rest/{broadcast,server}.test.ts",
  "src/node/rpc/{hostile,server,websocket}.test.ts",
  "src/node/serving/reading/budget.test.ts",
  "src/node/engines/follow.test.ts",
  "src/node/snapshots/{snapshots,state-sync}.test.ts",
  "src/provider/cluster/docker/api/api.test.ts",
  "src/provider/cluster/docker/images/{collect,images,refused}.test.ts",
  "src/provider/cluster/docker/images/weighing/weigher.test.ts",
  "src/provider/cluster/docker/host/volumes.test.ts",
  "src/provider/cluster/kubernetes/addresses/addresses.test.ts",
  "src/provider/cluster/kubernetes/driver.test.ts",
  "src/provider/cluster/kubernetes/{evictions,faults,forwards,kind,storms}.test.ts",
  "src/provider/cluster/shared/port-proxy.test.ts",
  "src/provider/certificates/certificates.test.ts",
  "src/provider/daemon/{audited,burst,chaos,hostile-orders,hostnames,late-node,monitoring,run}.test.ts",
  "src/provider/gateway/{crowds,late,routes}.test.ts",
  "src/provider/gateway/listening/browsers.test.ts",
  "src/provider/gateway/migrate-routes.test.ts",
  "src/provider/gateway/access/{auth,guessing,refusals,sessions,unbound}.test.ts",
  "src/provider/hostnames/silent.test.ts",
  "src/provider/ingress/{entry,hostile-clients,http-options,whole}.test.ts",
  "src/provider/ingress/proxy/late.test.ts",
  "src/provider/ingress/http2/floods.test.ts",
  "src/provider/gateway/grpc/status.test.ts",
  "src/provider/gateway/streams/streams.test.ts",
  "src/provider/leases/crash.test.ts",
  "src/provider/ingress/tls/tls.test.ts",
  "src/provider/orders/{crash,races}.test.ts",
  "src/provider/orders/{crowd,many-owners}.test.ts",
  "src/provider/plane/plane.test.ts",
  "src/provider/pricing/pricing.test.ts",
  "src/store/proofs.test.ts",
  "src/store/collections/pagination.test.ts",
  "src/store/database/{data-file,lmdb}.test.ts",
  "src/store/history/history.test.ts",
  "src/store/snapshots/snapshots.test.ts",
  "src/tenant/{browser,run}.test.ts",
  "src/tenant/chain/live-market.test.ts",
  "src/wire/codec/shared-texts.test.ts",
  "test/{baked-descriptors,examples,setup}.test.ts",
];

/** They put something in place of shared modules, or interrupt the process, so that each needs one of its own. */
const ISOLATED = ["test/isolated/*.test.ts"];

/** Their files lie in one folder, which goes when the run ends. */
const ENV = { ...BASE_ENV, TMPDIR: runFolder() };

/** Files whose promises shorter tests of `npm test` hold as well: at night with more tries, an older tool, or fresh systems. */
const AT_NIGHT = [
  "test/attack/{genesis,log-readers}.test.ts",
  "test/e2e/{exhaustion,installed,template}.test.ts",
  "test/interop/{cometbft-signer,keyring-services,kubernetes-exhaust}.test.ts",
  "test/kill/{node,rollback,snapshots,state-sync}.test.ts",
  "test/interop/{simd-differential,simd-modules,simd42-chain}.test.ts",
];

/** Measuring all messages takes minutes, and the figures are those of a quiet machine. */
const MEASURED_AT_NIGHT = ["test/gas/ratio.sim.test.ts"];

/**
 * Too long for `npm test`, where nothing else is said: `npm run lab faults` says how many faults there are to be. Tests on
 * Kubernetes need what takes minutes to build; `npm test` builds it, and runs some of them, in a lane of their own.
 */
const LONG = [
  ...(process.env.SVC_TEST_FAULTS === undefined ? ["test/kill/chaos/**"] : []),
  ...(process.env.SVC_TEST_NETWORK === undefined ? ["test/network/**"] : []),
  ...(process.env.SVC_TEST_PROXIES === undefined ? ["test/attack/proxies.test.ts"] : []),
  ...(process.env.SVC_TEST_EARLIER === undefined ? ["test/e2e/upgrade.test.ts"] : []),
  ...(IS_NIGHT ? [] : AT_NIGHT),
  ...(process.env.SVC_TEST_ACME === undefined ? ["test/interop/acme-renewal.test.ts"] : []),
  ...(process.env.SVC_TEST_KUBERNETES === undefined ? ["test/interop/{kubernetes*,traefik*}.test.ts"] : []),
];

/** Vitest removes its cache when the lockfile has changed, and then fails to write into it: each lockfile has a cache of its own. */
const CACHE = `.cache/vitest/${createHash("sha256")
  .update(readFileSync(join(import.meta.dirname, "package-lock.json")))
  .digest("hex")
  .slice(0, 8)}`;

/** What one of the lanes of `npm test` leaves to the others. */
const WITHOUT = process.env.SVC_TEST_WITHOUT?.split(",") ?? [];

/** The longest that `expect.poll` waits: its own second is less than a busy machine may let a process wait for its turn. */
const PATIENT = { poll: { timeout: 30_000 } };
/** Where many processes and pages share two cores, a derivation of a key alone may take a minute, and each look costs them. */
const MOST_PATIENT = { poll: { timeout: PATIENCE_MS, interval: 150 } };

/**
 * These tests share the modules of their worker, which halves their time; none keeps state outside itself. Their limits end what
 * hangs: on a busy machine a derivation of a key alone may take a minute.
 */
const IN_PROCESS = { testTimeout: 240_000, hookTimeout: 240_000, isolate: false, env: BASE_ENV, expect: PATIENT };

/**
 * Projects: `unit` and `isolated` stay quick and run everywhere; `slow` and `simulation` do too, and take longer; `e2e` starts
 * real processes, containers and networks.
 */
export default defineConfig({
  test: {
    // Compiled sources are kept between runs and shared by test files: a fifth of the work of a run.
    experimental: { fsModuleCache: true, fsModuleCachePath: CACHE },
    // Tests that wait leave their core to others. (One core left over, the default, is half of a small machine.)
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    globalSetup: "test/support/sweep.ts",
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          exclude: [...(HAS_SIMULATIONS ? [] : [...SIMULATIONS, ...LONG_PROPERTIES]), ...(HAS_ALL ? [] : SLOW)],
          ...IN_PROCESS,
          env: HAS_ALL ? { ...ENV, SVC_TEST_WHOLE: "1" } : ENV,
        },
      },
      {
        test: {
          name: "slow",
          include: [...SLOW, ...IN_PART],
          ...IN_PROCESS,
          env: { ...ENV, SVC_TEST_WHOLE: "1" },
        },
      },
      {
        test: {
          name: "simulation",
          include: [...SIMULATIONS, ...LONG_PROPERTIES, ...(IS_NIGHT ? PROPERTIES : [])],
          exclude: IS_NIGHT ? [] : MEASURED_AT_NIGHT,
          ...IN_PROCESS,
          testTimeout: 7_200_000,
          env: { ...BASE_ENV, SVC_TEST_RUNS: IS_NIGHT ? "10" : "1" },
        },
      },
      {
        test: {
          name: "isolated",
          include: ISOLATED,
          testTimeout: 240_000,
          env: ENV,
        },
      },
      {
        test: {
          name: "e2e",
          env: BASE_ENV,
          include: ["test/{attack,browser,e2e,kill,interop,network}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...LONG, ...WITHOUT],
          isolate: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: MOST_PATIENT,
          // `npm test` runs several files beside one another.
          maxWorkers: Number(process.env.SVC_TEST_WORKERS ?? 1),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
