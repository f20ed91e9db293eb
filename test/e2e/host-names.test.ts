import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DeployResult } from "../../src/tenant/result.ts";
import { runSvcHere, svcHereOk } from "../cli/run.ts";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import { mustSend, runSvc, transfer, waitFor, webFile } from "../support/index.ts";
import { TestNameServer } from "../support/provider/dns.ts";

const run = promisify(execFile);
const HOST = "shop.example.org";
const CHALLENGE = `TXT _svc-challenge.${HOST}`;
const QUARANTINE_MS = 4_000;

interface Tenant {
  readonly address: string;
  /** Flags of each command. */
  readonly flags: readonly string[];
  readonly file: string;
}

/** Two tenants and one name, by the commands that tenants type, at a provider that asks a DNS server of its operator's. */
describeWithEngine("a host name of two tenants", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  let dns: TestNameServer;
  let one: Tenant;
  let two: Tenant;

  beforeAll(async () => {
    dns = await TestNameServer.start();
    localnet = await TestLocalnet.start();
    const flags = [
      ...["--deployment-hostname-resolvers", dns.address],
      ...["--deployment-hostname-quarantine", `${QUARANTINE_MS / 1_000}s`],
    ];
    provider = await localnet.provider({ name: "provider", flags });
    one = await tenant("one");
    two = await tenant("two");
  });
  afterAll(async () => {
    await localnet?.close();
    dns?.close();
  });

  it("is not paid for before the DNS says whose it is; the refusal prints the record", async () => {
    const { code, stderr } = await deploy(one);
    expect(code, stderr).not.toBe(0);
    expect(stderr).toContain(`_svc-challenge.${HOST} TXT "${one.address}"`);
    expect(await leases(one)).toEqual([]);
  });

  let first: DeployResult;
  it("is the tenant's whom the operator's DNS server names", async () => {
    dns.records.set(CHALLENGE, [one.address]);
    first = await mustDeploy(one);
    expect(await page()).toContain("one");
    expect(await leases(one)).toHaveLength(1);
  });

  it("is refused to another before his lease is paid, even if the DNS names him too", async () => {
    for (const records of [[one.address], [one.address, two.address]]) {
      dns.records.set(CHALLENGE, records);
      const { code, stderr } = await deploy(two);
      expect(code, stderr).not.toBe(0);
      expect(stderr).toContain(HOST);
      expect(stderr).not.toContain(one.address);
      expect(await leases(two)).toEqual([]);
    }
    expect(await page()).toContain("one");
  });

  it("rests for as long as the operator says, and is the other's then", async () => {
    await svcHereOk(["deploy", "close", String(first.dseq), "-y", ...one.flags]);
    await waitFor(async () => (await deploy(two)).code === 0, "the name to be free", {
      timeoutMs: 20 * QUARANTINE_MS,
      pollMs: 500,
    });
    expect(await leases(two)).toHaveLength(1);
    expect(await page()).toContain("two");
  });

  async function tenant(name: string): Promise<Tenant> {
    const home = localnet.fixture.tempHome(name);
    const keyring = ["--home", home, "--keyring-backend", "test"];
    await svcHereOk(["keys", "add", name, ...keyring]);
    const address = (await svcHereOk(["keys", "show", name, "-a", ...keyring])).trim();
    await mustSend(localnet.tenant.client, localnet.faucet, transfer(localnet.faucet.address, address, 1_000_000_000n));
    const file = join(home, "deploy.yaml");
    writeFileSync(file, webFile({ page: name }).replace("as: 80\n", `as: 80\n        accept: [${HOST}]\n`));
    const flags = [...keyring, "--node", localnet.node.address, "--chain-id", localnet.node.chainId];
    return { address, flags, file };
  }

  function deploy({ file, flags }: Tenant, run = runSvcHere) {
    return run(["deploy", file, "-y", "-o", "json", ...flags]);
  }

  async function mustDeploy(who: Tenant): Promise<DeployResult> {
    const { code, stdout, stderr } = await deploy(who, runSvc);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  /** Every lease that the tenant ever had. */
  async function leases({ address }: Tenant): Promise<unknown[]> {
    const query = ["query", "market", "lease", "list", "--owner", address, "-o", "json"];
    return JSON.parse(await svcHereOk([...query, "--node", localnet.node.address])).leases;
  }

  async function page(): Promise<string> {
    const { stdout } = await run("curl", [
      "-s",
      "--resolve",
      `${HOST}:${provider.ingressPort}:127.0.0.1`,
      `http://${HOST}:${provider.ingressPort}/`,
    ]);
    return stdout;
  }
});
