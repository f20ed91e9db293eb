/** A localnet that is killed or interrupted at any moment: the next one starts, and nothing is left at the end. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { issueCertificate } from "../../src/certs/index.ts";
import { keySigner, localnetKeyring } from "../../src/cli/localnet/home.ts";
import { requireFreePorts } from "../../src/cli/localnet/ports.ts";
import { Naming } from "../../src/provider/cluster/docker/labels.ts";
import { defaultPrefix } from "../../src/provider/cluster/docker/options.ts";
import { endPlane, hasPlane } from "../../src/provider/plane/index.ts";
import { engineConfig } from "../e2e/engine.ts";
import { commandLine, processesOn, removeFolder } from "../support/abandoned.ts";
import { execFileSync } from "../support/bounded.ts";
import { describeWithEngine } from "../support/containers.ts";
import { Fixture, fetchPage, pause, ROOT, runSvc, type SvcProcess, seedFrom, svcOk } from "../support/index.ts";
import { atNight } from "../support/runs.ts";

const PORT_OFFSET = 2200;
/** `npm run lab localnet` has thirty. */
const KILLS = Number(process.env.SVC_TEST_LOCALNET_KILLS ?? 1);
const START_MS = 120_000;
/** Two starts and a stop for each kill, on a busy machine. */
const LONG_MS = Math.max(300_000, KILLS * 180_000);

/** Milestones of a localnet's start, printed once the step is done. */
const MILESTONES = [
  /^starting the container engine/,
  /^node up/,
  /^provider up/,
  /^manifest accepted/,
  /^stopping/,
  /^container engine ready/,
  /^chain home created/,
  /^provider registered/,
  /^network files served/,
  /^order on the chain/,
  /^bid received/,
  /^lease created/,
  /^services ready/,
  /^Ctrl-C stops/,
];
const READY = /^Ctrl-C stops/;

describeWithEngine("a localnet that starts the engine itself", () => {
  const fixture = new Fixture();
  const rng = seedFrom("SVC_TEST_SEED");
  const home = join(fixture.folder, "localnet");
  const runDir = `${home}-run`;
  const naming = new Naming(defaultPrefix(join(home, "provider", "engine")));
  const flags = ["--home", home, "--port-offset", String(PORT_OFFSET), "--block-interval", "300ms"];
  const env = ownPodman(fixture.folder);
  let running: SvcProcess | undefined;
  afterAll(async () => {
    await running?.kill();
    await runSvc(["localnet", "--clean", ...flags], { env });
    removeFolder(fixture.folder);
    await fixture.close();
  });

  async function start(): Promise<SvcProcess> {
    const words = ["localnet", "--deploy", join(ROOT, "examples/web.yaml"), ...flags];
    running = await fixture.start("localnet", words, { env });
    return running;
  }

  /** Starts one and waits for the milestone and a little longer. */
  async function until(milestone: RegExp, moreMs: number): Promise<SvcProcess> {
    const localnet = await start();
    if (milestone.source === "^stopping") {
      await localnet.line(READY, START_MS);
      process.kill(localnet.pid, "SIGINT");
    }
    await localnet.line(milestone, START_MS);
    await pause(moreMs);
    return localnet;
  }

  async function started(): Promise<SvcProcess> {
    const localnet = await start();
    await localnet.line(READY, START_MS);
    const [, url = ""] = /^ +(http:\S+)/m.exec(localnet.output) ?? [];
    expect(await fetchPage(url)).toMatch(/^200 /);
    return localnet;
  }

  const podman = (...words: string[]) =>
    execFileSync("podman", words, { env: { ...process.env, ...env }, encoding: "utf8" }).trim();

  async function expectNothingLeft(): Promise<void> {
    expect([home, runDir].filter(existsSync)).toEqual([]);
    await expect.poll(() => processesOn(fixture.folder).map(commandLine), { timeout: 30_000 }).toEqual([]);
    expect(podman("ps", "--all", "--external", "--quiet")).toBe("");
    expect(podman("network", "ls", "--quiet")).toBe("podman");
    const rules = ["mangle", "nat", "filter"].map((table) =>
      execFileSync("iptables", ["-w", "-t", table, "-S"], { encoding: "utf8" }),
    );
    rules.push(execFileSync("nft", ["list", "tables"], { encoding: "utf8" }));
    const names = [naming.chain, naming.bridgePrefix, naming.tenants];
    expect(rules.filter((text) => names.some((name) => text.includes(name)))).toEqual([]);
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(`${home}/`);
    await requireFreePorts(PORT_OFFSET);
  }

  atNight(() =>
    it(
      `starts again after kill -9, ${KILLS} times, and leaves nothing behind`,
      async () => {
        const first = rng.below(MILESTONES.length);
        for (let kill = 0; kill < KILLS; kill++) {
          const milestone = MILESTONES[(first + kill) % MILESTONES.length] ?? READY;
          const localnet = await until(milestone, kill < MILESTONES.length && kill % 2 === 0 ? 0 : rng.between(0, 700));
          await localnet.kill();
          // Long runs check every point separately; short ones let remains add up.
          if (KILLS < MILESTONES.length) continue;
          expect(await (await started()).stop()).toBe(0);
          await expectNothingLeft();
        }
        expect(await (await started()).stop()).toBe(0);
        await expectNothingLeft();
      },
      LONG_MS,
    ),
  );

  atNight(() =>
    it(
      "leaves nothing behind if it is stopped while the engine makes a container",
      async () => {
        for (let stop = 0; stop < Math.ceil(KILLS / 5); stop++) {
          const localnet = await until(/^manifest accepted/, rng.between(0, 300));
          expect(await localnet.stop()).toBe(130);
          expect(localnet.output).not.toContain("could not stop");
          await expectNothingLeft();
        }
      },
      LONG_MS,
    ),
  );

  it("says at a second Ctrl-C what stays and what removes it, which works without an engine", async () => {
    const localnet = await started();
    process.kill(localnet.pid, "SIGINT");
    await localnet.line(/^stopping/);
    expect(await localnet.endsAfter("SIGINT")).toBe(130);
    expect(localnet.output).toMatch(
      /^interrupted: .*container engine \(process \d+\).*containers of its leases.* stay$/m,
    );
    const [, command = ""] = /^Hint: .*: svc (localnet --clean .*)$/m.exec(localnet.output) ?? [];
    expect(command).toBe(`localnet --clean --home ${home}`);
    const { stderr, code } = await runSvc([...command.split(" "), "--port-offset", String(PORT_OFFSET)], { env });
    expect(stderr).toContain("removed: containers of its leases");
    expect(code).toBe(0);
    await expectNothingLeft();
    expect((await runSvc([...command.split(" ")], { env })).stderr).toBe(`nothing is left of a localnet in ${home}\n`);
  });
});

