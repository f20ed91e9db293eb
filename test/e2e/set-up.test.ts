import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDockerDriver } from "../../src/provider/cluster/docker/index.ts";
import { type Answer, atTerminal, type Screen } from "../support/at-terminal.ts";
import { describeWithEngine, startEngine } from "../support/containers.ts";
import {
  buildOnce,
  Fixture,
  freePorts,
  ROOT,
  startNode,
  svcOk,
  type TestNode,
  waitFor,
  webFile,
} from "../support/index.ts";

/** The set-up of a provider, each line typed at a terminal as docs/specification/set-up.md has it. `npm test` runs it on every change. */

const PASSPHRASE = "a passphrase of nine words";
const PASS: Answer = ["Enter keyring passphrase:", PASSPHRASE];
const YES: Answer = ["confirm transaction before signing and broadcasting [y/N]", "y"];
const COMMON =
  "--home=$SVC_HOME --keyring-backend=$SVC_KEYRING_BACKEND --node=$SVC_NODE --chain-id=$SVC_CHAIN_ID --fees 5000utoken";

const fixture = new Fixture();
const user = fixture.tempHome("user");
const bin = join(user, "bin");
const env: Record<string, string> = { HOME: user, PATH: `${bin}:${process.env.PATH}` };
const published = new Map([["/version.txt", ""]]);
let node: TestNode;
let tenant = "";

const type = (line: string, ...answers: Answer[]): Promise<Screen> => atTerminal(line, answers, { env, cwd: user });
const fetched = async (name: string): Promise<string> => (await (await fetch(`${env.SVC_NET}/${name}`)).text()).trim();
/** The result, before the line that tells how to wait for the block. */
const lastJson = (text: string) => JSON.parse(text.split("\n").findLast((line) => line.startsWith("{")) ?? "");
const committed = (hash: string) =>
  waitFor(
    async () => {
      const { code, text } = await type(`svc query tx ${hash} -o json`);
      return code === 0 ? JSON.parse(text) : undefined;
    },
    "the transaction to be in a block",
    { pollMs: 1_000 },
  );

