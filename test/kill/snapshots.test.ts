import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sha256 } from "../../src/crypto/index.ts";
import { homePaths } from "../../src/node/index.ts";
import { SnapshotDirectory } from "../../src/store/index.ts";
import { toHex } from "../../src/util/index.ts";
import { Fixture, pause, runSvc, seedFrom, startNode, svcOk, waitFor } from "../support/index.ts";
import { auditChain } from "./audit.ts";

const ROUNDS = Number(process.env.SVC_TEST_SNAPSHOT_KILLS ?? 2);
const BLOCK_MS = 150;
/** Longer than loading and restoring take on an idle machine: some are killed, some finish. */
const LONGEST_MS = 1_500;

const fixture = new Fixture();
afterAll(() => fixture.close());

/** Heights of the snapshots of a home, each of whose chunks has the hash that its metadata states. */
function wholeSnapshots(home: string): bigint[] {
  const directory = new SnapshotDirectory(homePaths(home).snapshots);
  return directory.list().map((record) => {
    const told = toHex(record.metadata);
    for (let i = 0; i < record.chunks; i++)
      expect(told).toContain(toHex(sha256(directory.chunk(record, i) ?? new Uint8Array(0))));
    for (const [i, hash] of record.blocks.entries())
      expect(toHex(sha256(directory.block(record, i) ?? new Uint8Array(0)))).toBe(toHex(hash));
    return record.height;
  });
}

describe(`snapshots killed ${ROUNDS} times`, { timeout: 60_000 + ROUNDS * 30_000 }, () => {
  it("are whole or not there, and what is restored is the chain", async () => {
    const rng = seedFrom("SVC_TEST_SEED");
    const flags = ["--state-sync.snapshot-interval", "3", "--state-sync.snapshot-keep-recent", "0"];
    const node = await startNode(fixture, { chainId: "svc-snap-1", blockIntervalMs: BLOCK_MS, flags });
    for (let round = 0; round < ROUNDS; round++) {
      await pause(rng.between(BLOCK_MS, BLOCK_MS * 8));
      await node.process.kill();
      wholeSnapshots(node.home);
      await node.start();
    }
    await waitFor(() => wholeSnapshots(node.home).length > 0, "a snapshot");
    expect(await node.process.stop()).toBe(0);
    const [height] = wholeSnapshots(node.home);
    const { height: last } = auditChain(node.home);
    if (height === undefined) throw new Error("a snapshot was taken");
    const archive = join(node.home, "snapshot.tar.gz");
    await svcOk(["snapshots", "dump", `${height}`, "2", "-o", archive, "--home", node.home]);

    const home = fixture.tempHome("restored");
    await svcOk(["init", "validator", "--chain-id", "svc-snap-1", "--home", home]);
    cpSync(join(node.home, "config"), join(home, "config"), { recursive: true });
    const restore = ["snapshots", "restore", `${height}`, "2", "--home", home];
    let isThere = false;
    for (let round = 0; round < ROUNDS; round++) {
      await runSvc(["snapshots", "load", archive, "--home", home], {
        timeoutMs: Math.ceil(rng.between(1, LONGEST_MS)),
      });
      expect(wholeSnapshots(home).filter((each) => each !== height)).toEqual([]);
      const { stderr } = await runSvc(restore, { timeoutMs: Math.ceil(rng.between(1, LONGEST_MS)) });
      isThere ||= stderr.includes("the home already has a state");
    }
    if (wholeSnapshots(home).length === 0) await svcOk(["snapshots", "load", archive, "--home", home]);
    if (isThere || (await runSvc(restore)).code !== 0) {
      // A restore came to its end before its kill did.
      rmSync(homePaths(home).database, { recursive: true });
      await svcOk(restore);
    }
    const [there, here] = [await svcOk(["export", "--home", home]), await svcOk(["export", "--home", node.home])];
    expect(JSON.parse(there).app_state).toEqual(JSON.parse(here).app_state);
    expect(JSON.parse(there).initial_height).toBe(`${last + 1n}`);
    console.log(`restored height ${height}, then blocks to ${last}`);
  });
});
