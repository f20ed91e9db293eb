import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openDockerDriver } from "../../src/provider/cluster/docker/index.ts";
import type { DeployResult } from "../../src/tenant/result.ts";
import { svcHereOk } from "../cli/run.ts";
import { describeWithEngine, startEngine } from "../support/containers.ts";
import { Fixture, fetchPage, freePorts, runSvc, type SvcProcess, svcOk, waitFor, webFile } from "../support/index.ts";

const CHAIN_ID = "svc-guide-1";
const PASSPHRASE = "a long passphrase";
const TOKENS = "1000000000utoken";

/**
 * The guide's steps, each command as printed there: key, balance, provider, certificate, start. Two providers share
 * this machine, so per-machine settings (ports, and the engine of this test) come from the environment.
 */
describeWithEngine("node, two providers and a tenant, each a process with a home of its own", () => {
  const fixture = new Fixture();
  afterAll(() => fixture.close());

  it("work together with the flags that the guide prints", async () => {
    const engine = await startEngine(fixture);
    const [rpc = 0] = await freePorts(1);
    const node = `tcp://127.0.0.1:${rpc}`;
    const providers = await Promise.all(["cheap", "dear"].map((name) => makeProvider(name)));
    const tenant = { home: fixture.tempHome("tenant"), name: "tenant" };
    const tenantAddress = await addKey(tenant);

    const chainHome = fixture.tempHome("node");
    await svcOk(["init", "mynode", "--chain-id", CHAIN_ID, "--home", chainHome]);
    for (const address of [...providers.map((provider) => provider.address), tenantAddress]) {
      await svcOk(["add-genesis-account", address, TOKENS, "--home", chainHome]);
    }
    await fixture.start("node", [
      ...["start", "--home", chainHome, "--rpc.laddr", node, "--block-interval", "500ms", "--check-invariants"],
    ]);
    const network = ["--node", node, "--chain-id", CHAIN_ID];
    await waitFor(
      async () =>
        (await svcHereOk(["--node", node, "query", "bank", "balances", tenantAddress])).includes("1000000000"),
      "the first block",
    );

    for (const provider of providers) await register(provider, network);
    const running: SvcProcess[] = [];
    for (const provider of providers) running.push(await runProvider(provider, network, engine.socket));

    const file = join(fixture.folder, "web.yaml");
    writeFileSync(file, webFile({ page: "from the guide" }));
    const signing = ["--from", tenant.name, "--home", tenant.home, "--keyring-backend", "file", ...network];
    const deployed = await runSvc(
      // The wait ends as soon as both have bid.
      [
        "deploy",
        file,
        "--bid",
        "cheapest",
        "--bid-window",
        "1000",
        "-y",
        "-o",
        "json",
        "--fees",
        "5000utoken",
        ...signing,
      ],
      { input: `${PASSPHRASE}\n` },
    );
    expect(deployed.code, deployed.stderr).toBe(0);
    const result: DeployResult = JSON.parse(deployed.stdout);
    expect(result.leases.map(({ provider }) => provider)).toEqual([providers[0]?.address]);
    expect(await fetchPage(result.uris[0] ?? "")).toBe("200 from the guide\n");

    const closed = await runSvc(["deploy", "close", result.dseq, "-y", "--fees", "5000utoken", ...signing], {
      input: `${PASSPHRASE}\n`,
    });
    expect(closed.code, closed.stderr).toBe(0);
    await waitFor(async () => (await engine.podman("ps", "--all", "--quiet")) === "", "the container to be gone");
    for (const process of running) expect(await process.stop()).toBe(0);
  });

  interface Provider {
    readonly name: string;
    readonly home: string;
    readonly address: string;
    readonly gateway: number;
    readonly ingress: number;
    readonly file: string;
  }

  /** Steps 1 to 3: a home, and a key whose passphrase is typed twice. */
  async function makeProvider(name: string): Promise<Provider> {
    const home = fixture.tempHome(name);
    const address = await addKey({ home, name });
    const [gateway = 0, ingress = 0] = await freePorts(2);
    const file = join(home, "provider.yaml");
    writeFileSync(file, `host: https://localhost:${gateway}\nattributes:\n  - key: host\n    value: ${name}\n`);
    return { name, home, address, gateway, ingress, file };
  }

  async function addKey({ home, name }: { readonly home: string; readonly name: string }): Promise<string> {
    const env = { SVC_KEY_NAME: name, SVC_KEYRING_BACKEND: "file", SVC_HOME: home };
    const args = ["--keyring-backend", "file", "keys", "add", name];
    const { stdout, stderr, code } = await runSvc(args, { env, input: `${PASSPHRASE}\n${PASSPHRASE}\n` });
    expect(code, stderr).toBe(0);
    const address = /address: (svc1[a-z0-9]+)/.exec(stdout)?.[1];
    expect(address, stdout).toBeDefined();
    return address ?? "";
  }

  /** Steps 5 and 6: each command asks for the passphrase and for a confirmation. */
  async function register({ name, home, file, address }: Provider, network: readonly string[]): Promise<void> {
    const signing = ["--from", name, `--home=${home}`, "--keyring-backend=file", ...network, "--fees", "5000utoken"];
    const answers = { input: `${PASSPHRASE}\ny\n` };
    const steps = [
      { args: ["tx", "provider", "create", file], query: ["query", "provider", "get", address], sign: address },
      {
        args: ["tx", "cert", "create", "server", "localhost"],
        query: ["query", "cert", "list", "--owner", address],
        sign: "state: valid",
      },
    ];
    for (const { args, query, sign } of steps) {
      const { stdout, stderr, code } = await runSvc([...args, ...signing], answers);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout), stdout).toMatchObject({ code: 0 });
      const isThere = async (): Promise<boolean> =>
        (await svcHereOk([...query, ...network.slice(0, 2)])).includes(sign);
      await waitFor(isThere, `${args.slice(0, 3).join(" ")} to be in a block`);
    }
  }

  /** Step 8, with the flags of the guide alone. */
  async function runProvider(provider: Provider, network: readonly string[], engine: string): Promise<SvcProcess> {
    const { name, home, gateway, ingress } = provider;
    const env = {
      SVC_CLUSTER_ENGINE: engine,
      SVC_CLUSTER_LOCAL_IMAGES: "true",
      SVC_GATEWAY_LISTEN_ADDRESS: `127.0.0.1:${gateway}`,
      SVC_INGRESS_LISTEN_ADDRESS: `127.0.0.1:${ingress}`,
    };
    const scale = name === "cheap" ? "0.01" : "0.02";
    const args = [
      ...["provider", "run", "--home", home, ...network, "--keyring-backend", "file", "--from", name],
      ...["--fees", "1000utoken", "--deployment-ingress-domain", "localhost", "--deployment-ingress-static-hosts"],
      ...["--bid-price-strategy", "scale", "--bid-price-cpu-scale", scale, "--bid-price-memory-scale", "0.001"],
      ...["--bid-price-storage-scale", "0.001", "--bid-price-endpoint-scale", "0", "--bid-deposit", "5000000utoken"],
      ...["--cluster-node-port-quantity", "1000", "--cluster-public-hostname", "localhost"],
    ];
    const process = await fixture.start(name, args, { env, input: `${PASSPHRASE}\n` });
    fixture.defer(async () => {
      const driver = await openDockerDriver({ socket: engine, stateDir: join(home, "provider", "engine") });
      await driver.purge();
      await driver.close();
    });
    await process.line(/provider started/);
    const second = await runSvc(args, { env, input: `${PASSPHRASE}\n` });
    const refusal = `another process already runs the provider of ${home}`;
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) });
    return process;
  }
});