/** Serves the published files of the network. */
async function publish(): Promise<string> {
  const server = createServer(({ url = "" }, response) => response.end(published.get(url)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  fixture.defer(() => server.close());
  const address = server.address();
  return typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
}

beforeAll(async () => {
  await buildOnce();
  env.SVC_NET = await publish();
  published.set("/version.txt", `v${JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version}\n`);
});
afterAll(() => fixture.close());

describe("the set-up of a provider at a terminal", () => {
  test("step 2: the command in the user's bin directory prints the published version", async () => {
    mkdirSync(bin);
    symlinkSync(join(ROOT, "svc"), join(bin, "svc"));
    const { code, text } = await type("svc version");
    expect(code).toBe(0);
    expect(text).toMatch(/^v\d+\.\d+\.\d+\n$/);
    expect(text.trim()).toBe(await fetched("version.txt"));
  });

  test("step 3: a key, its passphrase asked for twice, the words shown once", async () => {
    Object.assign(env, { SVC_KEY_NAME: "provider", SVC_KEYRING_BACKEND: "file" });
    const line = 'svc --keyring-backend "$SVC_KEYRING_BACKEND" keys add "$SVC_KEY_NAME"';
    const { code, text } = await type(line, PASS, ["Re-enter keyring passphrase:", PASSPHRASE]);
    expect(code).toBe(0);
    expect(text).not.toContain(PASSPHRASE);
    const [, address = ""] =
      /\n- name: provider\n {2}type: local\n {2}address: (svc1[a-z0-9]{38})\n {2}pubkey: svcpub1[a-z0-9]+\n {2}mnemonic: ""\n {2}threshold: 0\n {2}pubkeys: \[\]\n/.exec(
        text,
      ) ?? [];
    expect(address, text).not.toBe("");
    expect(text).toMatch(
      /It is the only way to recover your account if you ever forget your password\.\n\n(\w+ ){23}\w+\n$/,
    );
    expect(statSync(join(user, ".svc", "keyring-file")).mode & 0o777).toBe(0o700);
    env.SVC_ACCOUNT_ADDRESS = address;
  });

  test("step 4: a node from the list, and the balance", async () => {
    const tenantHome = ["--home", join(user, "tenant"), "--keyring-backend", "test"];
    tenant = JSON.parse(await svcOk(["keys", "add", "tenant", "-o", "json", ...tenantHome])).address;
    node = await startNode(fixture, {
      minGasPrices: "0.0025utoken",
      accounts: [env.SVC_ACCOUNT_ADDRESS ?? "", tenant].map((address) => ({
        address,
        coins: [
          { denom: "stake", amount: 7n },
          { denom: "utoken", amount: 20_000_000n },
        ],
      })),
    });
    published.set("/rpc-nodes.txt", `${node.address}\n`).set("/chain-id.txt", `${node.chainId}\n`);
    env.SVC_NODE = (await fetched("rpc-nodes.txt")).split("\n")[0] ?? "";
    const { code, text } = await type('svc --node "$SVC_NODE" query bank balances "$SVC_ACCOUNT_ADDRESS"');
    expect({ code, text }).toEqual({
      code: 0,
      text: "DENOM   AMOUNT\nstake   7\nutoken  20000000\n",
    });
  });

  test("step 5: the provider is registered after the passphrase, the unsigned transaction and y", async () => {
    Object.assign(env, { DEPLOYMENT_HOSTNAME: "localhost", SVC_CHAIN_ID: await fetched("chain-id.txt") });
    Object.assign(env, { SVC_PROVIDER_KEY: "provider", SVC_HOME: join(user, ".svc") });
    writeFileSync(
      join(user, "provider.yaml"),
      "host: https://localhost:8443\nattributes:\n  - key: region\n    value: eu\n  - key: host\n    value: acme\n",
    );
    const { code, text } = await type(
      `svc tx provider create provider.yaml --from $SVC_PROVIDER_KEY ${COMMON}`,
      PASS,
      YES,
    );
    expect(code).toBe(0);
    const [asked, unsigned, , question] = text.split("\n");
    expect(asked).toBe("Enter keyring passphrase:");
    expect(JSON.parse(unsigned ?? "").body.messages).toEqual([
      {
        "@type": "/svc.provider.v1beta1.MsgCreateProvider",
        owner: env.SVC_ACCOUNT_ADDRESS,
        host_uri: "https://localhost:8443",
        attributes: [
          { key: "region", value: "eu" },
          { key: "host", value: "acme" },
        ],
        info: { email: "", website: "" },
      },
    ]);
    expect(JSON.parse(unsigned ?? "")).toMatchObject({ auth_info: { signer_infos: [] }, signatures: [] });
    expect(question).toBe("confirm transaction before signing and broadcasting [y/N]: y");
    const { txhash, ...result } = lastJson(text);
    expect(result).toMatchObject({ height: "0", code: 0, raw_log: "[]" });
    expect(await committed(txhash)).toMatchObject({ code: 0, gas_wanted: "200000" });
  });

  test("step 6: the certificate is made, published and kept", async () => {
    const line = `svc tx cert create server $DEPLOYMENT_HOSTNAME --from $SVC_PROVIDER_KEY ${COMMON}`;
    const { code, text } = await type(line, PASS, YES);
    expect(code).toBe(0);
    expect(text).toContain(`no certificate found for address ${env.SVC_ACCOUNT_ADDRESS}. generating new...\n`);
    expect(text).toContain("confirm transaction before signing and broadcasting [y/N]: y\n");
    const { txhash } = lastJson(text);
    const [message] = (await committed(txhash)).tx.body.messages;
    expect(Object.keys(message)).toEqual(["@type", "owner", "cert", "pubkey"]);
    expect(Buffer.from(message.cert, "base64").toString()).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
    expect(Buffer.from(message.pubkey, "base64").toString()).toMatch(/^-----BEGIN EC PUBLIC KEY-----\n/);
    const again = await type(line, PASS);
    expect(again.text).toContain("nothing to do");
  });
});

describeWithEngine("step 8, after the others", () => {
  test("the provider starts and reports what it found", async () => {
    const engine = await startEngine(fixture);
    await order();
    const [gateway, ingress] = await freePorts(2);
    const args = [
      ...["provider", "run", "--home", env.SVC_HOME ?? "", "--chain-id", env.SVC_CHAIN_ID ?? ""],
      ...["--node", env.SVC_NODE ?? "", "--keyring-backend", "file", "--from", "provider", "--fees", "1000utoken"],
      ...["--deployment-ingress-domain", "localhost", "--deployment-ingress-static-hosts", "true"],
      ...["--bid-price-strategy", "scale", "--bid-price-cpu-scale", "0.001", "--bid-price-memory-scale", "0.0001"],
      ...["--bid-price-storage-scale", "0.00001", "--bid-price-endpoint-scale", "0"],
      ...["--bid-deposit", "5000000utoken", "--cluster-node-port-quantity", "1000"],
      ...["--cluster-public-hostname", "localhost", "--log_level", "debug"],
    ];
    const here = {
      SVC_CLUSTER_ENGINE: engine.socket,
      SVC_GATEWAY_LISTEN_ADDRESS: `127.0.0.1:${gateway}`,
      SVC_INGRESS_LISTEN_ADDRESS: `127.0.0.1:${ingress}`,
    };
    const daemon = await fixture.start("provider", args, { env: here, input: `${PASSPHRASE}\n` });
    fixture.defer(async () => {
      const stateDir = join(env.SVC_HOME ?? "", "provider", "engine");
      const driver = await openDockerDriver({ socket: engine.socket, stateDir });
      await driver.purge();
      await driver.close();
    });
    for (const told of [
      /^I\[.*\] node resources +.*node-id=\S+ available-cpu=\d+ available-memory=\d+ available-storage=\d+$/,
      /^I\[.*\] found leases +.*num-active=0$/,
      /^I\[.*\] found deployments +.*num-active=0 num-skipped=0$/,
      /^I\[.*\] syncing sequence +cmp=client\/broadcaster local=2 remote=2$/,
      /^I\[.*\] found orders +.*count=1$/,
      new RegExp(`^I\\[.*\\] creating catchup order +.*order=order/${tenant}/5/1/1$`),
      /^D\[.*\] group fetched /,
      /^I\[.*\] bid complete /,
    ]) {
      await daemon.line(told);
    }
    const { bids } = JSON.parse(await svcOk(["query", "market", "bid", "list", "-o", "json"], { env }));
    expect(bids[0]).toMatchObject({ bid: { bid_id: { owner: tenant, provider: env.SVC_ACCOUNT_ADDRESS } } });
    expect(bids[0].escrow_account.balance).toMatchObject({
      denom: "utoken",
      amount: expect.stringMatching(/^5000000\b/),
    });
    const paid = await svcOk(["query", "txs", "--events", "message.action=create-bid", "-o", "json"], { env });
    expect(JSON.parse(paid).txs[0].tx.auth_info.fee.amount).toEqual([{ denom: "utoken", amount: "1000" }]);
    expect(await daemon.stop()).toBe(0);
  });

  test("as a service: the unit starts it with the files that the guide has one make", async () => {
    const engine = await startEngine(fixture);
    const etc = join(user, "etc");
    const shell = serviceSteps().replaceAll("/etc/svc", join(etc, "svc")).replaceAll("/etc/systemd/system", etc);
    const here = { ...env, SVC_PROVIDER_KEY: "provider", CLUSTER_HOSTNAME: "localhost", SHELL: "/bin/bash" };
    const typed = await atTerminal(shell.replaceAll("/opt/svc/", `${ROOT}/`), [["Passphrase: ", PASSPHRASE]], {
      env: here,
      cwd: user,
    });
    expect(typed.code, typed.text).toBe(0);
    expect(statSync(join(etc, "svc", "passphrase")).mode & 0o777).toBe(0o600);
    const [gateway, ingress] = await freePorts(2);
    const settings = readFileSync(join(etc, "svc", "provider.env"), "utf8")
      .trim()
      .split("\n");
    const unit = readFileSync(join(etc, "svc-provider.service"), "utf8");
    const [, command = ""] = /^ExecStart=\/opt\/svc\/svc (.*)$/m.exec(unit) ?? [];
    const daemon = await fixture.start("service", command.replace("%d", join(etc, "svc")).split(" "), {
      env: {
        ...Object.fromEntries(settings.map((line) => line.split(/=(.*)/))),
        SVC_CLUSTER_ENGINE: engine.socket,
        SVC_GATEWAY_LISTEN_ADDRESS: `127.0.0.1:${gateway}`,
        SVC_INGRESS_LISTEN_ADDRESS: `127.0.0.1:${ingress}`,
      },
    });
    await daemon.line(/provider started/);
    expect(await daemon.stop()).toBe(0);
  });

  /** The guide's commands for making the service, up to the commands for systemd itself. */
  function serviceSteps(): string {
    const guide = readFileSync(join(ROOT, "docs", "guides", "provider.md"), "utf8");
    const [, steps = ""] = /```sh\n(install -d -m 700 \/etc\/svc\n[^`]*?)systemctl daemon-reload/.exec(guide) ?? [];
    return steps;
  }

  /** An order that waits before the provider is there. */
  async function order(): Promise<void> {
    const file = join(user, "web.yaml");
    writeFileSync(file, webFile());
    const flags = [
      "--from",
      "tenant",
      "--home",
      join(user, "tenant"),
      "--keyring-backend",
      "test",
      "-y",
      "-b",
      "block",
    ];
    const more = [...flags, "--node", node.address, "--fees", "5000utoken"];
    await svcOk(["tx", "cert", "create", "client", ...more]);
    await svcOk(["tx", "deployment", "create", file, "--dseq", "5", ...more]);
  }
});
