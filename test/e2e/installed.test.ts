import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNetServer } from "../../src/cli/localnet/processes/net-server.ts";
import { commandLine } from "../support/abandoned.ts";
import type { Answer, Screen, Terminal } from "../support/at-terminal.ts";
import { describeWithEngine, TestLocalnet } from "../support/containers.ts";
import { FreshSystem, ORDINARY_USER, ROOT_USER, type SystemUser } from "../support/fresh-system.ts";
import { fetchPage, freePorts, mustSend, ROOT, transfer, waitFor, webFile } from "../support/index.ts";
import { makeRelease, TestReleases } from "../support/release.ts";
import { atNight } from "../support/runs.ts";

/**
 * From the installer to running leases in fresh systems without Node.js, each line typed as docs/specification/set-up.md has it; then
 * an update under the leases, the way back, and the removal. test/e2e/release.test.ts is the short form.
 */

const SUITES = ["bookworm", "trixie"];
/** A release, or a fresh system from its packages. */
const MAKING_MS = 600_000;
const LEASES = 5;
const NEXT = "v99.0.0";
const PASSPHRASE = "a passphrase of nine words";
const PASS: Answer = ["Enter keyring passphrase:", PASSPHRASE];
const YES: Answer = ["confirm transaction before signing and broadcasting [y/N]", "y"];
const COMMON =
  "--home=$SVC_HOME --keyring-backend=$SVC_KEYRING_BACKEND --node=$SVC_NODE --chain-id=$SVC_CHAIN_ID --fees 5000utoken";
/** Step 8 of the provider's guide. */
const RUN = `svc provider run \
  --home $SVC_HOME --chain-id $SVC_CHAIN_ID --node $SVC_NODE \
  --keyring-backend $SVC_KEYRING_BACKEND --from $SVC_PROVIDER_KEY --fees 1000utoken \
  --deployment-ingress-domain $CLUSTER_HOSTNAME --deployment-ingress-static-hosts \
  --bid-price-strategy scale --bid-price-cpu-scale 0.001 --bid-price-memory-scale 0.001 \
  --bid-price-storage-scale 0.00001 --bid-price-endpoint-scale 0 --bid-deposit 5000000utoken \
  --cluster-node-port-quantity 1000 --cluster-public-hostname $CLUSTER_HOSTNAME`;

const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const OWN = `v${version}`;
let localnet: TestLocalnet;
let releases: TestReleases;
let net = "";

atNight(() =>
  describeWithEngine("a release of a network", () => {
    beforeAll(async () => {
      localnet = await TestLocalnet.start();
      const { fixture, node } = localnet;
      releases = new TestReleases(join(fixture.folder, "net"));
      await makeRelease(releases.folder, releases.writeKey(join(fixture.folder, "key.pem")));
      releases.addNext(NEXT, releases.archiveOf(OWN), OWN);
      const chain = { chainId: node.chainId, rpcNodes: [node.address], trustedBlock: () => undefined, chainInfo: "{}" };
      const server = await startNetServer(0, { version: "", ...chain, releases: releases.folder });
      fixture.defer(() => server.close());
      net = server.url;
    }, MAKING_MS);
    afterAll(() => localnet?.close());

    describe.each(SUITES)("in a fresh %s", (suite) => {
      let system: FreshSystem;
      beforeAll(async () => {
        const root = localnet.fixture.tempHome(suite);
        system = await FreshSystem.make(root, suite, localnet.engine.socket);
      }, MAKING_MS);
      describe("for root", () => {
        const place = setUp(() => system, ROOT_USER);
        leases(place);
        removal(place);
      });
      // Its provider takes no leases: rules that keep tenants apart are set by root.
      describe("for an ordinary user", () => removal(setUp(() => system, ORDINARY_USER)));
    });
  }),
);

/** The shell of a user in a system: what was exported stays. */
class Shell {
  readonly #system: FreshSystem;
  readonly #user: SystemUser;
  readonly #exported: string[] = [];

  constructor(system: FreshSystem, user: SystemUser) {
    this.#system = system;
    this.#user = user;
  }

  export(line: string): void {
    this.#exported.push(`export ${line}`);
  }

  type(line: string, ...answers: Answer[]): Promise<Screen> {
    return this.#system.type(this.#user, [...this.#exported, line], answers);
  }

  /** The text of a line that succeeds. */
  async ok(line: string, ...answers: Answer[]): Promise<string> {
    const { code, text } = await this.type(line, ...answers);
    expect(code, text).toBe(0);
    return text;
  }

