import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { describeWithEngine, TestLocalnet } from "../support/containers.ts";
import { fetchPage, svcOk, webFile } from "../support/index.ts";

/** Paths of the programs of earlier versions, with commas between: `npm run lab upgrade` builds them. */
const paths = (text = ""): string[] => text.split(",").filter((path) => path !== "");
const EARLIER = paths(process.env.SVC_TEST_EARLIER);
/** Versions whose node has data in another format: the chain continues from its exported state. */
const EARLIER_CHAIN = paths(process.env.SVC_TEST_EARLIER_CHAIN);
const LEASES = Number(process.env.SVC_TEST_LEASES ?? 30);

describeWithEngine("an upgrade of a node and a provider with running leases", () => {
  let localnet: TestLocalnet | undefined;
  afterEach(() => localnet?.close());

  it.each([...EARLIER, ...EARLIER_CHAIN])(
    "from %s restarts no container, and a further start neither",
    async (main) => {
      localnet = await TestLocalnet.start(200, main);
      const { tenant, node } = localnet;
      const provider = await localnet.provider({ name: "provider", main, flags: ["--overcommit-pct-cpu", "300"] });
      const pages: [url: string, page: string][] = [];
      for (let i = 0; i < LEASES; i++) {
        const ordered = await tenant.order(webFile({ page: `page ${i}` }));
        await tenant.awaitBids(ordered.id);
        const lease = await tenant.lease(ordered.order, provider.address);
        await tenant.sendManifest(ordered, provider.address);
        pages.push([await tenant.awaitReady(lease), `200 page ${i}\n`]);
      }
      const started = await provider.started();
      expect(started.size).toBe(LEASES);

      await provider.process.stop();
      await node.process.stop();
      if (EARLIER_CHAIN.includes(main)) await beginFromExport(node.home, main);
      await node.start({});
      await provider.start();
      const seen = async () => Promise.all(pages.map(async ([url]) => [url, await fetchPage(url)]));
      expect(await seen()).toEqual(pages);
      expect(await provider.started()).toEqual(started);

      await provider.process.kill();
      await provider.start();
      expect(await seen()).toEqual(pages);
      expect(await provider.started()).toEqual(started);
    },
  );
});

/** Puts the state that this program exports in place of its data. */
async function beginFromExport(home: string, main: string): Promise<void> {
  const genesis = await svcOk(["export", "--home", home], { main });
  rmSync(join(home, "data", "chain"), { recursive: true });
  writeFileSync(join(home, "config", "genesis.json"), genesis);
}
