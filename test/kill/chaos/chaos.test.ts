import { afterAll, beforeAll, expect, it } from "vitest";
import { moduleAddress } from "../../../src/crypto/index.ts";
import { Query as EscrowQuery } from "../../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { encodeAddress } from "../../../src/wire/index.ts";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../../support/containers.ts";
import { moveToDisk } from "../../support/disk.ts";
import { balanceOf, seedFrom, waitFor } from "../../support/index.ts";
import { Chaos } from "./chaos.ts";

/** Only where it is asked for: it takes minutes. The simulation in `src/provider/daemon/chaos.test.ts` stands for it in every run. */
const FAULTS = Number(process.env.SVC_TEST_FAULTS ?? 8);
const LEASES = Number(process.env.SVC_TEST_LEASES ?? 2);
const TIMEOUT_MS = 120_000 + FAULTS * 60_000 + LEASES * 30_000;
const DISK_MIB = 2_000 + LEASES * 40;
const FLAGS = [
  ...["--provider-least-free-disk", "24Mi", "--monitor-healthcheck-period", "1s"],
  ...["--monitor-healthcheck-period-jitter", "100ms", "--monitor-retry-period", "500ms"],
  ...["--monitor-retry-period-jitter", "100ms"],
];

describeWithEngine(`${FAULTS} random faults under ${LEASES} leases with clients`, { timeout: TIMEOUT_MS }, () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    provider = await localnet.provider({ name: "provider", cpuScale: "0.1", flags: FLAGS });
    await moveToDisk(localnet.fixture, provider, DISK_MIB);
  });
  afterAll(() => localnet?.close());

  it("lose no workload, hold no deposit, double no bid, and fail no request that they do not explain", async () => {
    const rng = seedFrom("SVC_TEST_SEED");
    const chaos = new Chaos(localnet, provider, rng);
    const { clients, running, leases } = chaos;
    await chaos.begin(LEASES);
    for (let count = 1; count <= FAULTS; count++) {
      const began = performance.now();
      const name = await chaos.fault();
      process.stderr.write(`${count}. ${name}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
      expect(clients.wrong, `seed ${rng.seed}, fault ${count}: ${name}`).toEqual([]);
      if (count % 10 === 0) process.stderr.write(`${count} faults, ${clients.right} requests answered\n`);
    }
    await clients.stop();
    expect(clients.right).toBeGreaterThan(0);
    const names = running.map(({ lease }) => `${lease.dseq}/web/0`).toSorted();
    expect([...(await provider.containers()).keys()].toSorted()).toEqual(names);
    for (const { ordered } of running) await localnet.tenant.close(ordered.id);
    await waitFor(async () => (await provider.leftovers()).length === 0, "everything to be gone", {
      timeoutMs: 120_000,
    });
    for (const lease of leases) expect(await localnet.tenant.bids(lease)).toHaveLength(1);
    const { client } = localnet.tenant;
    const { accounts } = await client.query.call(EscrowQuery.method.accounts, { state: "open" });
    expect(accounts).toEqual([]);
    expect(await balanceOf(client, encodeAddress(moduleAddress("escrow")))).toBe(0n);
    const told = JSON.stringify(Object.fromEntries([...chaos.done].toSorted()));
    const requests = `${clients.right} requests answered, ${clients.explained} failed with their fault`;
    process.stderr.write(`${FAULTS} faults under ${LEASES} leases, ${requests}: ${told}\n`);
  });
});
