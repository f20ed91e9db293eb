import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LeaseHealth } from "../../../src/provider/cluster/contract/index.ts";
import { signalsOfUser } from "../../../src/provider/cluster/docker/host/limits/process-limit.ts";
import type { DockerDriver } from "../../../src/provider/cluster/docker/index.ts";
import { endPlane, PLANE_WORD, PlaneLink, type PlaneSettings } from "../../../src/provider/index.ts";
import { silentLogger } from "../../../src/util/index.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { longestAcceptQueue } from "../../support/accept-queue.ts";
import { buildOnce, MAIN } from "../../support/build.ts";
import { closed } from "../../support/closed.ts";
import {
  execute,
  sampleExpose,
  sampleService,
  sampleSpec,
  scriptService,
  untilHealth,
  untilOk,
} from "../../support/conformance/index.ts";
import { freePorts } from "../../support/ports.ts";
import { inTurn, onFirst } from "../../support/runs.ts";
import { ENGINES, type HostileEngine } from "./engines.ts";
import { hostileRegistry } from "./hostile-registry.ts";
import { seenMeanwhile } from "./neighbour.ts";

const run = promisify(execFile);
const MEBIBYTE = 1 << 20;
const LAYER = 16 * MEBIBYTE;
const VOLUME = 8 * MEBIBYTE;
const RAM = 2 * MEBIBYTE;
const MEMORY = 512 * MEBIBYTE;
/** Maximum use of the host's disk: layer, volume, log, and overhead of the file systems. */
const MOST_ON_DISK = LAYER + VOLUME + 10 * MEBIBYTE + 24 * MEBIBYTE;
const HOST = "neighbour.localhost";
const IDLE = 1_024;
const PER_ADDRESS = 256;
/** All, where the system lets as many wait to be accepted. */
const AT_ONCE = longestAcceptQueue() >= IDLE ? IDLE : 64;
/**
 * A neighbour may be served this many times slower than at rest. Attacks share the cores with everything else on this
 * machine: one to three times was seen, and more may come of other work. A neighbour who waits for an attack to end
 * waits for seconds.
 */
const SLOWER = 25;
/** Times of requests below this count as equal. */
const STEADY_MS = 60;
/** Maximum size of images; a pull needs no more temporary space than that. */
const IMAGE = 32 * MEBIBYTE;

/** Fills a file in pieces of a mebibyte, and prints how many it had room for; an end by a signal prints nothing. */
const filling = (path: string) =>
  `open(F,">","${path}") or die "$!\\n"; my $n=0; while($n<200 && (syswrite(F,"x" x 1048576)||0)==1048576){$n++} print "$n\\n"; close(F); unlink("${path}")`;

interface Attack {
  readonly name: string;
  /** In Perl; writes how many of the thing it got. */
  readonly program: string;
  readonly most: number;
  /** It shows that it was tried in earnest; none where the kernel may end the program. */
  readonly least?: number;
}

const ATTACKS: readonly Attack[] = [
  { name: "the writable layer", program: filling("/big"), most: LAYER / MEBIBYTE, least: 12 },
  { name: "a volume", program: filling("/data/big"), most: VOLUME / MEBIBYTE, least: 7 },
  { name: "a volume of memory", program: filling("/ram/big"), most: RAM / MEBIBYTE, least: 2 },
  { name: "shared memory", program: filling("/dev/shm/big"), most: 64, least: 1 },
  { name: "the folder of devices", program: filling("/dev/big"), most: 64, least: 1 },
  {
    name: "files of the host's disk",
    program: `my $n=0; for("/etc/hosts","/etc/hostname","/etc/resolv.conf","/run/.containerenv"){$n++ if open(F,">>",$_)} print "$n\\n"`,
    most: 0,
    least: 0,
  },
  {
    name: "the log",
    program: `open(F,">","/proc/1/fd/1") or die "$!\\n"; for(1..60){print F "y" x 1023,"\\n" for 1..1024} print "0\\n"`,
    most: 0,
  },
  {
    name: "files",
    program: `my $n=0; for(1..5000){open(F,">","/f$_")||last; close(F); $n++} print "$n\\n"; unlink("/f$_") for 1..$n`,
    most: 1_100,
    least: 500,
  },
  {
    name: "processes",
    program: `my $n=0; my @p; for(1..3000){my $p=fork(); last if !defined $p; if(!$p){sleep(60); exit} push @p,$p; $n++} print "$n\\n"; kill(9,@p); wait for @p`,
    most: 1_024,
    least: 500,
  },
  {
    name: "descriptors",
    program: `my $n=0; my @f; for(1..5000){open(my $f,"<","/dev/null")||last; push @f,$f; $n++} print "$n\\n"`,
    most: 1_024,
  },
  { name: "memory", program: `my $x=""; my $n=0; for(1..2000){$x.="x" x 1048576; $n++} print "$n\\n"`, most: 128 },
  {
    name: "memory of pipes and sockets",
    program: `my @s; my $n=0; for(1..450){socketpair(my $a,my $b,1,1,0)||last; push @s,$a,$b; for($a,$b){fcntl($_,4,2048); while(syswrite($_,"x" x 65536)){}} $n++} print "0\\n"`,
    most: 0,
  },
  { name: "the processor", program: `my $end=time+2; 1 while time<$end; print "0\\n"`, most: 0 },
];

