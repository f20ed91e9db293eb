import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterDriver, LeaseSpec } from "../../src/provider/cluster/contract/index.ts";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import { openKubernetesDriver } from "../../src/provider/cluster/kubernetes/driver.ts";
import { installOn } from "../../src/provider/cluster/kubernetes/install/index.ts";
import { seenMeanwhile } from "../e2e/escape/neighbour.ts";
import { programArchive } from "../e2e/program-archive.ts";
import { execute, sampleExpose, sampleService, sampleSpec, untilOk } from "../support/conformance/index.ts";
import { writeImage } from "../support/image-archive.ts";
import { Fixture, waitFor } from "../support/index.ts";
import { SETTINGS } from "../support/kubernetes-leases.ts";
import { TestKubernetesNode } from "../support/kubernetes-node.ts";
import { nodePrograms } from "./node-programs.ts";

/** One tenant's attacks on others' resources on a real node, with the neighbour's page beside it. */

const programs = await nodePrograms();
const missing = "missing" in programs ? programs.missing : undefined;
const fixture = new Fixture();
const run = promisify(execFile);
const IMAGE = "localhost/perl:1";
const PERL = "/usr/bin/perl";
const MEBIBYTE = 1 << 20;
const LONG = { timeoutMs: 180_000, pollMs: 100 };
/** Mebibytes that a program writes where nothing holds it. */
const MOST = 256;
/** So many times slower than at rest may a neighbour be served: attacks share the cores with everything else on this machine. */
const SLOWER = 25;
/** Request times below this are not distinguished. */
const STEADY_MS = 20;

let bed: TestKubernetesNode;
let driver: ClusterDriver;
let url = "";
let usual = Number.NaN;
let neighbour: LeaseSpec;

beforeAll(async () => {
  if ("missing" in programs) return;
  bed = await TestKubernetesNode.start(fixture, programs);
  const path = join(fixture.folder, "image.tar");
  const archive = await programArchive(PERL, fixture.folder);
  await writeImage(path, IMAGE, { Cmd: ["httpd", "-f", "-p", "80", "-h", "/www"], User: "1000" }, [
    readFileSync(archive),
  ]);
  await bed.loadImage(path);
  const api = new KubernetesApi(readKubeconfig(bed.config));
  await installOn(api, "svc-provider").finally(() => api.close());
  driver = await openKubernetesDriver({
    api: new KubernetesApi(readKubeconfig(await bed.control.configOf("svc-provider", "svc-provider"))),
    objects: { ...SETTINGS, allowLocalImages: true, stopGraceMs: 1_000 },
    stateDir: fixture.tempHome("driver"),
    nodePorts: { first: 30_000, last: 30_099 },
  });
  neighbour = tenant(30_000);
  await driver.deploy(neighbour);
  await untilOk(driver, neighbour.id);
  url = `http://${bed.address}:30000/`;
  await waitFor(async () => (await fetch(url)).status === 200, "the neighbour");
  usual = (await seenMeanwhile(url, () => new Promise((resolve) => setTimeout(resolve, 1_000)))).p95;
});

afterAll(async () => {
  await driver?.purge();
  await driver?.close();
  await fixture.close();
});

function tenant(hostPort: number): LeaseSpec {
  const base = sampleService(IMAGE);
  const service = {
    ...base,
    expose: [sampleExpose({ externalPort: 9000 })],
    resources: {
      ...base.resources,
      memory: { size: { val: String(128 * MEBIBYTE) } },
      storage: [
        { name: "default", size: { val: String(32 * MEBIBYTE) } },
        { name: "data", size: { val: String(32 * MEBIBYTE) }, attributes: [{ key: "persistent", value: "false" }] },
      ],
    },
    params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
  };
  return sampleSpec([service], {
    ports: [{ service: "web", port: 80, externalPort: 9000, proto: "TCP", hostPort }],
  });
}

/** Runs a program in Perl to its end, also where the node ends it. Returns what it printed. */
async function perl({ id }: LeaseSpec, program: string): Promise<string> {
  const done = execute(driver, id, { service: "web", command: [PERL, "-e", program] });
  return (await done.catch(() => ({ stdout: "" }))).stdout.trim();
}

/** The neighbour is served all the time, and never waits for the attack to end. */
async function beside(name: string, work: () => Promise<unknown>): Promise<void> {
  const seen = await seenMeanwhile(url, work);
  expect(seen.wrong, `the neighbour while ${name} is used up`).toEqual([]);
  expect(seen.p95, `the neighbour's p95 while ${name} is used up`).toBeLessThan(SLOWER * Math.max(usual, STEADY_MS));
  const times = (seen.p95 / usual).toFixed(1);
  console.info(`${name}: neighbour p95 ${seen.p95.toFixed(1)} ms of ${seen.answers} requests, ${times} times`);
}

