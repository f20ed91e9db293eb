import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { homePaths, homeValidatorKey } from "../../src/node/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { toBase64 } from "../../src/util/index.ts";
import { answerOf } from "../support/agreement.ts";
import { execFileSync } from "../support/bounded.ts";
import { Fixture, freePorts, mustSend, ROOT, startNode, TestNode, transfer, waitFor } from "../support/index.ts";
import { atNight } from "../support/runs.ts";
import { buildPeer, Peer, type PeerProcess } from "./peers.ts";

/** A validator whose key another program holds, as the operator's guide sets both up. */

const CHAIN = "svc-1";
/** Where the guide's node waits for its signer. */
const PLACE = "10.0.0.1:26659";
const PATIENCE = { timeoutMs: 120_000 } as const;

/** The configuration of the signer in the guide. */
function guided(): string {
  const guide = readFileSync(join(ROOT, "docs", "guides", "node.md"), "utf8");
  const [, config = ""] = /```toml\n(\[\[chain\]\][^`]*)```/.exec(guide) ?? [];
  expect(config).toContain(PLACE);
  return config;
}

/** Blocks that the signer signed a vote or a proposal for, by kind, height, round and step. */
function signed(output: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, kind, block = "", place] of output.matchAll(/ signed (\w+):(\S+) at h\/r\/s (\S+) /g)) {
    const key = `${kind} ${place}`;
    found.set(key, (found.get(key) ?? new Set()).add(block));
  }
  return found;
}

async function infoOf(node: TestNode) {
  const { sync_info, validator_info } = await answerOf(node.address.replace("tcp:", "http:"), "status");
  return { height: Number(sync_info.latest_block_height), key: validator_info.pub_key.value };
}

const reaches = (node: TestNode, height: number) =>
  waitFor(async () => (await infoOf(node)).height >= height, `block ${height}`, PATIENCE);

async function killed({ process, ended }: PeerProcess): Promise<void> {
  process.kill("SIGKILL");
  await waitFor(async () => ended(), "the end of the signer");
}

atNight(() => {
  describe("a validator with a remote signer", async () => {
    const [comet, tmkms] = [await buildPeer("cometbft"), await buildPeer("tmkms")];
    const fixture = new Fixture();
    const folder = fixture.tempHome("signer");
    const [alice, bob] = [testKey("alice"), testKey("bob")];
    const outputs: (() => string)[] = [];
    let [key, port] = ["", 0];
    let node: TestNode;
    let signer: PeerProcess;

    afterAll(async () => {
      await fixture.close();
      for (const peer of [comet, tmkms]) if (peer instanceof Peer) peer.remove();
    });

    function startSigner(): void {
      if (!(tmkms instanceof Peer)) throw new Error(tmkms.missing);
      const started = tmkms.start(["start"], { cwd: folder });
      outputs.push(started.output);
      fixture.defer(() => started.process.kill("SIGKILL"));
      signer = started;
    }

    /** Moves the private key of a home to the signer, and starts it. */
    function handOver(home: string): void {
      if (!(tmkms instanceof Peer)) throw new Error(tmkms.missing);
      const { validatorKey: file } = homePaths(home);
      key = toBase64(homeValidatorKey(home));
      for (const words of [
        ["import", file, "consensus.key"],
        ["keygen", "connection.key"],
      ])
        execFileSync(tmkms.binary, ["softsign", ...words], { cwd: folder });
      const { priv_key, ...shown } = JSON.parse(readFileSync(file, "utf8"));
      expect(priv_key).toBeDefined();
      writeFileSync(file, JSON.stringify(shown));
      writeFileSync(join(folder, "tmkms.toml"), guided().replace(PLACE, `127.0.0.1:${port}`));
      startSigner();
    }

    test("makes ten blocks, stops while the signer is away, and goes on", { timeout: 400_000 }, async () => {
      if (!(comet instanceof Peer)) throw new Error(comet.missing);
      const [p2p = 0, place = 0] = await freePorts(2);
      port = place;
      node = await startNode(fixture, {
        chainId: CHAIN,
        accounts: [{ address: alice.address, coins: [{ denom: "utoken", amount: 1_000_000n }] }],
        firstBlockWithinMs: PATIENCE.timeoutMs,
        flags: [
          ...["--engine", "cometbft", "--cometbft", comet.binary, "--p2p.laddr", `tcp://127.0.0.1:${p2p}`],
          ...["--priv_validator_laddr", `tcp://127.0.0.1:${port}`],
        ],
        editHome: handOver,
      }).catch((error: unknown) => {
        throw new Error(`the signer says: ${signer.output().slice(0, 2_000)}`, { cause: error });
      });
      await reaches(node, 10);
      expect((await infoOf(node)).key).toBe(key);
      expect(readFileSync(homePaths(node.home).validatorKey, "utf8")).not.toContain("priv_key");
      await killed(signer);
      // The block of a vote that was signed already may still come.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const { height } = await infoOf(node);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      expect((await infoOf(node)).height).toBe(height);
      startSigner();
      await reaches(node, height + 10);
      const client = node.client();
      await mustSend(client, alice, transfer(alice.address, bob.address, 7n));
      client.close();
    });

    test("gets no vote for an older copy of its home", { timeout: 400_000 }, async () => {
      const { height: before } = await infoOf(node);
      await node.process.stop();
      const copy = fixture.tempHome("copy");
      cpSync(node.home, copy, { recursive: true });
      await node.start();
      await reaches(node, before + 5);
      const { height: last } = await infoOf(node);
      await node.process.stop();
      await killed(signer);
      const args = node.args.map((word) => (word === node.home ? copy : word));
      const [rpc = 0] = await freePorts(1);
      const twin = new TestNode(fixture, {
        ...{ home: copy, chainId: CHAIN, port: rpc, firstBlockWithinMs: PATIENCE.timeoutMs },
        args: args.map((word, i) => (args[i - 1] === "--rpc.laddr" ? `tcp://127.0.0.1:${rpc}` : word)),
      });
      startSigner();
      await twin.start();
      await waitFor(async () => signer.output().includes("height regression"), "the refusal", PATIENCE);
      expect((await infoOf(twin)).height).toBeLessThan(last);
      await twin.process.stop();
      for (const [place, blocks] of signed(outputs.map((output) => output()).join("\n")))
        expect([place, ...blocks]).toHaveLength(2);
    });
  });
});
