import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DeployResult } from "../../src/tenant/result.ts";
import { parseDec } from "../../src/util/index.ts";
import { Account_State } from "../../src/wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { describeWithEngine, TestLocalnet, type TestProvider } from "../support/containers.ts";
import {
  balanceOf,
  fetchPage,
  mustSend,
  ROOT,
  runSvc,
  SvcProcess,
  svcOk,
  transfer,
  waitFor,
  webFile,
} from "../support/index.ts";

const SCALE = 10n ** 18n;
const EXAMPLES = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".yaml"));

/** Every kind of file that people write, with one command each, on real processes and containers. */
describeWithEngine("svc deploy", () => {
  let localnet: TestLocalnet;
  let provider: TestProvider;
  /** Flags of the tenant's commands. */
  let tenant: readonly string[];
  let address: string;
  const deployed = new Map<string, DeployResult>();

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    // Expensive enough for whole units to be earned within a few blocks. The examples' host names are not in the DNS.
    const env = { SVC_DEPLOYMENT_HOSTNAME_PROOF: "first-come" };
    provider = await localnet.provider({ name: "provider", cpuScale: "1.5", env });
    await offerVolumes();
    const home = localnet.fixture.tempHome("tenant");
    const keyring = ["--home", home, "--keyring-backend", "test"];
    await svcOk(["keys", "add", "tenant", ...keyring]);
    address = (await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim();
    // The only key of the home needs no --from.
    tenant = [...keyring, "--node", localnet.node.address, "--chain-id", localnet.node.chainId];
    await mustSend(localnet.tenant.client, localnet.faucet, transfer(localnet.faucet.address, address, 1_000_000_000n));
  });
  afterAll(() => localnet?.close());

  it.each(EXAMPLES)("examples/%s answers from outside", async (name) => {
    const result = await deploy(copyOf(name));
    deployed.set(name, result);
    expect(result.leases.map((lease) => lease.provider)).toEqual([provider.address]);
    const total = result.services.reduce((sum, service) => sum + service.total, 0);
    const ready = result.services.reduce((sum, service) => sum + service.available, 0);
    expect(ready).toBe(total);
    for (const uri of result.uris) expect((await fetch(uri)).status).toBe(200);
    for (const { host, port, proto } of result.ports) {
      if (proto === "TCP") expect(await echo(host, port, "are you there?\n")).toBe("are you there?\n");
    }
    expect(result.uris.length + result.ports.length).toBeGreaterThan(0);
    const containers = [...(await provider.containers()).keys()];
    expect(containers.filter((each) => each.startsWith(`${result.dseq}/`))).toHaveLength(total);
  });

  it("the front end shows what the back end says, which nobody else reaches", async () => {
    const { uris, ports } = need("two-services.yaml");
    expect(ports).toEqual([]);
    await waitFor(
      async () => (await fetchPage(uris[0] ?? "")).includes("hello from the back end"),
      "the back end's page",
    );
  });

  it("three replicas share one address", async () => {
    const { uris } = need("replicas.yaml");
    const pages = new Set<string>();
    await waitFor(async () => pages.add(await fetchPage(uris[0] ?? "")).size === 3, "all three replicas");
  });

  it("the list, the logs and a command inside", async () => {
    const lines: { deployments: { dseq: string; uris: string[]; price: { amount: string } }[] } = JSON.parse(
      await svcOk(["deploy", "ps", "-o", "json", ...tenant]),
    );
    expect(lines.deployments.map(({ dseq }) => dseq).sort()).toEqual(
      [...deployed.values()].map(({ dseq }) => dseq).sort(),
    );
    const { dseq } = need("env-command-args.yaml");
    expect(await svcOk(["deploy", "logs", "greeter", "--dseq", dseq, ...tenant])).toContain(
      "[greeter-0] serving on port",
    );
    const shell = ["deploy", "shell", "greeter", "--dseq", dseq, ...tenant];
    const inside = await runSvc([...shell, "--", "sh", "-c", "echo $WHO; exit 7"]);
    expect(inside).toMatchObject({ code: 7, stdout: "world\n" });
    const piped = await runSvc([...shell, "--", "cat"], { input: "piped\n" });
    expect(piped).toMatchObject({ code: 0, stdout: "piped\n" });
    const several = await runSvc(["deploy", "logs", ...tenant]);
    expect(several).toMatchObject({ code: 1, stdout: "" });
    expect(several.stderr).toContain(`${dseq} (env-command-args.yaml)`);
  });

  it("the same file again is the same deployment", async () => {
    const again = await deploy(copyOf("web.yaml"));
    expect(again.dseq).toBe(need("web.yaml").dseq);
  });

  it("an update changes the program and keeps the volume", async () => {
    const { dseq, uris } = need("persistent.yaml");
    const [uri = ""] = uris;
    const first = (await fetchPage(uri)).split("\n").filter((line) => line !== "");
    const file = copyOf("persistent.yaml");
    const text = readFileSync(file, "utf8");
    const script = text.replace(/( +)exec httpd/, "$1echo updated >> /data/index.html\n$1exec httpd");
    expect(script).not.toBe(text);
    writeFileSync(file, script);
    const { stdout } = await runSvc(["deploy", "update", file, "-y", "-o", "json", ...tenant]);
    const updated: DeployResult = JSON.parse(stdout);
    expect(updated.dseq).toBe(dseq);
    const page = await waitFor(async () => {
      const now = await fetchPage(updated.uris[0] ?? "");
      return now.includes("updated") ? now : undefined;
    }, "the new program");
    for (const line of first) expect(page).toContain(line);

    writeFileSync(file, script.replace("count: 1", "count: 2"));
    const refused = await runSvc(["deploy", "update", file, "-y", ...tenant]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("count was 1 and is 2: groups cannot be changed");
  });

  it("a run that was killed is continued, not repeated", async () => {
    const file = join(localnet.fixture.folder, "killed.yaml");
    writeFileSync(file, webFile({ page: "still here" }));
    const before = await deployments();
    for (const delay of [400, 700, 1000, 1300, 1600]) {
      const log = join(localnet.fixture.folder, "killed.log");
      const running = await SvcProcess.start(["deploy", file, "-y", ...tenant], { log });
      await sleep(delay);
      await running.kill();
    }
    const result = await deploy(file);
    expect(await fetchPage(result.uris[0] ?? "")).toBe("200 still here\n");
    expect((await deployments()).filter((dseq) => !before.includes(dseq))).toEqual([result.dseq]);
    deployed.set("killed.yaml", result);
  });

  it("ends at once where every provider refuses for good", async () => {
    const file = join(localnet.fixture.folder, "refused.yaml");
    writeFileSync(file, webFile({ maxPrice: 1 }));
    const { code, stderr } = await runSvc(["deploy", file, "-y", ...tenant]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/nobody has bid on .*\n.*our price .* is above .*\n +-> raise the amount under pricing/);
    expect(stderr).toMatch(/^Error: every provider refuses order\/\S+ for good: no bid to accept$/m);
    const [, dseq = ""] = /svc deploy close --dseq (\d+)/.exec(stderr) ?? [];
    await svcOk(["deploy", "close", dseq, "-y", ...tenant]);
  });

  it("bids that are all too dear end the wait, with the cheapest", async () => {
    const file = join(localnet.fixture.folder, "dear.yaml");
    writeFileSync(file, webFile());
    const { code, stderr } = await runSvc(["deploy", file, "--max-price", "0.000001utoken", "-y", ...tenant]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Error: there is one bid, the cheapest at .* above --max-price 0.000001utoken, and nobody else bids: no bid to accept$/m,
    );
    const [, dseq = ""] = /svc deploy close --dseq (\d+)/.exec(stderr) ?? [];
    await svcOk(["deploy", "close", dseq, "-y", ...tenant]);
  });

  it("Ctrl-C says what stays and how to go on", async () => {
    const file = join(localnet.fixture.folder, "interrupted.yaml");
    writeFileSync(file, webFile());
    const log = join(localnet.fixture.folder, "interrupted.log");
    const args = ["deploy", file, "--bid", address, "-y", ...tenant];
    const running = await SvcProcess.start(args, { log });
    await running.line(/there is one bid, none from svc1/);
    expect(await running.stop()).toBe(130);
    expect(running.output).toMatch(/deployment \d+ stays as it is/);
    const [, dseq = ""] = /deployment (\d+) stays/.exec(running.output) ?? [];
    const closed = JSON.parse(await svcOk(["deploy", "close", dseq, "-y", "-o", "json", ...tenant]));
    expect(closed).toMatchObject({ paid: [], returned: { denom: "utoken", amount: "5000000" } });
  });

  it("closing pays to the unit, returns the rest and leaves nothing", async () => {
    const { client } = localnet.tenant;
    for (const { dseq, leases } of deployed.values()) {
      const id = { owner: address, dseq: BigInt(dseq) };
      const lease = { ...id, gseq: 1, oseq: 1, provider: provider.address };
      const [held, earned] = await Promise.all([balanceOf(client, address), balanceOf(client, provider.address)]);
      const before = await localnet.tenant.leaseOf(lease);
      const closed = JSON.parse(await svcOk(["deploy", "close", dseq, "-y", "-o", "json", ...tenant]));
      const blocks = BigInt(closed.height) - (before.escrowPayment?.startedAt ?? 0n);
      const due = (parseDec(leases[0]?.price.amount ?? "0") * blocks) / SCALE;
      expect(closed.paid).toEqual([{ provider: provider.address, amount: { denom: "utoken", amount: `${due}` } }]);
      expect(BigInt(closed.returned.amount)).toBe(5_000_000n - due);
      expect(await balanceOf(client, address)).toBe(held + 5_000_000n - due);
      const withdrawn = BigInt(before.escrowPayment?.withdrawn?.amount ?? "0");
      expect(await balanceOf(client, provider.address)).toBe(earned + due - withdrawn);
      const { escrowAccount } = await localnet.tenant.deployment(id);
      expect(escrowAccount).toMatchObject({ state: Account_State.closed, balance: { amount: "0" } });
    }
    expect(await svcOk(["deploy", "ps", ...tenant])).toBe("");
    await waitFor(async () => (await provider.leftovers()).length === 0, "containers and networks to go", {
      timeoutMs: 120_000,
    });
    for (const { uris } of deployed.values()) for (const uri of uris) await expect(fetch(uri)).rejects.toThrow();
  });

  /** Persistent volumes are a capability that a provider has to name. */
  async function offerVolumes(): Promise<void> {
    const file = join(provider.home, "provider.yaml");
    const volume = { "capabilities/storage/1/class": "default", "capabilities/storage/1/persistent": "true" };
    const { attributes, ...rest } = JSON.parse(readFileSync(file, "utf8"));
    const more = Object.entries(volume).map(([key, value]) => ({ key, value }));
    writeFileSync(file, JSON.stringify({ ...rest, attributes: [...attributes, ...more] }));
    const key = ["--home", provider.home, "--keyring-backend", "test", "--from", "provider"];
    const chain = ["--node", localnet.node.address, "--chain-id", localnet.node.chainId, "--fees", "5000utoken"];
    await svcOk(["tx", "provider", "update", file, ...key, ...chain, "-b", "block", "-y"]);
  }

  /** A copy of an example, so that a test may change it. */
  function copyOf(name: string): string {
    const file = join(localnet.fixture.folder, name);
    copyFileSync(join(ROOT, "examples", name), file);
    return file;
  }

  async function deploy(file: string): Promise<DeployResult> {
    const { stdout, stderr, code } = await runSvc(["deploy", file, "-y", "-o", "json", ...tenant]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  async function deployments(): Promise<string[]> {
    const text = await svcOk([
      "query",
      "deployment",
      "list",
      "--owner",
      address,
      "-o",
      "json",
      "--node",
      localnet.node.address,
    ]);
    const list: { deployments: { deployment: { deployment_id: { dseq: string } } }[] } = JSON.parse(text);
    return list.deployments.map(({ deployment }) => deployment.deployment_id.dseq);
  }

  function need(name: string): DeployResult {
    const found = deployed.get(name);
    if (found === undefined) throw new Error(`${name} was not deployed`);
    return found;
  }
});

/** Answer of a TCP port. */
function echo(host: string, port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: 60_000 });
    socket.once("connect", () => socket.write(text));
    socket.once("data", (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once("timeout", () => socket.destroy(new Error(`port ${port} does not answer`)));
    socket.once("error", reject);
  });
}
