import { constants } from "node:os";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DockerDriver } from "../../../src/provider/cluster/docker/index.ts";
import type { LeaseKey } from "../../../src/wire/index.ts";
import { execFileSync } from "../../support/bounded.ts";
import {
  execute,
  sampleExpose,
  sampleService,
  sampleSpec,
  scriptService,
  untilOk,
} from "../../support/conformance/index.ts";
import { waitFor } from "../../support/index.ts";
import { freePorts } from "../../support/ports.ts";
import { onFirst } from "../../support/runs.ts";
import { ENGINES, type HostileEngine } from "./engines.ts";
import { CONTROLS, PROBES, type Probe, probeProgram } from "./probes.ts";
import { HOST, PRIVATE, PUBLIC, World } from "./world.ts";

const ERRORS = new Map<string, string>(Object.entries(constants.errno).map(([name, number]) => [`E${number}`, name]));
const SIGNALS = new Map<string, string>(
  Object.entries(constants.signals).map(([name, number]) => [`SIG${number}`, name]),
);
/** Calls that engines and kernels know and Node.js has no name for. */
ERRORS.set("E97", "EAFNOSUPPORT");

const ADMIN = { ...process.env, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };

function rulesOf(): string {
  return execFileSync("nft", ["list", "ruleset"], { encoding: "utf8", stdio: "pipe", env: ADMIN });
}

/** As the kernel writes it: the last byte first. */
function hexAddress(hex: string): string {
  return [...Buffer.from(hex, "hex").reverse()].join(".");
}

