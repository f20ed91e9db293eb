import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithEngine, TestLocalnet } from "../support/containers.ts";
import { mustSend, ROOT, svcOk, transfer } from "../support/index.ts";
import { compileExamples, linkedProject, packPackage, runExample } from "../support/package.ts";

const FILE = join(ROOT, "examples", "env-command-args.yaml");

describeWithEngine("the examples of the library that need a provider", () => {
  let localnet: TestLocalnet;
  let home: string;
  let project: string;

  beforeAll(async () => {
    localnet = await TestLocalnet.start();
    await localnet.provider({ name: "provider" });
    home = localnet.fixture.tempHome("tenant");
    const keyring = ["--home", home, "--keyring-backend", "test"];
    await svcOk(["keys", "add", "tenant", ...keyring]);
    const address = (await svcOk(["keys", "show", "tenant", "-a", ...keyring])).trim();
    await mustSend(localnet.tenant.client, localnet.faucet, transfer(localnet.faucet.address, address, 1_000_000_000n));
    project = await linkedProject(localnet.fixture, await packPackage(localnet.fixture.folder));
    await compileExamples(project, "node");
  });
  afterAll(() => localnet?.close());

  const run = (name: string, ...args: readonly string[]): Promise<string> =>
    runExample(project, name, args, { SVC_HOME: home, SVC_NODE: localnet.node.address });

  it("deploy a file, go on with it when run again, and talk to its provider", async () => {
    const deployed = await run("deploy", FILE, "tenant");
    const [, dseq = ""] = /^deployment (\d+)$/m.exec(deployed) ?? [];
    const [uri = ""] = /^http:.*$/m.exec(deployed) ?? [];
    expect((await fetch(uri)).status, deployed).toBe(200);
    expect(await run("deploy", FILE, "tenant")).toContain(`deployment ${dseq}\n`);
    const lease = await run("lease", "tenant", dseq);
    expect(lease).toContain("greeter: 1 of 1 replicas ready\n");
    expect(lease).toMatch(/^greeter-0: .*response:200$/m);
  });
});