  start(line: string, ...answers: Answer[]): Terminal {
    return this.#system.start(this.#user, [...this.#exported, line], answers);
  }

  async commit(line: string, ...answers: Answer[]): Promise<void> {
    const text = await this.ok(line, ...answers);
    const { txhash } = JSON.parse(text.split("\n").findLast((each) => each.startsWith("{")) ?? "");
    const question = async () => JSON.parse(await this.ok(`svc query tx ${txhash} --node "$SVC_NODE" -o json`));
    const result = await waitFor(() => question().catch(() => undefined), "the transaction to be in a block");
    expect(result).toMatchObject({ code: 0 });
  }
}

async function fund(address: string): Promise<void> {
  const { faucet, tenant } = localnet;
  await mustSend(tenant.client, faucet, transfer(faucet.address, address, 40_000_000n));
}

/** Containers of a provider's leases, with their deployments and the moments at which they began. */
async function startedOf(provider: string): Promise<string[]> {
  const { engine } = localnet;
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  const ids = lines(await engine.podman("ps", "--quiet", "--filter", `label=svc.lease.provider=${provider}`));
  if (ids.length === 0) return [];
  const format = '{{index .Config.Labels "svc.lease.dseq"}} {{.Id}} {{.State.StartedAt}}';
  const rows = lines(await engine.podman("inspect", "--format", format, ...ids));
  // The provider tries its host with containers of no deployment.
  return rows.filter((row) => !row.startsWith("0 ")).sort();
}

/** The provider of a user in a system. */
interface Place {
  readonly user: SystemUser;
  readonly system: () => FreshSystem;
  readonly shell: () => Shell;
  /** Its address. */
  provider: string;
  daemon: Terminal | undefined;
}

async function install(shell: Shell, { home }: SystemUser): Promise<void> {
  shell.export(`SVC_NET=${net}`);
  const text = await shell.ok('curl -fsS "$SVC_NET/install.sh" | sh');
  expect(text).toContain(`svc ${OWN} is installed in ${home}/bin\n`);
  shell.export(`PATH="${home}/bin:$PATH"`);
  expect(await shell.ok("svc version")).toBe(`${OWN}\n`);
}

async function start(place: Place): Promise<void> {
  place.daemon = place.shell().start(RUN, PASS);
  await place.daemon.shows(/provider started/);
}

async function stop({ daemon }: Place): Promise<void> {
  daemon?.interrupt();
  expect(await daemon?.closed).toMatchObject({ code: 0 });
}

function setUp(system: () => FreshSystem, user: SystemUser): Place {
  let shell: Shell;
  const place: Place = { user, system, shell: () => shell, provider: "", daemon: undefined };
  beforeAll(() => {
    shell = new Shell(system(), user);
    releases.publish(OWN);
  });
  afterAll(() => {
    for (const pid of system().processes()) process.kill(pid, "SIGKILL");
  });

  it("step 2: the published version is installed", async () => {
    expect((await shell.type("node --version")).text).toContain("not found");
    await install(shell, user);
  });

  it("step 3: a key", async () => {
    shell.export("SVC_KEY_NAME=provider SVC_KEYRING_BACKEND=file");
    const add = 'svc --keyring-backend "$SVC_KEYRING_BACKEND" keys add "$SVC_KEY_NAME"';
    const text = await shell.ok(add, PASS, ["Re-enter keyring passphrase:", PASSPHRASE]);
    [, place.provider = ""] = /address: (svc1\w+)/.exec(text) ?? [];
    expect(place.provider, text).not.toBe("");
  });

  it("step 4: the balance", async () => {
    await fund(place.provider);
    shell.export('SVC_NODE="$(curl -s "$SVC_NET/rpc-nodes.txt" | shuf -n 1)"');
    shell.export(`SVC_ACCOUNT_ADDRESS=${place.provider}`);
    const balances = await shell.ok('svc --node "$SVC_NODE" query bank balances "$SVC_ACCOUNT_ADDRESS"');
    expect(balances).toContain("40000000");
  });

  it("steps 5 and 6: the provider and its certificate", async () => {
    const [gateway, ingress] = await freePorts(2);
    shell.export('DEPLOYMENT_HOSTNAME=localhost SVC_CHAIN_ID="$(curl -s "$SVC_NET/chain-id.txt")"');
    shell.export('SVC_PROVIDER_KEY=provider SVC_HOME="$(readlink -f ~/.svc)"');
    // Ports and images of this machine, whose engine sees no file systems that the provider mounts.
    shell.export(`SVC_GATEWAY_LISTEN_ADDRESS=127.0.0.1:${gateway} SVC_INGRESS_LISTEN_ADDRESS=127.0.0.1:${ingress}`);
    shell.export("SVC_CLUSTER_LOCAL_IMAGES=true SVC_INGRESS_LOOPBACK_PORTS=true SVC_CLUSTER_VOLUME_SIZES=none");
    const yaml = `host: https://localhost:${gateway}\nattributes:\n  - key: host\n    value: acme\n`;
    writeFileSync(join(system().root, user.home, "provider.yaml"), yaml);
    await shell.commit(`svc tx provider create provider.yaml --from $SVC_PROVIDER_KEY ${COMMON}`, PASS, YES);
    const create = `svc tx cert create server $DEPLOYMENT_HOSTNAME --from $SVC_PROVIDER_KEY ${COMMON}`;
    await shell.commit(create, PASS, YES);
  });

  it("steps 7 and 8: the engine answers, and the provider starts", async () => {
    expect(await shell.ok("podman --url unix:///run/podman/podman.sock info")).toContain("host:");
    shell.export("CLUSTER_HOSTNAME=localhost");
    await start(place);
    expect(await shell.ok("svc provider status $SVC_ACCOUNT_ADDRESS")).toContain("leases: 0");
  });
  return place;
}