/** Fills a file in pieces of a mebibyte until there is no more room, or there is far more than was ordered. */
const filling = (path: string) =>
  `open(F,">","${path}") or die "$!\\n"; my $n=0; while($n<${MOST} && (syswrite(F,"x" x 1048576)||0)==1048576){$n++}`;

/** Resources that the kernel or the node's agent limit, and the maximum for one program. */
const LIMITED = [
  { name: "memory", program: `my $x=""; for(1..2000){$x.="x" x 1048576} print 2000`, most: 0 },
  { name: "shared memory", program: `${filling("/dev/shm/big")} print $n; unlink("/dev/shm/big")`, most: 64 },
  {
    name: "files of the node's disk",
    program: `my $n=0; for("/etc/hosts","/etc/hostname","/etc/resolv.conf"){$n++ if open(F,">>",$_)} print $n`,
    most: 0,
  },
  {
    name: "processes",
    program: `my $n=0; my @p; for(1..3000){my $p=fork(); last if !defined $p; if(!$p){sleep(60); exit} push @p,$p; $n++} print $n; kill(9,@p); wait for @p`,
    most: TestKubernetesNode.mostProcesses,
  },
] as const;

/** Resources that the agent measures periodically, so that more is written before it ends the pod. */
const MEASURED = [
  { name: "the writable layer", program: filling("/tmp/big"), told: /its ephemeral storage was exceeded/ },
  { name: "a volume", program: filling("/data/big"), told: /its ephemeral storage was exceeded/ },
] as const;

const TALKING = `open(F,">","/proc/1/fd/1") or die; for(1..${MOST}){print F "y" x 1023,"\\n" for 1..1024}`;
/** Kubelets keep five files of ten mebibytes by default, and the lines until their next look. */
const LOGS_KEPT = 64;

test.skipIf(missing !== undefined && process.env.CI !== "true")("the programs are there", () => {
  expect(missing).toBeUndefined();
});

describe.skipIf(missing !== undefined)("a tenant who uses up everything on a node", () => {
  let hostile: LeaseSpec;

  beforeAll(async () => {
    hostile = tenant(30_001);
    await driver.deploy(hostile);
    await untilOk(driver, hostile.id);
  });

  test.for(LIMITED)("has no more of $name than a pod may have", async ({ name, program, most }) => {
    await untilOk(driver, hostile.id);
    let got = "";
    await beside(name, async () => {
      got = await perl(hostile, program);
    });
    expect(Number(got)).toBeLessThanOrEqual(most);
  });

  test("keeps no more of a log on the node than the node does", async () => {
    await untilOk(driver, hostile.id);
    await beside("the log", () => perl(hostile, TALKING));
    await waitFor(async () => (await mebibytesOfLogs()) < LOGS_KEPT, "the log to be cut", LONG);
  });

  test("is taken off its node with more on the disk than was ordered, and reads why", async () => {
    const attacks = MEASURED.map((each, at) => ({ ...each, spec: tenant(30_010 + at) }));
    for (const { spec } of attacks) await driver.deploy(spec);
    for (const { spec } of attacks) await untilOk(driver, spec.id);
    await beside("the disk", () => Promise.all(attacks.map(untilEvicted)));
    const { services } = await untilOk(driver, neighbour.id);
    expect(services[0]?.replicas[0]?.restarts).toBe(0);
    // A new pod replaces an ended one, and the status is then about the new pod.
    for (const { spec } of attacks) {
      const { services: told } = await untilOk(driver, spec.id);
      expect(told.map(({ error }) => error)).toEqual([undefined]);
    }
  });
});

async function mebibytesOfLogs(): Promise<number> {
  const { stdout } = await run("du", ["-sx", "--block-size=1M", join(fixture.folder, "kubernetes-node", "logs")]);
  return Number(stdout.split("\t")[0]);
}

async function untilEvicted(attack: {
  readonly name: string;
  readonly program: string;
  readonly told: RegExp;
  readonly spec: LeaseSpec;
}): Promise<void> {
  const { name, program, told, spec } = attack;
  const ran = perl(spec, `${program} sleep 1000`);
  const isTold = async () => (await driver.status(spec.id)).services.some(({ error }) => told.test(error ?? ""));
  await waitFor(isTold, `the end of the pod that fills ${name}`, LONG);
  await ran;
}
