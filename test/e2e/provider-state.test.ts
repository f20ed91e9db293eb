import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { Fixture, fetchPage, runSvc, startNode, waitFor, webFile } from "../support/index.ts";

/** What the cluster keeps for its host, and a little. */
const DISK_MIB = 1_200;
const KEPT_FREE = ["--provider-least-free-disk", "24Mi"];
const CHUNK = Buffer.alloc(1 << 20, 1);

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

  it("starts and serves on a full disk, takes no orders there, and comes back with the space", async () => {
    const { tenant, fixture } = localnet;
    await provider.process.stop();
    await provider.purge();
    renameSync(folder, `${folder}.old`);
    mkdirSync(folder, { mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=0700`, "tmpfs", folder]);
    fixture.defer(() => execFileSync("umount", ["--lazy", folder]));
    fixture.defer(() => provider.purge());
    cpSync(`${folder}.old`, folder, { recursive: true, filter: (path) => !path.includes("/plane") });
    rmSync(`${folder}.old`, { recursive: true });
    await provider.start();
    const ordered = await tenant.order(webFile({ page: "on a full disk" }));
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    const url = await tenant.awaitReady(lease);

    const filler = join(folder, "filler");
    execFileSync("fallocate", ["-l", `${freeMib(folder) - 1}MiB`, filler]);
    fill(filler);
    const refused = await tenant.order(webFile());
    await provider.process.line(/this provider does not bid.*MiB free/);
    await provider.process.line(/its reserve is given up/);
    fill(`${filler}-2`);
    expect(await fetchPage(url)).toBe("200 on a full disk\n");
    expect(await tenant.bids(refused.id)).toEqual([]);

    await provider.process.kill();
    await provider.start();
    await provider.process.line(/this provider does not bid.*MiB free/);
    expect(await fetchPage(url)).toBe("200 on a full disk\n");
    expect(await tenant.awaitReady(lease)).toBe(url);

    rmSync(filler);
    rmSync(`${filler}-2`, { force: true });
    await tenant.awaitBids((await tenant.order(webFile())).id);
    await provider.process.line(/this provider bids again/);
    await tenant.close(ordered.id);
    await waitFor(async () => (await provider.leftovers()).length === 0, "everything to be gone");
  });

  it("refuses a chain that began again while its workloads run, until they are evicted", async () => {
    const { tenant, fixture, engine } = localnet;
    const ordered = await tenant.order(webFile({ page: "of the old chain" }));
    await tenant.awaitBids(ordered.id);
    const lease = await tenant.lease(ordered.order, provider.address);
    await tenant.sendManifest(ordered, provider.address);
    const url = await tenant.awaitReady(lease);
    const text = [lease.owner, lease.dseq, lease.gseq, lease.oseq, lease.provider].join("/");
    const evict = (node: string, given: string) =>
      runSvc([
        ...["provider", "evict", given, "-y", "--home", provider.home, "--node", node],
        ...["--cluster-engine", engine.socket, "--chain-id", localnet.node.chainId],
      ]);
    expect(await evict(localnet.node.address, text)).toMatchObject({ stderr: /is running/ });
    await provider.process.stop();
    expect(await evict(localnet.node.address, text)).toMatchObject({ stderr: expect.stringMatching(/as active/) });

    const other = new Fixture();
    fixture.defer(() => other.close());
    // Another chain of the same name, at whose address the provider asks.
    const again = await startNode(other, { chainId: localnet.node.chainId });
    const run = await runSvc([
      ...provider.process.args.map((each) => (each === localnet.node.address ? again.address : each)),
    ]);
    expect(run.stderr).toMatch(new RegExp(`has begun again, and here run ${text}`));
    expect(await fetchPage(url)).toBe("200 of the old chain\n");
    expect(await evict(again.address, `${text}x`)).not.toMatchObject({ code: 0 });
    expect(await evict(again.address, text)).toMatchObject({ code: 0, stdout: `${text}\n` });
    expect(await provider.leftovers()).toEqual([]);
  });
});

function freeMib(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return Math.floor((bavail * bsize) / CHUNK.length);
}

/** To the last byte. */
function fill(path: string): void {
  for (let size = CHUNK.length; size > 512; size >>= 1) {
    try {
      for (;;) writeFileSync(path, CHUNK.subarray(0, size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}
