import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { commandLine, processesOn } from "../support/abandoned.ts";
import { startEngine } from "../support/containers.ts";
import { Fixture, fetchPage, ROOT, runSvc, svcOk, waitFor } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";

/** One command that starts a network: four validators, two providers and a deployment. */

const PORT_OFFSET = 2600;
const peer = await buildPeer("cometbft");

interface Validator {
  readonly rpc: string;
  readonly p2p: string;
  readonly pid: number;
  readonly home: string;
}

describe.skipIf(!(peer instanceof Peer))("a localnet of four validators", () => {
  const fixture = new Fixture();
  const home = join(fixture.folder, "localnet");
  afterAll(async () => {
    await fixture.close();
    if (peer instanceof Peer) peer.remove();
  });

  async function heightOf({ rpc }: Validator): Promise<number> {
    const { result } = JSON.parse(await (await fetch(`${rpc}/status`)).text());
    return Number(result.sync_info.latest_block_height);
  }

  test("deploys a file, starts a killed validator again, and leaves nothing", async () => {
    if (!(peer instanceof Peer)) return;
    const engine = await startEngine(fixture);
    const flags = ["-o", "json", "--home", home, "--cluster-engine", engine.socket, "--block-interval", "300ms"];
    const size = ["--validators", "4", "--providers", "2", "--cometbft", peer.binary];
    const words = ["localnet", "--port-offset", String(PORT_OFFSET), "--deploy", join(ROOT, "examples/web.yaml")];
    const localnet = await fixture.start("localnet", [...words, ...size, ...flags]);
    fixture.defer(() => localnet.stop());
    const ready = JSON.parse(await localnet.line(/"type":"ready"/, 180_000));
    const validators: readonly Validator[] = ready.validators;
    expect(validators.map(({ rpc }) => rpc)).toEqual(
      [0, 1, 2, 3].map((i) => `http://127.0.0.1:${26_657 + PORT_OFFSET + 10 * i}`),
    );
    expect(validators.map((each) => each.home)).toEqual([home, ...[2, 3, 4].map((i) => join(home, `node-${i}`))]);
    for (const [i, { p2p }] of validators.entries())
      expect(p2p).toMatch(new RegExp(`^[0-9a-f]{40}@127\\.0\\.0\\.1:${26_656 + PORT_OFFSET + 10 * i}$`));
    const [url] = ready.deployments[0].uris;
    expect(await fetchPage(url)).toMatch(/^200 /);
    const { providers } = JSON.parse(await svcOk(["query", "provider", "list", "-o", "json"], { home }));
    expect(providers).toHaveLength(2);
    const staking = JSON.parse(await svcOk(["query", "staking", "validators", "-o", "json"], { home }));
    expect(staking.validators).toMatchObject(validators.map(() => ({ status: "BOND_STATUS_BONDED" })));

    const [first, , third] = validators;
    if (first === undefined || third === undefined) throw new Error("four validators");
    process.kill(third.pid, "SIGKILL");
    const again = JSON.parse(await localnet.line(/"type":"restarted"/));
    expect(again).toEqual({ type: "restarted", name: "node-3", pid: expect.any(Number) });
    const before = await heightOf(first);
    await waitFor(async () => (await heightOf(third)) > before, "the killed validator at a new block");
    expect(await fetchPage(url)).toMatch(/^200 /);

    expect(await localnet.stop()).toBe(0);
    expect([home, `${home}-run`].filter(existsSync)).toEqual([]);
    await expect.poll(() => processesOn(home).map(commandLine), { timeout: 30_000 }).toEqual([]);
    expect(await engine.podman("ps", "--all", "--quiet")).toBe("");
  });
});

test("several validators without CometBFT are refused as svc start refuses them", async () => {
  const fixture = new Fixture();
  const env = { HOME: fixture.folder, PATH: "/nowhere" };
  const words = ["localnet", "--validators", "4", "--home", join(fixture.folder, "localnet")];
  const [localnet, engine] = [await runSvc(words, { env }), await runSvc(["engine", "show"], { env })];
  await fixture.close();
  expect(localnet).toEqual({ code: 3, stdout: "", stderr: engine.stderr });
});