it("a provider that is interrupted before its engine has answered leaves no process behind", async () => {
  const fixture = new Fixture();
  onTestFinished(() => fixture.close());
  const home = fixture.tempHome();
  await svcOk(["keys", "add", "me", "--keyring-backend", "test"], { home });
  const signer = await keySigner(localnetKeyring(home), "me");
  await issueCertificate({ home, kind: "server", signer, hosts: ["localhost"] });
  const engine = await silentEngine(join(fixture.folder, "engine.sock"));
  fixture.defer(() => engine.closeAllConnections());
  const words = [
    "provider",
    "run",
    "--from",
    "me",
    "--keyring-backend",
    "test",
    "--chain-id",
    "c",
    "--node",
    "tcp://127.0.0.1:1",
  ];
  const ports = ["--ingress-listen-address", "127.0.0.1:0", "--gateway-listen-address", "127.0.0.1:0"];
  const provider = await fixture.start(
    "provider",
    [...words, ...ports, "--cluster-engine", `${fixture.folder}/engine.sock`],
    { home },
  );
  fixture.defer(() => endPlane(join(home, "provider")));
  await provider.line(/data plane started/);
  expect(hasPlane(join(home, "provider"))).toBe(true);
  const ended = provider.endsAfter("SIGINT");
  await expect.poll(() => hasPlane(join(home, "provider")), { timeout: 30_000 }).toBe(false);
  engine.closeAllConnections();
  engine.close();
  expect(await ended).toBe(130);
});

/** Says who it is and nothing else. */
async function silentEngine(socket: string): Promise<Server> {
  const server = createServer((call, answer) => {
    if (call.url !== "/_ping") return;
    answer.writeHead(200, { server: "Libpod/4.3.1 (linux)", "api-version": "1.41" }).end("OK");
  });
  await once(server.listen(socket), "listening");
  return server;
}

/** Variables under which Podman keeps everything in the folder, and by which no engine of this machine is found. */
function ownPodman(folder: string): Readonly<Record<string, string>> {
  const [settings, storage] = ["containers.conf", "storage.conf"].map((name) => join(folder, name));
  if (settings === undefined || storage === undefined) throw new Error("two files");
  mkdirSync(join(folder, "temporary"));
  writeFileSync(settings, engineConfig(folder));
  const [graph, run] = [join(folder, "storage"), join(folder, "run")];
  writeFileSync(storage, `[storage]\ndriver = "overlay"\ngraphroot = "${graph}"\nrunroot = "${run}"\n`);
  return {
    CONTAINERS_CONF: settings,
    CONTAINERS_STORAGE_CONF: storage,
    DOCKER_HOST: join(folder, "no-engine.sock"),
    TMPDIR: join(folder, "temporary"),
  };
}
