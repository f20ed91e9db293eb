import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { fillDisk, fillWhole, freeDisk, moveToDisk } from "../support/disk.ts";
import { Fixture, fetchPage, runSvc, startNode, waitFor, webFile } from "../support/index.ts";
import { atNight } from "../support/runs.ts";

/** The cluster's reserve for its host, and a little more. */
const DISK_MIB = 1_200;
/** For `dd`: on the disk when it ends. */
const WRITTEN = ["bs=1M", "count=12", "conv=fsync"];
const KEPT_FREE = ["--provider-least-free-disk", "24Mi"];

describeWithEngine("a provider whose surroundings change", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  let folder = "";

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    provider = await localnet.provider({ name: "provider", cpuScale: "0.1", flags: KEPT_FREE });
    folder = join(provider.home, "provider");
  });
  afterAll(() => localnet?.close());

  atNight(() =>
    it("starts and serves on a full disk, takes no orders there, and comes back with the space", async () => {
      const { tenant, fixture } = localnet;
      await moveToDisk(fixture, provider, DISK_MIB);
      const ordered = await tenant.order(webFile({ page: "on a full disk" }));
      await tenant.awaitBids(ordered.id);
      const lease = await tenant.lease(ordered.order, provider.address);
      await tenant.sendManifest(ordered, provider.address);
      const url = await tenant.awaitReady(lease);

      fillDisk(folder);
      const refused = await tenant.order(webFile());
      await provider.process.line(/this provider does not bid.*MiB free/);
      await provider.process.line(/its reserve is given up/);
      fillWhole(folder);
      expect(await fetchPage(url)).toBe("200 on a full disk\n");
      expect(await tenant.bids(refused.id)).toEqual([]);
      // The tenant has written next to nothing of its 16 MiB.
      const container = (await provider.containers()).get(`${lease.dseq}/web/0`) ?? "";
      await localnet.engine.podman("exec", container, "dd", ...["if=/dev/urandom", "of=/kept"], ...WRITTEN);
      await localnet.engine.podman("exec", container, "rm", "/kept");
      await localnet.engine.podman("exec", container, "dd", ...["if=/dev/urandom", "of=/again"], ...WRITTEN);

      await provider.process.kill();
      await provider.start();
      await provider.process.line(/this provider does not bid.*MiB free/);
      expect(await fetchPage(url)).toBe("200 on a full disk\n");
      expect(await tenant.awaitReady(lease)).toBe(url);

      freeDisk(folder);
      await provider.process.line(/this provider bids again/);
      await tenant.awaitBids(refused.id);
      await tenant.close(refused.id);
      await tenant.close(ordered.id);
      await waitFor(async () => (await provider.leftovers()).length === 0, "everything to be gone");
    }),
  );

  it("refuses a chain that began again while its workloads run, until they are evicted", async () => {
    const { tenant, fixture, engine } = localnet;
    const ordered = await tenant.order(webFile({ page: "of the old chain" }));
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    const url = await tenant.awaitReady(lease);
    const text = [lease.owner, lease.dseq, lease.gseq, lease.oseq, lease.provider].join("/");
    const cluster = ["--cluster-engine", engine.socket, "--chain-id", localnet.node.chainId, "-y", "-o", "json"];
    const evict = (node: string, given: string) =>
      runSvc(["provider", "evict", given, "--home", provider.home, "--node", node, ...cluster]);
    expect(await evict(localnet.node.address, text)).toMatchObject({ stderr: /is running/ });
    await provider.process.stop();
    expect(await evict(localnet.node.address, text)).toMatchObject({
      stderr: expect.stringMatching(/is active on the chain/),
    });

    const other = new Fixture();
    fixture.defer(() => other.close());
    // Another chain of the same name, at whose address the provider asks.
    const again = await startNode(other, { chainId: localnet.node.chainId });
    const run = await runSvc([
      ...provider.process.args.map((each) => (each === localnet.node.address ? again.address : each)),
    ]);
    expect(run.stderr).toMatch(new RegExp(`was restarted from genesis; still running here: ${text}`));
    expect(await fetchPage(url)).toBe("200 of the old chain\n");
    expect(await evict(again.address, `${text}x`)).not.toMatchObject({ code: 0 });
    const evicted = await evict(again.address, text);
    expect(evicted, evicted.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(evicted.stdout)).toEqual({ lease: text });
    expect(await provider.leftovers()).toEqual([]);
    const purged = await runSvc(["provider", "purge", "--home", provider.home, ...cluster]);
    expect(purged, purged.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(purged.stdout)).toEqual({ leases: [] });
  });
});