/** An attacker's share of a resource that the kernel counts for the whole host, or for one user, until it is killed. */
interface Shared {
  readonly name: string;
  /** In Perl; takes all that it gets. */
  readonly take: string;
  /** In Perl; dies where a neighbour can have none. */
  readonly need: string;
  readonly user?: string;
}

/** More than the kernel lets a user have by default on a machine of some 24 GiB. */
const TIMERS = 150_000;

const SHARED: readonly Shared[] = [
  {
    name: "watchers of files",
    take: "for(1..1000){last if syscall(294,0)<0}",
    need: 'syscall(294,0)>=0 or die "inotify: $!"',
  },
  {
    name: "asynchronous input and output",
    take: 'for my $n (65536,8192,1024,128,1){for(1..64){my $c=pack("Q",0); last if syscall(206,$n,$c)<0}}',
    need: 'my $c=pack("Q",0); syscall(206,128,$c)>=0 or die "io_setup: $!"',
  },
  {
    name: "terminals",
    take: 'pipe(R,W); for(1..4){next if fork(); my @f; while(open(my $f,"+<","/dev/ptmx")){push @f,$f} syswrite(W,"x"); sleep(1000)} sysread(R,my $x,1) for 1..4',
    need: 'open(F,"+<","/dev/ptmx") or die "terminal: $!"',
  },
  {
    name: "timers",
    take: `for(1..${TIMERS}){my $t=pack("q",0); last if syscall(222,1,0,$t)<0}`,
    need: 'my $t=pack("q",0); syscall(222,1,0,$t)>=0 or die "timer: $!"',
  },
  {
    name: "processes of a user",
    take: "for(1..1020){my $p=fork(); last if !defined $p; if(!$p){sleep(1000); exit}}",
    need: 'my @p; for(1..20){my $p=fork(); defined $p or die "fork: $!"; if(!$p){sleep(1000); exit} push @p,$p} kill(9,@p)',
    user: "user",
  },
];

/** Only a daemon with CAP_SYS_RESOURCE can give containers more timers than it may have itself. */
const isTimerLimitRaised = signalsOfUser() > TIMERS;
if (!isTimerLimitRaised)
  console.info("timers: tenants share the host's limit here, because this process may not raise it");
const SHARED_HERE = SHARED.filter(({ name }) => isTimerLimitRaised || name !== "timers");

