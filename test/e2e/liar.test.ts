import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { accountInfo } from "../../src/client/index.ts";
import type { DeployResult } from "../../src/tenant/result.ts";
import { describeWithEngine, TestLocalnet } from "../support/containers.ts";
import { fetchPage, mustSend, runSvc, svcOk, transfer, webFile } from "../support/index.ts";
import { inHeader, inStore, type Liar, type Lie, otherValue, startLiar, TRUTH } from "../support/light/liar.ts";

describeWithEngine("svc deploy --verify require through a node that lies", () => {
  let localnet: TestLocalnet;
  let liar: Liar;
  /** Flags of the tenant's commands. */
  let tenant: readonly string[];
  let home: string;
  let address: string;
  let file: string;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    const { fixture, node, faucet } = localnet;
    // Each refused deployment leaves an order with a bid.
    const provider = await localnet.provider({ name: "provider", flags: ["--bid-share-per-tenant", "100"] });
    const block = await localnet.tenant.client.node.block(3n);
    const trust = ["config", "trust", "3", block.hash];
    // The provider relies on proven leases too.
    await provider.process.stop();
    await svcOk([...trust, "--home", provider.home]);
    await provider.start();
    liar = await startLiar(node.address);
    fixture.defer(() => liar.close());
    home = fixture.tempHome("tenant");
    const keyring = ["--home", home, "--keyring-backend", "test"];
    await svcOk(["keys", "add", "tenant", ...keyring]);
    address = (await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim();
    await mustSend(localnet.tenant.client, faucet, transfer(faucet.address, address, 1_000_000_000n));
    tenant = [...keyring, "--node", liar.url, "--chain-id", node.chainId];
    await svcOk([...trust, "--home", home]);
    file = join(home, "web.yaml");
    writeFileSync(file, webFile());
  });
  afterAll(() => localnet?.close());
  beforeEach(() => {
    liar.lie = TRUTH;
  });

  const deploy = () => runSvc(["deploy", file, "--new", "-y", "-o", "json", "--verify", "require", ...tenant]);

  it("runs where the node tells the truth, and says at which height it was verified", async () => {
    const { code, stdout, stderr } = await deploy();
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/lease, escrow and certificate verified at height \d+\n/);
    const { uris }: DeployResult = JSON.parse(stdout);
    expect(await fetchPage(uris[0] ?? "")).not.toBe("");
  });

  it.each<[string, Lie, RegExp]>([
    ["balances", inStore("bank", otherValue), /the proof does not hold/],
    ["parameters", inStore("deployment", otherValue, "00"), /the proof does not hold/],
    ["deployments", inStore("deployment", otherValue, "01"), /the proof does not hold/],
    ["escrow", inStore("escrow", otherValue), /the proof does not hold/],
    ["bids", inStore("market", otherValue, "20"), /the proof does not hold/],
    ["leases", inStore("market", otherValue, "30"), /the proof does not hold/],
    ["providers", inStore("provider", otherValue), /the proof does not hold/],
    ["certificates", inStore("cert", otherValue), /the proof does not hold/],
    ["its proofs", inStore("market", (response) => (response.proofOps = null)), /the node gives no proof/],
    ["the state in headers", inHeader((header) => (header.app_hash = "AB".repeat(32))), /the block is not valid/],
    ["votes", inHeader((_, commit) => (commit.signatures[0].signature = btoa("x".repeat(64)))), /is wrong/],
    ["the chain", inHeader((header) => (header.chain_id = "other-1")), /another chain/],
  ])("is refused where it lies about %s, and sends no manifest", async (_, lie, reason) => {
    liar.lie = lie;
    const { code, stderr } = await deploy();
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain("accepted by");
  });

  it("pays for no certificate where it hides the tenant's", async () => {
    const { client } = localnet.tenant;
    const before = await accountInfo(client.query, address);
    liar.lie = (method, { path }, result) => {
      if (method === "abci_query" && path === "/svc.cert.v1beta1.Query/Certificates") result.response.value = "";
      return result;
    };
    const { code, stderr } = await deploy();
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain("created and published");
    expect((await accountInfo(client.query, address)).sequence - before.sequence).toBe(2n);
  });

  it("names the liar where a witness has a verified block", async () => {
    await svcOk(["config", "set", "witnesses", localnet.node.address, "--home", home]);
    liar.lie = inHeader((_, commit) => (commit.signatures[0].signature = btoa("x".repeat(64))));
    const { code, stderr } = await deploy();
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: \S+ lies: \S+ has a verified block \d+: the block is not valid\n/),
    });
    await svcOk(["config", "set", "witnesses", "", "--home", home]);
  });

  it("is not begun without a trusted block", async () => {
    const { code, stderr } = await runSvc([
      "deploy",
      file,
      "-y",
      "--verify",
      "require",
      ...tenant,
      "--profile",
      "cosmos",
    ]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("no trusted block is set") });
  });
});
