import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { memoryFolder } from "./test/support/memory-folder.ts";

/** No keyring of the developer's own session is ever opened by a test. */
const NO_SESSION = { DBUS_SESSION_BUS_ADDRESS: "disabled:", PASSWORD_STORE_DIR: "/nonexistent/password-store" };

/** Thousands of random or interrupted runs of one thing, with a printed seed. */
const SIMULATIONS = ["src/**/*.sim.test.ts", "test/gas/*.sim.test.ts"];

/** Properties that the simulations try ten times as often, with `runs` of test/support. */
const PROPERTIES = [
  "src/sdl/properties.test.ts",
  "src/modules/deployment/verdicts.test.ts",
  "src/modules/market/pruning.test.ts",
  "src/wire/tx/strict.test.ts",
];

/**
 * What takes long because it is real: derivations of keys at their full cost, servers under clients that stall, processes.
 * `npm test` runs them; `npm run check` leaves them out.
 */
const SLOW = [
  "src/app/export.test.ts",
  "src/app/proofs.test.ts",
  "src/app/restart.test.ts",
  "src/cli/completion/completion.test.ts",
  "src/cli/keys/{flags,keys,ledger,recorded-keys,recorded-terminal}.test.ts",
  "src/cli/localnet/processes/processes.test.ts",
  "src/cli/provider/run/run.test.ts",
  "src/cli/tx/{recorded-live,sequence}.test.ts",
  "src/crypto/armor/armor.test.ts",
  "src/keyring/keyring.test.ts",
  "src/node/grpc/server.test.ts",
  "src/node/rpc/hostile.test.ts",
  "src/node/snapshots/snapshots.test.ts",
  "src/provider/cluster/memory/driver.test.ts",
  "src/provider/daemon/run.test.ts",
  "src/provider/gateway/streams/streams.test.ts",
  "src/provider/plane/plane.test.ts",
  "src/provider/pricing/pricing.test.ts",
  "src/store/database/lmdb.test.ts",
  "src/store/proofs.test.ts",
  "src/tenant/chain/live-market.test.ts",
];

/** Their files lie in memory where there is a folder for that: durable writes then wait for no disk. */
const MEMORY = memoryFolder();
const ENV = { ...NO_SESSION, ...(MEMORY === undefined ? {} : { TMPDIR: MEMORY }) };

/** Too long for `npm test`: `npm run lab faults` says how many faults there are to be. */
const LONG = process.env.SVC_TEST_FAULTS === undefined ? ["test/kill/chaos/**"] : [];

/** These tests share the modules of their worker, which halves their time; none keeps state outside itself. */
const IN_PROCESS = { testTimeout: 60_000, hookTimeout: 60_000, isolate: false, env: NO_SESSION };

/**
 * Three projects: `unit` stays quick and runs everywhere, so does `simulation`, which takes longer; `e2e` starts real
 * processes, containers and networks.
 */
export default defineConfig({
  test: {
    // Compiled sources are kept between runs and shared by test files: a fifth of the work of a run.
    experimental: { fsModuleCache: true, fsModuleCachePath: ".cache/vitest" },
    // Tests that wait leave their core to others. (One core left over, the default, is half of a small machine.)
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    globalSetup: "test/support/sweep.ts",
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          exclude: [...SIMULATIONS, ...SLOW],
          ...IN_PROCESS,
          env: ENV,
        },
      },
      { test: { name: "slow", include: SLOW, ...IN_PROCESS, env: ENV } },
      {
        test: {
          name: "simulation",
          include: [...SIMULATIONS, ...PROPERTIES],
          ...IN_PROCESS,
          env: { ...NO_SESSION, SVC_TEST_RUNS: "10" },
        },
      },
      {
        test: {
          name: "e2e",
          env: NO_SESSION,
          include: ["test/{attack,e2e,kill,interop}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...LONG],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