for (const [at, { engineName, describeOnIt, start }] of ENGINES.entries()) {
  describeOnIt(`a tenant who uses up everything on ${engineName}`, () => {
    let engine: HostileEngine;
    let driver: DockerDriver;
    let plane: PlaneLink;
    let stateDir = "";
    let hostile: LeaseKey;
    let neighbourly: LeaseKey;
    let hostileImages: Awaited<ReturnType<typeof hostileRegistry>>;
    let url = "";
    let port = 0;
    let usual = Number.NaN;

    beforeAll(async () => {
      engine = await start();
      const image = await engine.sampleWith("/usr/bin/perl");
      hostileImages = await hostileRegistry(IMAGE, engine.folder);
      const [ingressPort = 0, nodePort = 0] = await freePorts(2);
      port = nodePort;
      stateDir = join(engine.folder, "plane");
      plane = await openPlane(stateDir, ingressPort);
      driver = await engine.driver({
        registries: { allowed: [{ host: hostileImages.registry.host, plain: true }] },
        limits: { imageBytes: BigInt(IMAGE) },
        carrier: plane.carrier,
      });
      const neighbour = sampleSpec([sampleService(image)]);
      neighbourly = neighbour.id;
      const attacker = sampleSpec([attackerService(image)], {
        ports: [{ service: "web", port: 80, externalPort: 9000, proto: "TCP", hostPort: nodePort }],
      });
      hostile = attacker.id;
      await driver.deploy(neighbour);
      await driver.deploy(attacker);
      await untilOk(driver, neighbour.id);
      await untilOk(driver, hostile);
      const router = plane.router(driver.routing);
      const { httpOptions: options } = sampleExpose();
      for (const [lease, host] of [[neighbour.id, HOST] as const, [hostile, "attacker.localhost"] as const]) {
        await router.route(lease, [{ target: { lease, service: "web", port: 80, options }, hosts: [host] }], {});
      }
      url = `http://${HOST}:${ingressPort}/`;
      usual = (await seenMeanwhile(url, () => new Promise((resolve) => setTimeout(resolve, 1_000)))).p95;
    });
    afterAll(async () => {
      await plane?.close();
      if (stateDir !== "") await endPlane(stateDir);
      hostileImages?.registry.stop();
      await engine?.destroy();
    });

    /** Bytes of the host's disk that the engine and the provider take. */
    async function onDisk(): Promise<number> {
      // Files go while it looks, which it complains of.
      const { stdout } = await run("du", ["-sx", "--block-size=1", engine.folder]).catch((error) => error);
      return Number(String(stdout).split("\t")[0]);
    }

    /** The neighbour is served all the time, in processes that are not this one, and never waits for the attack to end. */
    async function beside(name: string, work: () => Promise<unknown>): Promise<void> {
      const seen = await seenMeanwhile(url, work);
      expect(seen.wrong, `the neighbour while ${name} is used up`).toEqual([]);
      const times = (seen.p95 / usual).toFixed(1);
      expect(seen.p95, `the neighbour's p95 while ${name} is used up`).toBeLessThan(
        SLOWER * Math.max(usual, STEADY_MS),
      );
      console.info(`${name}: neighbour p95 ${seen.p95.toFixed(1)} ms of ${seen.answers} requests, ${times} times`);
    }

    for (const { name, program, most, least } of inTurn(ATTACKS, { at, of: ENGINES.length })) {
      it(`has no more of ${name} than was ordered`, async () => {
        await untilOk(driver, hostile);
        const before = await onDisk();
        let told = "";
        await beside(name, async () => {
          const command = ["/usr/bin/perl", "-e", program];
          // Where memory ends, the kernel takes the program or the whole container.
          const done = execute(driver, hostile, { service: "web", command }).catch(() => undefined);
          told = (await done)?.stdout.trim() ?? "";
        });
        if (told !== "" || least !== undefined) {
          expect(told).toMatch(/^\d+$/);
          expect(Number(told)).toBeLessThanOrEqual(most);
          expect(Number(told)).toBeGreaterThanOrEqual(least ?? 0);
        }
        expect((await onDisk()) - before).toBeLessThan(MOST_ON_DISK);
        await untilOk(driver, hostile);
      });
    }

    for (const { name, take, need, user } of inTurn(SHARED_HERE, { at, of: ENGINES.length })) {
      it(`takes no ${name} from its neighbour`, async () => {
        await untilOk(driver, hostile);
        const perl = (program: string) => ["/usr/bin/perl", "-e", program];
        const asUser = (program: string) => ["su", user ?? "", "-c", `exec /usr/bin/perl -e '${program}'`];
        const command = user === undefined ? perl : asUser;
        const request = { service: "web", replica: 0, tty: false, stdin: false };
        const program = `setpgrp(0,0); $|=1; ${take}; print "held\\n"; sleep(1000)`;
        await beside(name, async () => {
          const session = await driver.exec(hostile, { ...request, command: command(program) });
          try {
            for await (const { data } of session.output) if (String(Buffer.from(data)).includes("held")) break;
            const had = await execute(driver, neighbourly, {
              service: "web",
              command: command(`${need}; print "had"`),
            });
            expect(had).toMatchObject({ stdout: "had", stderr: "" });
          } finally {
            session.kill();
            await session.exitCode;
          }
        });
        await untilOk(driver, hostile);
      });
    }

    onFirst(at, () =>
      it("has no more of the disk by pulls of images than limits say, and keeps nobody from deploying", async () => {
        const { registry, images } = hostileImages;
        const before = await onDisk();
        const services = images.map(({ name }) => sampleService(`${registry.host}/hostile/${name}:1`, { name }));
        const spec = sampleSpec(services);
        let most = 0;
        let pulling = true;
        const watch = async (): Promise<void> => {
          while (pulling) {
            most = Math.max(most, (await onDisk()) - before);
            await new Promise((resolve) => setTimeout(resolve, 300));
          }
        };
        await beside("pulls of images", async () => {
          const watched = watch();
          await driver.deploy(spec);
          const areRefused = ({ services }: LeaseHealth) => services.every(({ error }) => error !== undefined);
          const told = await untilHealth(driver, spec.id, areRefused, "all images to be refused").finally(() => {
            pulling = false;
          });
          await watched;
          const errors = new Map(told.services.map(({ name, error }) => [name, error]));
          for (const { name, told: sentence } of images) expect(errors.get(name), name).toMatch(sentence);
          const honest = sampleSpec([sampleService(engine.image)]);
          await driver.deploy(honest);
          await untilOk(driver, honest.id);
          await driver.teardown(honest.id);
        });
        await driver.teardown(spec.id);
        // A packed image and layers that are kept for the next one.
        expect(most).toBeLessThan(2 * IMAGE + MOST_ON_DISK);
      }),
    );

    for (const [name, where] of [
      ["a node port", () => port],
      ["the ingress", () => Number(new URL(url).port)],
    ] as const) {
      it(`has no more connections through ${name} than limits say`, async () => {
        await untilOk(driver, hostile);
        const open: Socket[] = [];
        let closed = 0;
        await beside(`connections through ${name}`, async () => {
          for (let i = 0; i < IDLE; i++) {
            // Another address than the neighbour's client has.
            const socket = connect({ port: where(), host: "127.0.0.1", localAddress: "127.0.0.9" });
            socket.on("error", () => {});
            socket.once("close", () => closed++);
            open.push(socket);
            // More at once than may wait to be accepted would be connections that the other end does not know of.
            if (open.length % AT_ONCE === 0) await Promise.all(open.slice(-AT_ONCE).map(isMade));
          }
          await expect.poll(() => closed, { timeout: 60_000 }).toBeGreaterThanOrEqual(IDLE - PER_ADDRESS);
        });
        for (const socket of open) socket.destroy();
      });
    }
  });
}

