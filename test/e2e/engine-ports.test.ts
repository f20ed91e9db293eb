/**
 * Redirects of published ports that the engine sometimes leaves: they never lead to another tenant, and are removed.
 */
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { leaseNamespace } from "../../src/provider/cluster/contract/names.ts";
import { run } from "../../src/provider/cluster/docker/host/command.ts";
import type { DockerDriver } from "../../src/provider/cluster/docker/index.ts";
import { Naming } from "../../src/provider/cluster/docker/labels.ts";
import type { LeaseKey } from "../../src/wire/index.ts";
import { sampleSpec, scriptService, untilHealth, untilOk } from "../support/conformance/index.ts";
import { sampleExpose } from "../support/conformance/samples.ts";
import { fetchPage, waitFor } from "../support/index.ts";
import { TestEngine } from "./engine.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) console.warn(`tests of ports that the engine leaves are skipped: ${missing}`);

/** Test runs beside each other have others. */
const PREFIX = `svc-left${process.pid.toString(36)}`;
/** A container that was removed. */
const GONE = "9".repeat(64);

describe.skipIf(missing !== undefined)("ports that the engine leaves", () => {
  let engine: TestEngine;
  let driver: DockerDriver;
  let leases: LeaseKey[];
  const naming = new Naming(PREFIX);

  beforeAll(async () => {
    engine = await TestEngine.start();
  });
  afterAll(() => engine.destroy());
  beforeEach(async () => {
    leases = [];
    driver = await engine.driver("provider", { namePrefix: PREFIX });
  });
  afterEach(async () => {
    for (const id of leases) await driver.teardown(id);
    await driver.close();
  });

  /** A lease that serves its own page. */
  async function serve(page: string): Promise<LeaseKey> {
    const script = `mkdir /tmp/www; echo ${page} > /tmp/www/index.html; exec httpd -f -p 80 -h /tmp/www`;
    const spec = sampleSpec([scriptService(engine.image, script, { expose: [sampleExpose()] })]);
    leases.push(spec.id);
    await driver.deploy(spec);
    await untilOk(driver, spec.id);
    return spec.id;
  }

  const networkOf = (id: LeaseKey) => naming.network(leaseNamespace(id));
  const backendOf = (id: LeaseKey) => driver.routing.backends(id, "web", 80)[0] ?? "";
  const pageOf = async (id: LeaseKey) => (await fetchPage(`http://${backendOf(id)}/`)).trim();
  const rules = async () => (await run("iptables", ["-w", "10", "-t", "nat", "-S"])).split("\n");

  async function addressOf(id: LeaseKey): Promise<string> {
    const network = networkOf(id);
    const container = (await engine.podman("ps", "--quiet", "--filter", `network=${network}`)).trim();
    const format = `{{(index .NetworkSettings.Networks "${network}").IPAddress}}`;
    return (await engine.podman("inspect", container, "--format", format)).trim();
  }

  /** In front of everything, as the rules of an older container are: a port of the host leads to the address. */
  async function leave(network: string, port: string, address: string): Promise<void> {
    const hash = createHash("sha512").update(network).digest("hex").slice(0, 13).toUpperCase();
    const match = `-p tcp -m tcp --dport ${port}`;
    const known = (await rules()).includes(`-N NETAVARK-DN-${hash}`);
    const lines = [
      "*nat",
      ...(known ? [] : [`:NETAVARK-DN-${hash} - [0:0]`]),
      `-A NETAVARK-DN-${hash} -s 127.0.0.1/32 -d 127.0.0.1/32 ${match} -j NETAVARK-HOSTPORT-SETMARK`,
      `-A NETAVARK-DN-${hash} -d 127.0.0.1/32 ${match} -j DNAT --to-destination ${address}:80`,
      `-I NETAVARK-HOSTPORT-DNAT ${match} -m comment --comment "dnat name: ${network} id: ${GONE}" -j NETAVARK-DN-${hash}`,
      "COMMIT",
      "",
    ];
    await run("iptables-restore", ["-w", "10", "--noflush"], lines.join("\n"));
  }

  it("lead to nobody else's container after the daemon has begun again", async () => {
    const [one, other] = [await serve("one"), await serve("other")];
    await leave(`${PREFIX}-aaaaaaaaaaaa`, backendOf(one).split(":")[1] ?? "", await addressOf(other));
    expect(await pageOf(one)).toBe("200 other");
    await driver.close();
    driver = await engine.driver("provider", { namePrefix: PREFIX });
    await untilOk(driver, one);
    expect(await pageOf(one)).toBe("200 one");
    expect((await rules()).filter((line) => line.includes(GONE))).toEqual([]);
  });

  it("are taken by the next container that has them", async () => {
    const [one, other] = [await serve("one"), await serve("other")];
    await leave(`${PREFIX}-aaaaaaaaaaaa`, backendOf(one).split(":")[1] ?? "", await addressOf(other));
    expect(await pageOf(one)).toBe("200 other");
    await driver.restart(one, "web");
    const restarted = ({ services }: Awaited<ReturnType<DockerDriver["status"]>>) =>
      services[0]?.replicas[0]?.restarts === 1 && services[0].available === 1;
    await untilHealth(driver, one, restarted, "the restart");
    expect(await pageOf(one)).toBe("200 one");
    expect(await pageOf(other)).toBe("200 other");
  });

  it("go with the network of their lease, and its chains with them", async () => {
    const one = await serve("one");
    const network = networkOf(one);
    // The engine does not remove a chain to which something still leads.
    await leave(network, "1", "10.9.9.9");
    const hash = createHash("sha512").update(network).digest("hex").slice(0, 13).toUpperCase();
    const left = async () => (await rules()).filter((line) => line.includes(hash) || line.includes(network));
    expect(await left()).not.toEqual([]);
    await driver.teardown(one);
    await waitFor(async () => (await left()).length === 0, "the rules to be gone");
  });
});
