import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest: a run that begins with them ends with short ones, and no core waits for the last. */
const LONGEST = [
  "test/e2e/engine-host.test.ts",
  "test/e2e/provider-state.test.ts",
  "test/e2e/engine-registry.test.ts",
  "test/e2e/deploy.test.ts",
  "test/e2e/release.test.ts",
  "test/interop/npm-package.test.ts",
  "test/interop/acme-provider.test.ts",
  "test/kill/localnet.test.ts",
  "test/interop/simd.test.ts",
  "test/interop/simd-staking.test.ts",
  "test/e2e/localnet.test.ts",
  "test/e2e/chain-upgrade.test.ts",
  "test/interop/cometbft-upgrade.test.ts",
  "test/attack/ingress-leases.test.ts",
  "test/e2e/upgrade-plans.test.ts",
  "test/e2e/engine-probe.test.ts",
  "test/interop/simd-chain.test.ts",
  "test/interop/simd-modules.test.ts",
  "test/e2e/keyring-backends.test.ts",
  "test/kill/provider.test.ts",
  "test/kill/state-sync.test.ts",
  "test/e2e/library.test.ts",
  "test/e2e/escape/exhaust.test.ts",
  "test/e2e/exhaustion.test.ts",
  "test/e2e/processes.test.ts",
  "test/e2e/escape/escape.test.ts",
  "test/e2e/set-up.test.ts",
  "test/kill/data-plane.test.ts",
  "test/e2e/engine-driver.test.ts",
  "test/e2e/engine-stall.test.ts",
  "test/interop/simd-differential.test.ts",
  "test/interop/cometbft-state-sync.test.ts",
  "test/interop/cometbft-network.test.ts",
  "test/interop/cometbft-localnet.test.ts",
  "test/interop/cometbft-continues.test.ts",
  "test/interop/cometbft.test.ts",
  "test/e2e/host-names.test.ts",
  "test/e2e/engine-docker.test.ts",
  "test/interop/keyring-services.test.ts",
  "test/e2e/genesis.test.ts",
  "test/attack/grpc.test.ts",
  "test/attack/batch.test.ts",
  "test/attack/terms.test.ts",
  "test/attack/websockets.test.ts",
  "test/attack/serving.test.ts",
  "src/app/whole.sim.test.ts",
  "test/gas/ratio.sim.test.ts",
  "src/app/parameter-ends.sim.test.ts",
];

/** Starts the longest files first; the others as the test runner does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}

function place({ moduleId, project }: TestSpecification): number {
  const at = LONGEST.indexOf(relative(project.vitest.config.root, moduleId));
  return at === -1 ? LONGEST.length : at;
}