for (const [at, { engineName, describeOnIt, start }] of ENGINES.entries()) {
  describeOnIt(`a program that tries to get out of its container on ${engineName}`, () => {
    let engine: HostileEngine;
    let driver: DockerDriver;
    let id: LeaseKey;
    const world = new World();

    beforeAll(async () => {
      await world.open();
      engine = await start();
      const image = await engine.sampleWith("/usr/bin/perl");
      driver = await engine.driver({
        kernelPorts: true,
        nodePortAddress: "0.0.0.0",
        timing: { stopGrace: 500 },
      });
      const spec = sampleSpec([scriptService(image, "sleep 1000", { env: [`OUTSIDE=${process.pid}`] })]);
      id = spec.id;
      await driver.deploy(spec);
      await untilOk(driver, id);
    });
    afterAll(async () => {
      world.close();
      await engine?.destroy();
    });

    it("reaches the public network, and no other", async () => {
      // Libraries of another program beside a static BusyBox end its own search for names.
      const page = async (address: string) => {
        const to = `pack("S n C4 x8", 2, 80, ${address.replaceAll(".", ",")})`;
        const program = `alarm(2); socket(S,2,1,6); connect(S,${to}) && syswrite(S,"GET / HTTP/1.0\\r\\n\\r\\n") && print <S>`;
        const { stdout } = await execute(driver, id, { service: "web", command: ["/usr/bin/perl", "-e", program] });
        return [address, stdout.split("\r\n").at(-1)];
      };
      await expect.poll(() => page(PUBLIC)).toEqual([PUBLIC, "reached\n"]);
      const seen = await Promise.all(PRIVATE.map(page));
      expect(seen).toEqual(PRIVATE.map((address) => [address, ""]));
    });

    it("gets no further by node ports of the kernel, which lead the world to another tenant", async () => {
      const [hostPort = 0] = await freePorts(1);
      const expose = [sampleExpose({ externalPort: 9000 })];
      const ports = [{ service: "web", port: 80, externalPort: 9000, proto: "TCP" as const, hostPort }];
      const other = { ...sampleSpec([sampleService(engine.image, { expose })]), ports };
      await driver.deploy(other);
      await untilOk(driver, other.id);
      const byKernel = ["-L", "-p", "tcp", "--orig-port-dst", `${hostPort}`, "--dst-nat"];
      await waitFor(async () => {
        world.ask(HOST, hostPort);
        return execFileSync("conntrack", byKernel, { encoding: "utf8", stdio: "pipe", env: ADMIN }).includes(HOST);
      }, "a connection through the kernel");
      const answer = await execute(driver, other.id, { service: "web", command: ["hostname", "-i"] });
      const { stdout: route } = await execute(driver, id, { service: "web", command: ["cat", "/proc/net/route"] });
      const gateway = /\t00000000\t(\w{8})\t/.exec(route)?.[1] ?? "";
      const ways = [HOST, hexAddress(gateway), answer.stdout.trim()];
      expect(ways).toEqual(ways.map(() => expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/)));
      const connection = async ([way, port]: readonly [string, number]) => {
        const to = `pack("S n C4 x8", 2, ${port}, ${way.replaceAll(".", ",")})`;
        const program = `alarm(2); socket(S,2,1,6); connect(S,${to}) && print "reached"`;
        const { stdout } = await execute(driver, id, { service: "web", command: ["/usr/bin/perl", "-e", program] });
        return [way, port, stdout];
      };
      const ends = ways.flatMap((way) => [hostPort, 80].map((port) => [way, port] as const));
      const made = await Promise.all(ends.map(connection));
      expect(made).toEqual(ends.map(([way, port]) => [way, port, ""]));
      await driver.teardown(other.id);
      await waitFor(async () => !rulesOf().includes(`-${hostPort}`), "the rules to go with the lease");
    });

    onFirst(at, () =>
      it("fills no more of the kernel's table of connections than its share", async () => {
        const { stdout } = await execute(driver, id, { service: "web", command: ["hostname", "-i"] });
        const to = PUBLIC.replaceAll(".", ",");
        const begin = (first: number, last: number) => {
          const program = `socket(S,2,2,17); for(${first}..${last}){send(S,"x",0,pack("S n C4 x8",2,$_,${to}))}`;
          return execute(driver, id, { service: "web", command: ["/usr/bin/perl", "-e", program] });
        };
        await begin(1_025, 7_024);
        // Another lease that comes and goes has the kernel's rules written anew.
        const other = sampleSpec([scriptService(engine.image, "sleep 1000")]);
        await driver.deploy(other);
        await driver.teardown(other.id);
        await begin(7_025, 13_024);
        const own = ["-L", "-p", "udp", "-s", stdout.trim(), "-d", PUBLIC];
        const options = { encoding: "utf8", stdio: "pipe", env: ADMIN, maxBuffer: 1 << 26 } as const;
        const known = execFileSync("conntrack", own, options).split("\n");
        expect(known.length).toBeGreaterThan(1_000);
        expect(known.length).toBeLessThan(8_300);
      }),
    );

    /** Each probe with its end. */
    async function attempt(probes: readonly Probe[], user: string): Promise<Map<string, string>> {
      const perl = ["/usr/bin/perl", "-"];
      const command = user === "root" ? perl : ["su", user, "-c", perl.join(" ")];
      const input = probeProgram(probes);
      const { stdout, stderr } = await execute(driver, id, { service: "web", command, input });
      expect(stderr).toBe("");
      const lines = stdout.trim().split("\n");
      expect(lines).toHaveLength(probes.length);
      return new Map(
        lines.map((line) => {
          const [index = "", end = ""] = line.split(" ");
          return [probes[Number(index)]?.name ?? "", ERRORS.get(end) ?? SIGNALS.get(end) ?? end];
        }),
      );
    }

    for (const user of ["root", "user"]) {
      it(`finds none, as ${user}`, async () => {
        expect([...(await attempt(CONTROLS, user)).values()]).toEqual(CONTROLS.map(() => "GOT"));
        const ends = await attempt(PROBES, user);
        const wrong = PROBES.filter(({ name, ends: right }) => !right.includes(ends.get(name) ?? ""));
        expect(wrong.map(({ name, ends: right }) => `${name}: ${ends.get(name)}, not ${right.join(" or ")}`)).toEqual(
          [],
        );
      });
    }
  });
}