/** Resolves when a connection was accepted, or ended. */
function isMade(socket: Socket): Promise<unknown> {
  return Promise.race([once(socket, "connect"), closed(socket)]);
}

/** The process that carries the traffic of a real provider. */
async function openPlane(stateDir: string, port: number): Promise<PlaneLink> {
  await buildOnce();
  const settings: PlaneSettings = {
    ingress: {
      ...{ host: "127.0.0.1", port, loopbackPorts: false, connectionsPerAddress: PER_ADDRESS },
      ...{ trustedProxies: [], forwardedFrom: [] },
    },
  };
  const program = { command: process.execPath, args: [MAIN, PLANE_WORD, stateDir], identity: "exhaust" };
  return PlaneLink.open({ stateDir, settings, program, log: silentLogger });
}

function attackerService(image: string): ReturnType<typeof scriptService> {
  const service = scriptService(image, "exec httpd -f -p 80 -h /www", {
    expose: [sampleExpose({ externalPort: 9000 })],
  });
  const ram = [{ key: "class", value: "ram" }];
  const storage = [
    { name: "default", size: { val: String(LAYER) } },
    { name: "data", size: { val: String(VOLUME) }, attributes: [{ key: "persistent", value: "true" }] },
    { name: "ram", size: { val: String(RAM) }, attributes: [{ key: "persistent", value: "false" }, ...ram] },
  ];
  return {
    ...service,
    resources: { ...service.resources, memory: { size: { val: String(MEMORY - RAM) } }, storage },
    params: {
      storage: [
        { name: "data", mount: "/data", readOnly: false },
        { name: "ram", mount: "/ram", readOnly: false },
      ],
    },
  };
}
