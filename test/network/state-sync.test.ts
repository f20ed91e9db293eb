import { appendFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { homePaths } from "../../src/node/index.ts";
import { svcOk, waitFor } from "../support/index.ts";
import { type Lie, startLiar } from "../support/light/liar.ts";
import { inLab, keepValidators, type LabRequest, makeNode } from "./lab/lab.ts";
import { OWN_ADDRESS } from "./lab/machines.ts";

/** A node that joins by a snapshot, and asks nodes that lie about the headers. */

const LONG_MS = 600_000;
const PATIENCE = { timeoutMs: 240_000, pollMs: 500 } as const;
const SNAPSHOTS = ["--state-sync.snapshot-interval", "10", "--state-sync.snapshot-keep-recent", "0"];
const TRUSTED = 1;

test("NET-15: a node joins by state sync with one liar of three, and not with liars alone", {
  timeout: LONG_MS,
}, () => {
  const request: LabRequest = { count: 5, started: 4, flags: SNAPSHOTS, editGenesis: keepValidators(4) };
  return inLab("NET-15", request, async (lab) => {
    const [first, second, joiner] = [lab.at(0), lab.at(1), lab.at(4)];
    const { fixture } = lab;
    lab.nodes.pop();
    const snapshots = homePaths(first.home).snapshots;
    await waitFor(() => existsSync(snapshots) && readdirSync(snapshots).length > 0, "a snapshot", PATIENCE);
    await first.reaches((await first.height()) + 3);
    const hash = (await first.answer(`commit?height=${TRUSTED}`)).signed_header.commit.block_id.hash;
    const trust = ["--state-sync.trust-height", `${TRUSTED}`, "--state-sync.trust-hash", hash];
    appendFileSync(join(homePaths(joiner.home).config, "config.toml"), '[cometbft.statesync]\ndiscovery_time = "5s"\n');
    const liars = await Promise.all([first, second].map((node) => startLiar(node.node.address, OWN_ADDRESS)));
    for (const liar of liars) fixture.defer(() => liar.close());
    const joining = (servers: readonly string[]) => {
      const flags = [...SNAPSHOTS, "--state-sync.rpc-servers", servers.join(","), ...trust];
      return makeNode(fixture, { machine: joiner.machine, home: joiner.home, flags, request });
    };
    for (const liar of liars) liar.lie = otherState(() => true);
    const fooled = await joining(liars.map(({ url }) => url));
    const started = fooled.node.start().catch(() => undefined);
    await waitFor(() => fooled.node.process.output.includes("commit signs block"), "the refusal", PATIENCE);
    await fooled.node.process.stop();
    await started;
    await svcOk(["unsafe-reset-all", "--home", joiner.home]);
    // The trusted block is the true one, and every later header is not.
    const [liar] = liars;
    if (liar === undefined) throw new Error("two liars");
    liar.lie = otherState((height) => height !== TRUSTED);
    const honest = [second, lab.at(2)].map(({ node }) => node.address);
    const joined = await joining([liar.url, ...honest]);
    await joined.node.start();
    expect(liar.requests.length).toBeGreaterThan(0);
    const base = Number((await joined.answer("status")).sync_info.earliest_block_height);
    expect(base).toBeGreaterThan(TRUSTED);
    await joined.reaches(base + 3);
    for (let height = base; height <= base + 3; height++)
      expect(await joined.answer(`block?height=${height}`)).toEqual(await first.answer(`block?height=${height}`));
    return { base };
  });
});

/** Lies about the state in headers of some heights. */
function otherState(isMeant: (height: number) => boolean): Lie {
  return (method, _, result) => {
    const header = method === "commit" ? result.signed_header.header : undefined;
    if (header !== undefined && isMeant(Number(header.height))) header.app_hash = "AB".repeat(32);
    return result;
  };
}
