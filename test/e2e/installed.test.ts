import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNetServer } from "../../src/cli/localnet/processes/net-server.ts";
import { type Answer, atTerminal, type Screen } from "../support/at-terminal.ts";
import { describeWithEngine, TestLocalnet } from "../support/containers.ts";
import { fetchPage, mustSend, ROOT, transfer, waitFor, webFile } from "../support/index.ts";
import { PLATFORM, shell, TestReleases } from "../support/release.ts";
import { atNight } from "../support/runs.ts";

/**
 * The set-up of a provider in fresh systems without Node.js, each line typed as docs/specification/set-up.md has it, and an update
 * under running leases. test/e2e/release.test.ts is the short form.
 */

const run = promisify(execFile);
const SYSTEMS = ["bookworm", "trixie"];
const USERS = [
  { user: "root", ids: "0:0", home: "/root" },
  { user: "an ordinary user", ids: "1000:1000", home: "/home/user" },
];
/** A release, or a fresh system from its packages. */
const MAKING_MS = 600_000;
const LEASES = 5;
const NEXT = "v99.0.0";
const PASSPHRASE = "a passphrase of nine words";
const PASS: Answer = ["Enter keyring passphrase:", PASSPHRASE];
const YES: Answer = ["confirm transaction before signing and broadcasting [y/N]", "y"];
const COMMON =
  "--home=$SVC_HOME --keyring-backend=$SVC_KEYRING_BACKEND --node=$SVC_NODE --chain-id=$SVC_CHAIN_ID --fees 5000utoken";