function leases(place: Place): void {
  const pages = new Map<string, string>();
  let before: string[] = [];
  const unchanged = async () => {
    expect(await startedOf(place.provider)).toEqual(before);
    for (const [url, page] of pages) expect(await fetchPage(url)).toBe(page);
  };

  it("an ordinary user of the system has a running lease", async () => {
    const tenant = new Shell(place.system(), ORDINARY_USER);
    await install(tenant, ORDINARY_USER);
    tenant.export('SVC_NODE="$(curl -s "$SVC_NET/rpc-nodes.txt")" SVC_CHAIN_ID="$(curl -s "$SVC_NET/chain-id.txt")"');
    tenant.export("SVC_HOME=~/tenant SVC_KEYRING_BACKEND=test SVC_FROM=tenant SVC_FEES=5000utoken");
    await tenant.ok("svc keys add tenant");
    await fund((await tenant.ok("svc keys show tenant -a")).trim());
    const file = "~/.local/lib/svc/current/examples/web.yaml";
    const text = await tenant.ok(`svc deploy ${file} --bid ${place.provider} -y`);
    const [url = ""] = /^http:\/\/\S+$/m.exec(text) ?? [];
    expect(url, text).not.toBe("");
    const page = await fetchPage(url);
    expect(page).toMatch(/^200 /);
    expect(await tenant.ok(`curl -fsS ${url}`)).toBe(page.slice("200 ".length));
    pages.set(url, page);
  });

  it(`is updated under ${LEASES} leases, and nothing of them restarts`, async () => {
    const { tenant } = localnet;
    while (pages.size < LEASES) {
      const page = `lease ${pages.size}`;
      const ordered = await tenant.order(webFile({ page }));
      await tenant.awaitBids(ordered.id);
      const lease = await tenant.lease(ordered.order, place.provider);
      await tenant.sendManifest(ordered, place.provider);
      pages.set(await tenant.awaitReady(lease), `200 ${page}\n`);
    }
    before = await startedOf(place.provider);
    expect(before).toHaveLength(LEASES);
    const running = () =>
      place
        .system()
        .processes()
        .filter((pid) => commandLine(pid).includes("svc.cjs"));
    const daemons = running();
    expect(daemons.length).toBeGreaterThan(1);
    releases.publish(NEXT);
    expect(await place.shell().ok("svc self update && svc version")).toMatch(/\nv99\.0\.0\n$/);
    await unchanged();
    expect(running()).toEqual(daemons);
  });

  it("the next start is that of the new version, which takes over the leases; a rollback returns", async () => {
    const restart = async () => {
      await stop(place);
      await start(place);
      await unchanged();
    };
    await restart();
    expect(await place.shell().ok("svc self rollback && svc version")).toMatch(new RegExp(`\n${OWN}\n$`));
    await restart();
  });
}

function removal(place: Place): void {
  it("goes without a trace", async () => {
    await stop(place);
    await place.shell().ok("svc provider purge -y");
    expect(await startedOf(place.provider)).toEqual([]);
    await waitFor(() => place.system().processes().length === 0, "the last process to end");
    expect(await place.shell().ok("rm -r ~/.local/lib/svc ~/bin/svc && ls ~/.svc/")).toContain("keyring-file");
    expect((await place.shell().type("svc version")).text).toContain("not found");
  });
}
