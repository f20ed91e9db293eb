import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { untilOk } from "../../../test/support/conformance/index.ts";
import { damageFile } from "../../../test/support/provider/damage.ts";
import { onChain, sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { LeaseHarness, leaseOf } from "../../../test/support/provider/leases.ts";
import { Rng } from "../../../test/support/rng.ts";
import { runs } from "../../../test/support/runs.ts";

const LEASES = [1n, 2n, 3n];
const ROUNDS = 15;

it("whatever becomes of its files, the daemon starts and knows all leases again", async () => {
  const rng = new Rng(Number(process.env.SVC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)));
  process.stderr.write(`seed ${rng.seed} (repeat with SVC_TEST_SEED=${rng.seed})\n`);
  const world = new LeaseHarness();
  try {
    for (const dseq of LEASES) {
      const loaded = sampleDeployment({ nodePorts: [9000 + Number(dseq)] });
      world.chain.win(leaseOf(dseq), onChain(loaded));
      world.service.leaseWon(leaseOf(dseq));
      await world.service.manifestReceived(leaseOf(dseq).owner, dseq, loaded.manifest);
      await untilOk(world.driver, leaseOf(dseq));
    }
    await world.pass(5_000);
    const known = () => LEASES.map((dseq) => ({ ...world.service.find(leaseOf(dseq)), firstSeen: 0, loopback: {} }));
    const before = known();
    const hosts = world.ingress.routes.hosts().toSorted();
    for (let round = 0; round < runs(ROUNDS); round++) {
      await world.service.stop();
      const done = damageSome(world.folder, rng);
      await world.restart();
      await world.pass(30_000);
      expect(known(), `seed ${rng.seed}, round ${round}: ${done.join("; ")}`).toEqual(before);
      expect(world.ingress.routes.hosts().toSorted(), done.join("; ")).toEqual(hosts);
      for (const dseq of LEASES) expect((await world.driver.status(leaseOf(dseq))).health).toBe("ok");
      expect(world.closed).toEqual([]);
    }
  } finally {
    await world.close();
  }
});

/** About half of all files; what earlier rounds left instead of a file does not count. */
function damageSome(folder: string, rng: Rng): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const files = paths.filter((path) => lstatSync(path).isFile()).filter(() => rng.next() < 0.5);
  return files.map((path) => `${path.slice(folder.length + 1)} ${damageFile(path, (count) => rng.below(count))}`);
}