atNight(() =>
  describeWithEngine("a release of a network", () => {
    const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    let localnet: TestLocalnet;
    let releases: TestReleases;
    let net = "";

    beforeAll(async () => {
      localnet = await TestLocalnet.start();
      const { fixture, node } = localnet;
      releases = new TestReleases(join(fixture.folder, "net"));
      const words = [
        "--key",
        releases.writeKey(join(fixture.folder, "key.pem")),
        "--platform",
        PLATFORM,
        "--no-engine",
      ];
      await run(process.execPath, [join(ROOT, "tools", "release.mjs"), releases.folder, ...words]);
      const chain = { chainId: node.chainId, rpcNodes: [node.address], trustedBlock: () => undefined, chainInfo: "{}" };
      const server = await startNetServer(0, { version: "", ...chain, releases: releases.folder });
      fixture.defer(() => server.close());
      net = server.url;
    }, MAKING_MS);
    afterAll(() => localnet?.close());

    describe.each(SYSTEMS)("in a fresh %s", (system) => {
      let root = "";
      beforeAll(async () => {
        root = localnet.fixture.tempHome(system);
        const flags = ["--variant=minbase", "--include=curl,ca-certificates,openssl"];
        await run("/usr/sbin/debootstrap", [...flags, system, root], { timeout: 600_000, maxBuffer: 64 * 1024 * 1024 });
        mkdirSync(join(root, "home", "user"));
        await run("chown", ["1000:1000", join(root, "home", "user")]);
      }, MAKING_MS);

      it.each(USERS)("takes $user from the installer to a provider on the chain", async ({ ids, home }) => {
        const known = [`export SVC_NET=${net}`];
        const type = (line: string, ...answers: Answer[]): Promise<Screen> => {
          writeFileSync(join(root, "tmp", "line.sh"), ["cd", ...known, line].join("\n"));
          const clean = `env -i TERM=dumb HOME=${home} PATH=/usr/local/bin:/usr/bin:/bin sh /tmp/line.sh`;
          const inside = `mount -t proc proc ${root}/proc && exec /usr/sbin/chroot --userspec=${ids} ${root} ${clean}`;
          return atTerminal(`unshare --mount sh -c '${inside}'`, answers, {});
        };
        const committed = (text: string) => {
          const { txhash } = JSON.parse(text.split("\n").findLast((line) => line.startsWith("{")) ?? "");
          const question = async () =>
            JSON.parse((await type(`svc query tx ${txhash} --node "$SVC_NODE" -o json`)).text);
          return waitFor(() => question().catch(() => undefined), "the transaction to be in a block");
        };
        // Step 2.
        expect((await type("node --version")).text).toContain("not found");
        const installed = await type('curl -fsS "$SVC_NET/install.sh" | sh');
        expect(installed).toMatchObject({ code: 0, text: expect.stringContaining(`is installed in ${home}/bin`) });
        known.push(`export PATH="${home}/bin:$PATH"`);
        expect((await type("svc version")).text).toBe(`v${version}\n`);
        // Step 3.
        known.push("export SVC_KEY_NAME=provider SVC_KEYRING_BACKEND=file");
        const add = 'svc --keyring-backend "$SVC_KEYRING_BACKEND" keys add "$SVC_KEY_NAME"';
        const { text } = await type(add, PASS, ["Re-enter keyring passphrase:", PASSPHRASE]);
        const [, address = ""] = /address: (svc1\w+)/.exec(text) ?? [];
        // Step 4.
        const { faucet, tenant } = localnet;
        await mustSend(tenant.client, faucet, transfer(faucet.address, address, 20_000_000n));
        known.push(`export SVC_NODE="$(curl -s "$SVC_NET/rpc-nodes.txt" | shuf -n 1)" SVC_ACCOUNT_ADDRESS=${address}`);
        const balances = await type('svc --node "$SVC_NODE" query bank balances "$SVC_ACCOUNT_ADDRESS"');
        expect(balances).toMatchObject({ code: 0, text: expect.stringContaining("20000000") });
        // Step 5.
        known.push('export DEPLOYMENT_HOSTNAME=localhost SVC_CHAIN_ID="$(curl -s "$SVC_NET/chain-id.txt")"');
        known.push(`export SVC_PROVIDER_KEY=provider SVC_HOME=${home}/.svc`);
        const yaml = "host: https://localhost:8443\nattributes:\n  - key: host\n    value: acme\n";
        writeFileSync(join(root, home, "provider.yaml"), yaml);
        const created = await type(
          `svc tx provider create provider.yaml --from $SVC_PROVIDER_KEY ${COMMON}`,
          PASS,
          YES,
        );
        expect(await committed(created.text)).toMatchObject({ code: 0 });
        // Step 6.
        const cert = `svc tx cert create server $DEPLOYMENT_HOSTNAME --from $SVC_PROVIDER_KEY ${COMMON}`;
        expect(await committed((await type(cert, PASS, YES)).text)).toMatchObject({ code: 0 });
        // And back to nothing.
        expect((await type("rm -r ~/.local/lib/svc ~/bin/svc && ls ~/.svc")).code).toBe(0);
      });
    });

    it(`is updated under ${LEASES} leases, and nothing of them restarts`, async () => {
      const { fixture, tenant } = localnet;
      const home = fixture.tempHome("operator");
      const type = (line: string) =>
        shell(line, {
          HOME: home,
          SVC_NET: net,
          PATH: `${home}/bin:/usr/local/bin:/usr/bin:/bin`,
          TMPDIR: fixture.folder,
        });
      expect(await type('curl -fsS "$SVC_NET/install.sh" | sh')).toMatchObject({ code: 0 });
      const main = join(home, ".local", "lib", "svc", `v${version}`, "lib", "dist", "svc.cjs");
      const provider = await localnet.provider({ name: "installed", main });
      const urls: string[] = [];
      for (let i = 0; i < LEASES; i += 1) {
        const ordered = await tenant.order(webFile({ page: `lease ${i}` }));
        await tenant.awaitBids(ordered.id);
        const lease = await tenant.lease(ordered.order, provider.address);
        await tenant.sendManifest(ordered, provider.address);
        urls.push(await tenant.awaitReady(lease));
      }
      const { pid } = provider.process;
      const before = await provider.started();
      expect(before.size).toBe(LEASES);
      const untouched = async () => {
        expect([provider.process.pid, await provider.started()]).toEqual([pid, before]);
        for (const [i, url] of urls.entries()) expect(await fetchPage(url)).toBe(`200 lease ${i}\n`);
      };
      releases.addNext(NEXT, releases.archiveOf(`v${version}`), `v${version}`);
      expect(await type("svc self update && svc version")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/\nv99.0.0\n$/),
      });
      await untouched();
      // The next start is that of the new version, which takes over the leases.
      await provider.process.stop();
      await provider.start({ main: main.replace(`v${version}`, NEXT) });
      expect(await provider.started()).toEqual(before);
      expect(await type("svc self rollback && svc version")).toMatchObject({
        out: expect.stringContaining(`\nv${version}\n`),
      });
      for (const [i, url] of urls.entries()) expect(await fetchPage(url)).toBe(`200 lease ${i}\n`);
    });
  }),
);
