import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Firewall } from "../../src/provider/cluster/docker/host/firewall.ts";
import type { DockerDriver, DockerOptions } from "../../src/provider/cluster/docker/index.ts";
import { Naming } from "../../src/provider/cluster/docker/labels.ts";
import { defaultPrefix } from "../../src/provider/cluster/docker/options.ts";
import {
  type ClusterEvent,
  type LeaseHealth,
  type LeaseSpec,
  leaseNamespace,
} from "../../src/provider/cluster/index.ts";
import { HOST_REASONS } from "../../src/provider/reasons.ts";
import type { ManifestService } from "../../src/sdl/index.ts";
import { createLogger } from "../../src/util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../src/wire/index.ts";
import { unmountBelow } from "../support/abandoned.ts";
import { execFileSync } from "../support/bounded.ts";
import {
  execute,
  httpOver,
  sampleExpose,
  sampleLease,
  sampleService,
  sampleSpec,
  scriptService,
  untilHealth,
  untilOk,
  untilUpdated,
} from "../support/conformance/index.ts";
import { waitFor } from "../support/index.ts";
import { freePort } from "../support/ports.ts";
import { atNight } from "../support/runs.ts";
import { TestEngine } from "./engine.ts";

const missing = await TestEngine.missing();
if (missing !== undefined) console.warn(`engine host tests skipped: ${missing}`);

const MEBIBYTE = 1 << 20;
/** The engine's own words about failed starts, which leases keep from tenants. */
const FAULTS = createLogger({ level: "warn", format: "plain", write: (line) => process.stderr.write(line) });

describe.skipIf(missing !== undefined)("engine driver on the host", () => {
  let engine: TestEngine;
  let driver: DockerDriver;
  const leases: LeaseKey[] = [];

  beforeAll(async () => {
    engine = await TestEngine.start();
  });

  afterAll(() => engine.destroy("provider", "other"));

  afterEach(async () => {
    for (const id of leases.splice(0)) await driver.teardown(id);
    await driver.close();
  });

  async function open(overrides: Partial<DockerOptions> = {}): Promise<void> {
    driver = await engine.driver("provider", { log: FAULTS, ...overrides });
  }

  /** Prefix of this provider's names; networks and rules of other providers of the machine stand beside its own. */
  function prefix(): string {
    return defaultPrefix(join(engine.folder, "provider"));
  }

  /** The table of this provider's firewall rules. */
  function tenants(): string {
    return new Naming(prefix()).tenants;
  }

  const nft = (...words: string[]) => execFileSync("nft", words, { encoding: "utf8" });

  async function deploy(services: readonly ManifestService[], overrides: Partial<LeaseSpec> = {}): Promise<LeaseSpec> {
    const spec = sampleSpec(services, overrides);
    leases.push(spec.id);
    await driver.deploy(spec);
    return spec;
  }

  /** A service with a persistent volume at `/data`. */
  function withData(script: string): ManifestService {
    const service = scriptService(engine.image, script);
    const attributes = [{ key: "persistent", value: "true" }];
    const volume = { name: "data", size: { val: String(8 * MEBIBYTE) }, attributes };
    return {
      ...service,
      resources: { ...service.resources, storage: [...service.resources.storage, volume] },
      params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
    };
  }

  const sh = (id: LeaseKey, service: string, script: string) =>
    execute(driver, id, { service, command: ["sh", "-c", script] });

  /** The container may be removed before the command has reported how it ended. */
  const fill = (id: LeaseKey, script: string) => sh(id, "web", script).catch(() => undefined);

  async function eventsOf(id: LeaseKey): Promise<ClusterEvent[]> {
    const options = { services: [], follow: false, tail: -1, signal: new AbortController().signal };
    const events: ClusterEvent[] = [];
    for await (const event of driver.events(id, options)) events.push(event);
    return events;
  }

  /** The restarted service, which may be ready before the command that ended it returns. */
  const isRestarted = ({ services }: LeaseHealth) =>
    services.some(({ replicas }) => replicas.some(({ restarts }) => restarts > 0));

  /** Waits until so many containers were made for the lease, whether or not they are there now. */
  const untilMade = (id: LeaseKey, count: number) =>
    waitFor(
      async () => (await eventsOf(id)).filter(({ reason }) => reason === "Created").length >= count,
      `${count} containers to be made`,
    );

  /** The driver's containers, newest last, by podman's own account. */
  async function containers(format: string): Promise<string[]> {
    return (await engine.podman("ps", "--all", "--sort", "created", "--format", format)).split("\n").filter(Boolean);
  }

  describe("networks", () => {
    let listener: Server;
    let port: number;

    beforeAll(async () => {
      listener = createServer((socket) => socket.resume().end("reached the host\n"));
      await new Promise<void>((resolve) => listener.listen(0, "::", resolve));
      const address = listener.address();
      port = typeof address === "object" && address !== null ? address.port : 0;
    });

    afterAll(() => new Promise((resolve) => listener.close(resolve)));

    it("keep tenants off every address of the host, whoever runs the program", async () => {
      await open();
      const { id } = await deploy([scriptService(engine.image, "sleep 1000")]);
      await untilOk(driver, id);
      const route = await sh(id, "web", "ip route");
      const gateway = /default via (\S+)/.exec(route.stdout)?.[1] ?? "";
      expect(gateway).toMatch(/^\d+\./);
      const bridge = execFileSync("ip", ["-o", "-6", "addr"], { encoding: "utf8" });
      const linkLocal = [...bridge.matchAll(/\ss[0-9a-f]{6}\S+\s+inet6 (fe80\S+)\//g)].map(
        (match) => `${match[1]}%eth0`,
      );
      const own = Object.values(networkInterfaces()).flat();
      const targets = [gateway, ...linkLocal, ...own.map((entry) => entry?.address ?? "")].filter(
        (address) => address !== "127.0.0.1" && address !== "::1" && address !== "",
      );
      expect(targets.length).toBeGreaterThan(2);
      const calls = targets.map((address) => `timeout 1 nc -w 1 ${address} ${port} </dev/null &`).join(" ");
      const script = `${calls} wait`;
      expect((await sh(id, "web", script)).stdout).not.toContain("reached");
      const asUser = await sh(id, "web", `su user -c 'id -u; ${script}'`);
      expect(asUser.stdout).toBe("1000\n");
      // Without the rules everything but IPv6 is reached: it is the rules that block the tenant.
      nft("flush", "chain", "ip", tenants(), "tenants");
      await expect.poll(async () => (await sh(id, "web", script)).stdout).toContain("reached");
    });

    it("keep leases apart, also over the other's node port and published port", async () => {
      await open({ nodePortAddress: "0.0.0.0" });
      const hostPort = await freePort();
      const expose = [sampleExpose({ externalPort: 9000 })];
      const ports = [{ service: "web", port: 80, externalPort: 9000, proto: "TCP" as const, hostPort }];
      const one = await deploy([sampleService(engine.image, { expose })], { ports });
      const two = await deploy([scriptService(engine.image, "sleep 1000")]);
      await untilOk(driver, one.id);
      await untilOk(driver, two.id);
      const address = (await sh(one.id, "web", "hostname -i")).stdout.trim();
      const published = driver.routing.backends(one.id, "web", 80)[0]?.split(":")[1] ?? "";
      const gateway = /default via (\S+)/.exec((await sh(two.id, "web", "ip route")).stdout)?.[1] ?? "";
      const hostAddress = Object.values(networkInterfaces())
        .flat()
        .find((entry) => entry?.family === "IPv4" && !entry.internal)?.address;
      const urls = [`${address}:80`, `${gateway}:${hostPort}`, `${gateway}:${published}`, `${hostAddress}:${hostPort}`];
      const script = urls.map((url) => `timeout 1 wget -qO- http://${url}/`).join("; ");
      expect((await sh(two.id, "web", script)).stdout).toBe("");
      expect((await sh(two.id, "web", "nslookup web")).stdout).not.toContain(address);
      expect(await httpOver(hostPort)).toContain("200 OK");
    });

    it("join the services of a lease by name and the port in `as`", async () => {
      await open();
      const api = sampleService(engine.image, {
        name: "api",
        count: 2,
        expose: [
          sampleExpose({ global: false, port: 80, externalPort: 8080 }),
          sampleExpose({ global: false, port: 9999, externalPort: 80 }),
        ],
      });
      const { id } = await deploy([api, scriptService(engine.image, "sleep 1000")]);
      await untilOk(driver, id);
      // The engine's name server hears of a container a moment after its start.
      for (const service of ["web", "api"]) {
        const page = async () => (await sh(id, service, "wget -qO- http://api:8080/")).stdout;
        await expect.poll(page).toContain("Hello from a container");
      }
      // Port 80 outside is 9999 inside, where nothing listens.
      expect((await sh(id, "web", "wget -qO- http://api:80/")).code).not.toBe(0);
      const addresses = async () => (await sh(id, "web", "nslookup api | grep -c 'Address: 10'")).stdout.trim();
      await expect.poll(addresses).toBe("2");
    });

    atNight(() =>
      it("carry UDP node ports", async () => {
        await open();
        const hostPort = await freePort();
        const expose = [sampleExpose({ proto: "UDP", port: 5000, externalPort: 5000 })];
        const ports = [{ service: "web", port: 5000, externalPort: 5000, proto: "UDP" as const, hostPort }];
        const program =
          'socket(S,2,2,17);bind(S,pack("S n N x8",2,5000,0));while($a=recv(S,$m,1500,0)){send(S,"echo $m",0,$a)}';
        const image = await engine.programImage("/usr/bin/perl");
        const echo = sampleService(image, { command: ["/usr/bin/perl", "-e", program], expose });
        const { id } = await deploy([echo], { ports });
        await untilOk(driver, id);
        const socket = createSocket("udp4");
        const answer = new Promise<string>((resolve) => socket.once("message", (data) => resolve(String(data))));
        // A datagram sent before the program listens is lost.
        const again = setInterval(() => socket.send("hello", hostPort, "127.0.0.1"), 200);
        expect(await answer).toBe("echo hello");
        clearInterval(again);
        socket.close();
      }),
    );

    it("are in force when a lease that they are being restored for begins", async () => {
      const naming = new Naming(`${prefix()}-x`);
      const firewall = new Firewall(naming);
      const network = { bridge: naming.bridge("0123456789ab"), subnet: "10.89.250.0/24" };
      try {
        await firewall.probe();
        const restored = firewall.restore([{ namespace: "x", ...network }]);
        await new Promise(setImmediate);
        await firewall.allow("x", network);
        expect(nft("list", "table", "ip", naming.tenants)).toContain(network.subnet);
        await restored;
      } finally {
        await firewall.clear();
      }
    });

    it("take the place of the rules of version 0.1, which knew no lease of today", async () => {
      const { chain, bridgePrefix } = new Naming(prefix());
      const mangle = (tool: string, ...words: string[]) =>
        execFileSync(tool, ["-w", "10", "-t", "mangle", ...words], { encoding: "utf8" });
      for (const tool of ["iptables", "ip6tables"]) {
        for (const name of tool === "iptables" ? [chain, `${chain}-N`] : [chain]) mangle(tool, "-N", name);
        mangle(tool, "-A", chain, "-j", tool === "iptables" ? `${chain}-N` : "DROP");
        mangle(tool, "-I", "PREROUTING", "-i", `${bridgePrefix}+`, "-j", chain);
      }
      await open();
      expect(await driver.obstacle()).toBeUndefined();
      expect(["iptables", "ip6tables"].filter((tool) => mangle(tool, "-S").includes(chain))).toEqual([]);
    });

    it("leave no rule behind", async () => {
      await open();
      const { id } = await deploy([scriptService(engine.image, "sleep 1000")]);
      await untilOk(driver, id);
      expect(nft("list", "tables")).toContain(tenants());
      await driver.purge();
      expect(nft("list", "tables")).not.toContain(tenants());
    });
  });

  describe("limits", () => {
    it("hold: memory, processes, capabilities, privileges, environment", async () => {
      await open({ publicHostname: "provider.test" });
      const service = scriptService(engine.image, "sleep 1000", { env: ["OWN=1", "EMPTY", "SVC_OWNER=mine"] });
      const { id } = await deploy([service]);
      await untilOk(driver, id);
      const status = (await sh(id, "web", "cat /proc/self/status; ulimit -n")).stdout;
      expect(status).toMatch(/NoNewPrivs:\s+1/);
      expect(status).toMatch(/Seccomp:\s+2/);
      // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE and no other.
      expect(status).toMatch(/CapBnd:\s+00000000000004fb/);
      expect(status.trim().split("\n").at(-1)).toBe("1024");
      const env = (await sh(id, "web", "env")).stdout.split("\n");
      expect(env).toEqual(expect.arrayContaining(["OWN=1", "EMPTY=", "SVC_OWNER=mine", "SVC_GROUP_SEQUENCE=1"]));
      expect(env).toContain("SVC_CLUSTER_PUBLIC_HOSTNAME=provider.test");
      const [name = ""] = await containers("{{.Names}}");
      const format =
        "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}} {{.HostConfig.Privileged}}";
      const made = await engine.podman("inspect", name, "--format", format);
      expect(made.trim()).toBe(`${64 * MEBIBYTE} ${64 * MEBIBYTE} 100000000 1024 false`);
    });

    it("distinguish a memory kill from an exit", async () => {
      await open();
      const { id } = await deploy([scriptService(engine.image, "exec tail /dev/zero")]);
      const told = await untilHealth(driver, id, (health) => health.services[0]?.error !== undefined, "an error");
      expect(told.services[0]?.error).toMatch(/memory limit of 64 MiB/);
      expect((await eventsOf(id)).map((event) => event.reason)).toContain("OOMKilled");
    });

    atNight(() =>
      it("hold the writable layer, image volumes and inodes by the file system's own size", async () => {
        const image = "localhost/svc-sized-volume:latest";
        const made = (await engine.podman("create", engine.image)).trim();
        await engine.podman("commit", "--quiet", "--change", "VOLUME /declared", made, image);
        await engine.podman("rm", made);
        await open();
        const service = scriptService(image, "sleep 1000");
        const resources = {
          ...service.resources,
          storage: [{ name: "default", size: { val: String(16 * MEBIBYTE) } }],
        };
        const { id } = await deploy([{ ...service, resources }]);
        await untilOk(driver, id);
        const full = await sh(id, "web", "dd if=/dev/zero of=/big bs=1M count=40; rm /big");
        expect(full.stderr).toMatch(/No space left/);
        expect((await sh(id, "web", "dd if=/dev/zero of=/big bs=1M count=15; rm /big")).code).toBe(0);
        const declared = await sh(id, "web", "dd if=/dev/zero of=/declared/big bs=1M count=40; rm /declared/big");
        expect(declared.stderr).toMatch(/No space left/);
        const files = "i=0; while [ $i -lt 3000 ] && touch /f$i 2>/dev/null; do i=$((i+1)); done; echo $i";
        const count = Number((await sh(id, "web", files)).stdout);
        expect(count).toBeGreaterThan(500);
        expect(count).toBeLessThan(1100);
        // With no inode left the kernel may not mount it again: then the replica starts afresh. Either way it runs again.
        const [name = ""] = await containers("{{.Names}}");
        await engine.podman("kill", name);
        await untilHealth(driver, id, isRestarted, "the restart");
        await untilOk(driver, id);
        expect((await sh(id, "web", "echo again")).stdout).toBe("again\n");
        await driver.teardown(id);
        await expect.poll(() => execFileSync("losetup", ["-a"], { encoding: "utf8" })).not.toContain(engine.folder);
      }),
    );

    it("leave no file of the host's disk to write to, and no name of the host in it", async () => {
      await open();
      const { id } = await deploy([scriptService(engine.image, "sleep 1000")]);
      await untilOk(driver, id);
      for (const path of ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/run/.containerenv"]) {
        expect([path, (await sh(id, "web", `echo x >> ${path}`)).code]).not.toEqual([path, 0]);
      }
      const writable = (await sh(id, "web", "grep -E ' (ext4|xfs|btrfs) rw' /proc/mounts")).stdout;
      expect(writable).toBe("");
      expect((await sh(id, "web", "cat /etc/hosts")).stdout.trim()).not.toMatch(/^(?!127|::1)/m);
      // It finds itself, by the names of the service and of the replica.
      const address = (await sh(id, "web", "hostname -i")).stdout.trim();
      expect(address).toMatch(/^10\./);
      expect((await sh(id, "web", "nslookup web-0")).stdout).toContain(address);
    });

    it("run an init process that takes over orphans", async () => {
      await open();
      const { id } = await deploy([scriptService(engine.image, "(sleep 0.1 &) ; sleep 1000")]);
      await untilOk(driver, id);
      expect((await sh(id, "web", "cat /proc/1/comm")).stdout).toMatch(/init|catatonit/);
      expect((await sh(id, "web", "sleep 0.3; cat /proc/[0-9]*/stat | grep -c ' Z '")).stdout.trim()).toBe("0");
    });

    it("hold exactly what a volume was ordered with", async () => {
      await open();
      const service = scriptService(engine.image, "sleep 1000");
      const volume = {
        name: "data",
        size: { val: String(64 * MEBIBYTE) },
        attributes: [{ key: "persistent", value: "true" }],
      };
      const { id } = await deploy([
        {
          ...service,
          resources: { ...service.resources, storage: [...service.resources.storage, volume] },
          params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
        },
      ]);
      await untilOk(driver, id);
      // Writes of others do not use it up: the disk has already reserved the space.
      const { blocks, size } = statSync(
        join(engine.folder, "provider", "volumes", leaseNamespace(id), "web-0.data.img"),
      );
      expect(blocks * 512).toBeGreaterThanOrEqual(size);
      expect((await sh(id, "web", "dd if=/dev/zero of=/data/x bs=1M count=64; rm /data/x")).code).toBe(0);
      expect((await sh(id, "web", "dd if=/dev/zero of=/data/x bs=1M count=70; rm /data/x")).stderr).toMatch(/No space/);
    });

    it("remove a container that outgrew its ephemeral storage, and start afresh", async () => {
      await open({ volumeSizeEnforcement: "none", timing: { layerCheck: 300 } });
      const service = scriptService(engine.image, "[ -e /marker ] && exit 9; sleep 1000");
      const resources = { ...service.resources, storage: [{ name: "default", size: { val: String(MEBIBYTE) } }] };
      const { id } = await deploy([{ ...service, resources }]);
      await untilOk(driver, id);
      await fill(id, "touch /marker; dd if=/dev/zero of=/big bs=1M count=3");
      let reasons: string[] = [];
      while (!reasons.includes("Evicted")) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        reasons = (await eventsOf(id)).map((event) => event.reason);
      }
      await untilOk(driver, id);
      expect((await sh(id, "web", "ls /marker")).code).not.toBe(0);
    });

    atNight(() =>
      it("count what is written to volumes that the image declares by itself", async () => {
        const image = "localhost/svc-declares-volume:latest";
        const made = (await engine.podman("create", engine.image)).trim();
        await engine.podman("commit", "--quiet", "--change", "VOLUME /declared", made, image);
        await engine.podman("rm", made);
        await open({ volumeSizeEnforcement: "none", timing: { layerCheck: 300 } });
        const service = scriptService(image, "sleep 1000");
        const resources = { ...service.resources, storage: [{ name: "default", size: { val: String(MEBIBYTE) } }] };
        const { id } = await deploy([{ ...service, resources }]);
        await untilOk(driver, id);
        await fill(id, "dd if=/dev/zero of=/declared/big bs=1M count=3");
        let reasons: string[] = [];
        while (!reasons.includes("Evicted")) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          reasons = (await eventsOf(id)).map((event) => event.reason);
        }
        await untilOk(driver, id);
        expect((await sh(id, "web", "ls /declared/big")).code).not.toBe(0);
      }),
    );
  });

  describe("volumes", () => {
    const withVolume = (
      script: string,
      storage: { size: number; persistent?: boolean; ram?: boolean },
    ): ManifestService => {
      const service = scriptService(engine.image, script, { name: "db" });
      const attributes = [
        { key: "persistent", value: String(storage.persistent ?? false) },
        ...(storage.ram === true ? [{ key: "class", value: "ram" }] : []),
      ];
      const volume = { name: "data", size: { val: String(storage.size) }, attributes };
      return {
        ...service,
        resources: { ...service.resources, storage: [...service.resources.storage, volume] },
        params: { storage: [{ name: "data", mount: "/data", readOnly: false }] },
      };
    };

    it("belong to users of the lease's own, where containers have such", async () => {
      await open();
      const id = sampleLease();
      const volume = { size: 8 * MEBIBYTE, persistent: true };
      await deploy([withVolume("echo before >/data/old; chmod 600 /data/old; sleep 1000", volume)], { id });
      await untilOk(driver, id);
      await driver.close();
      await open({ userNamespaces: true, timing: { stopGrace: 500 } });
      const script = "cp /data/old /data/new && chown 33:33 /data && httpd -f -p 80 -h /data";
      await deploy([withVolume(script, volume)], { id, generation: 2 });
      await untilUpdated(driver, id, 2);
      await untilOk(driver, id);
      await expect.poll(async () => (await sh(id, "db", "wget -qO- http://127.0.0.1/new")).stdout).toBe("before\n");
      const map = (await sh(id, "db", "cat /proc/self/uid_map")).stdout.trim().split(/\s+/);
      expect(map).toEqual(["0", expect.stringMatching(/^(1[89]|2[01])\d{8}$/), "65536"]);
      const found = await sh(id, "db", "id -u; stat -c %u /data /data/old /; cat /etc/hosts; touch /x && echo written");
      expect(found.stdout).toMatch(/^0\n33\n0\n0\n127\.0\.0\.1\tlocalhost\n[\s\S]*written\n$/);
      expect((await sh(id, "db", "dd if=/dev/zero of=/data/full bs=1M count=16 2>&1")).stdout).toMatch(/No space left/);
    });

    it("persist over updates and restarts, hold their size, tell when they are full, and go with the lease", async () => {
      await open({ timing: { resync: 500 } });
      const id = sampleLease();
      await deploy([withVolume("sleep 1000", { size: 8 * MEBIBYTE, persistent: true })], { id });
      await untilOk(driver, id);
      expect((await sh(id, "db", "ls -A /data; echo kept > /data/file; id -u")).stdout.trim()).toBe("0");
      await deploy([withVolume("sleep 2000", { size: 8 * MEBIBYTE, persistent: true })], { id, generation: 2 });
      await untilUpdated(driver, id, 2);
      expect((await sh(id, "db", "cat /data/file")).stdout.trim()).toBe("kept");
      const full = await sh(id, "db", "dd if=/dev/zero of=/data/big bs=1M count=20");
      expect(full.code).not.toBe(0);
      expect(full.stderr).toMatch(/No space left/);
      const told = async () => (await driver.status(id)).services[0]?.error ?? "";
      await expect
        .poll(told, { timeout: 20_000 })
        .toMatch(/^volume data of db-0 is full \(8 MiB\): delete files in it/);
      await sh(id, "db", "rm /data/big");
      await expect.poll(told, { timeout: 20_000 }).toBe("");
      const events = (await eventsOf(id)).filter(({ reason }) => reason.startsWith("Storage"));
      expect(events.map(({ reason }) => reason)).toEqual(["StorageFull", "StorageFreed"]);
      const mounts = () => execFileSync("mount", { encoding: "utf8" }).split("\n");
      const mine = () => mounts().filter((line) => line.includes(engine.folder) && line.includes("db-0.data.mnt"));
      expect(mine().length).toBeGreaterThan(0);
      await driver.teardown(id);
      expect(mine()).toEqual([]);
    });

    it("that cannot be made are reported without naming the host: in the state, in events and in refusals", async () => {
      await open();
      const id = sampleLease();
      const folder = join(engine.folder, "provider", "volumes", leaseNamespace(id));
      mkdirSync(folder, { recursive: true });
      // Where the volume should be, there is something else; the other provider can have none at all.
      writeFileSync(join(folder, "db-0.data.mnt"), "");
      const service = withVolume("sleep 1000", { size: 8 * MEBIBYTE, persistent: true });
      await deploy([service], { id });
      const isTold = ({ services: [db] }: LeaseHealth) => db?.error !== undefined;
      const health = await untilHealth(driver, id, isTold, "the fault");
      mkdirSync(join(engine.folder, "other"));
      writeFileSync(join(engine.folder, "other", "volumes"), "");
      const other = await engine.driver("other");
      const refusal = await other.deploy(sampleSpec([service])).catch((error) => String(error));
      rmSync(join(engine.folder, "other", "volumes"));
      const [state, events, refused] = [health, await eventsOf(id), refusal].map((each) => JSON.stringify(each));
      for (const told of [state, events]) expect(told).toContain(HOST_REASONS.engine.tenant);
      expect(refused).toMatch(/\(on the provider's host\)/);
      for (const told of [state, events, refused]) expect(told).not.toContain(engine.folder);
    });

    it("in memory are gone with the replica and have their size", async () => {
      await open();
      const { id } = await deploy([withVolume("sleep 1000", { size: 2 * MEBIBYTE, ram: true })]);
      await untilOk(driver, id);
      expect((await sh(id, "db", "mount | grep /data")).stdout).toMatch(/tmpfs.*size=2048k/);
      expect((await sh(id, "db", "dd if=/dev/zero of=/data/x bs=1M count=3")).stderr).toMatch(/No space left/);
    });

    it("go back to the old replica when the new one fails", async () => {
      await open();
      const id = sampleLease();
      await deploy([withVolume("sleep 1000", { size: 8 * MEBIBYTE, persistent: true })], { id });
      await untilOk(driver, id);
      const bad = withVolume("echo no such setting; exit 4", { size: 8 * MEBIBYTE, persistent: true });
      await deploy([bad], { id, generation: 2 });
      const undone = await untilHealth(
        driver,
        id,
        (health) => /undone/.test(health.services[0]?.error ?? ""),
        "the undoing",
      );
      expect(undone.services[0]?.error).toMatch(/generation 2 failed.*exit code 4/);
      const back = await untilOk(driver, id);
      expect(back.services[0]).toMatchObject({ available: 1, updated: 0 });
      const event = (await eventsOf(id)).find((entry) => entry.reason === "UpdateFailed");
      expect(event?.note).toContain("no such setting");
      // A restarted daemon remembers, and does not try the same again.
      await driver.close();
      await open();
      await untilOk(driver, id);
      expect((await eventsOf(id)).filter((entry) => entry.reason === "UpdateFailed")).toHaveLength(1);
      leases.push(id);
    });

    atNight(() =>
      it("go back to the old replica when the new one is not ready in time", async () => {
        await open({ timing: { rolloutDeadline: 3_000 } });
        const id = sampleLease();
        const volume = { size: 8 * MEBIBYTE, persistent: true };
        await deploy([withVolume("sleep 1000", volume)], { id });
        await untilOk(driver, id);
        await deploy([{ ...withVolume("sleep 2000", volume), expose: [sampleExpose()] }], { id, generation: 2 });
        const isUndone = ({ services: [db] }: LeaseHealth) => /undone/.test(db?.error ?? "");
        const undone = await untilHealth(driver, id, isUndone, "the undoing");
        expect(undone.services[0]?.error).toMatch(/generation 2 failed.*nothing listens on port 80 yet/);
        expect((await untilOk(driver, id)).services[0]).toMatchObject({ available: 1, updated: 0 });
      }),
    );
  });

  describe("an update that never becomes ready", () => {
    const podNames = () => containers("{{.Names}}");
    /** It runs on, and nothing listens on its port. */
    const idle = (env = "VERSION=2") =>
      scriptService(engine.image, "sleep 1000", { env: [env], expose: [sampleExpose()] });

    async function untilUndone(id: LeaseKey): Promise<LeaseHealth> {
      const isUndone = ({ services: [web] }: LeaseHealth) => /undone/.test(web?.error ?? "");
      return untilHealth(driver, id, isUndone, "the undoing");
    }

    it("runs beside the old version for a while, then only that goes on, and says so", async () => {
      await open({ timing: { progressDeadline: 4_000 } });
      const { id } = await deploy([sampleService(engine.image)]);
      await untilOk(driver, id);
      const [old = ""] = await podNames();
      const update = { ...sampleSpec([idle()]), id, generation: 2 };
      await driver.deploy(update);
      await untilMade(id, 2);
      const told = await untilUndone(id);
      expect(told.services[0]?.error).toMatch(/generation 2 failed and was undone: nothing listens on port 80 yet/);
      expect(told.services[0]).toMatchObject({ available: 1, updated: 0 });
      await waitFor(async () => (await podNames()).length === 1, "the new one to go");
      expect(await podNames()).toEqual([old]);
      expect((await fetch(`http://${driver.routing.backends(id, "web", 80)[0]}/`)).status).toBe(200);
      expect((await eventsOf(id)).filter(({ reason }) => reason === "UpdateFailed")).toHaveLength(1);
      // A restarted daemon does not begin it again; another manifest is another try.
      await driver.close();
      await open({ timing: { progressDeadline: 4_000 } });
      await driver.deploy(update);
      await untilUndone(id);
      await untilOk(driver, id);
      expect(await podNames()).toEqual([old]);
      await driver.deploy({ ...sampleSpec([sampleService(engine.image, { env: ["VERSION=3"] })]), id, generation: 3 });
      await untilHealth(
        driver,
        id,
        ({ services: [web] }) => web?.updated === 1 && web.error === undefined,
        "generation 3",
      );
      await waitFor(async () => !(await podNames()).includes(old), "the old one to go");
    });

    atNight(() =>
      it("leaves the old version where the host was off for all of its time", async () => {
        const timing = { progressDeadline: 8_000 };
        await open({ timing });
        const { id } = await deploy([sampleService(engine.image)]);
        await untilOk(driver, id);
        const [old = ""] = await podNames();
        await driver.deploy({ ...sampleSpec([idle()]), id, generation: 2 });
        await untilMade(id, 2);
        await driver.close();
        for (const name of await podNames()) await engine.podman("kill", name);
        await sleep(timing.progressDeadline);
        await open({ timing });
        await untilUndone(id);
        await untilOk(driver, id);
        await waitFor(async () => (await podNames()).length === 1, "the new one to go");
        expect(await podNames()).toEqual([old]);
      }),
    );
  });

  describe("faults", () => {
    it("health is unknown while the engine is away, and nothing was lost when it is back", async () => {
      await open();
      const { id } = await deploy([sampleService(engine.image)]);
      await untilOk(driver, id);
      const before = driver.routing.backends(id, "web", 80);
      await engine.stopService();
      try {
        await untilHealth(driver, id, (health) => health.health === "unknown", "unknown");
        await expect(driver.teardown(id)).rejects.toThrow(/does not answer/);
        await expect(driver.deploy(sampleSpec([sampleService(engine.image)]))).rejects.toThrow(/does not answer/);
        await expect(driver.adopt()).rejects.toThrow(/does not answer/);
        expect((await fetch(`http://${before[0]}/`)).status).toBe(200);
      } finally {
        await engine.startService();
      }
      const health = await untilOk(driver, id);
      expect(health.services[0]?.replicas[0]?.restarts).toBe(0);
      expect(driver.routing.backends(id, "web", 80)).toEqual(before);
    });

    it("a killed container is started again, a removed one made again", async () => {
      const lines: string[] = [];
      await open({ log: createLogger({ level: "info", format: "plain", write: (line) => lines.push(line) }) });
      const { id } = await deploy([sampleService(engine.image)]);
      await untilOk(driver, id);
      const [name = ""] = await containers("{{.Names}}");
      await engine.podman("kill", name);
      const again = await untilHealth(
        driver,
        id,
        (health) => health.health === "ok" && health.services[0]?.replicas[0]?.restarts === 1,
        "the restart",
      );
      expect(again.services[0]?.available).toBe(1);
      // The engine's event for the signal may come after the end.
      await expect.poll(async () => (await eventsOf(id)).map(({ note }) => note).join()).toMatch(/killed on the host/);
      expect(lines.filter((line) => line.includes(formatLeaseId(id))).join()).toMatch(/ended and starts again.*web-0/);
      await engine.podman("rm", "--force", "--time", "0", name);
      await untilMade(id, 2);
      await untilOk(driver, id);
    });

    atNight(() =>
      it("a container whose monitor died with its program is made again", async () => {
        await open();
        const { id } = await deploy([sampleService(engine.image, { count: 2 })]);
        await untilOk(driver, id);
        const [name = ""] = await containers("{{.Names}}");
        const told = await engine.podman("inspect", name, "--format", "{{.State.ConmonPid}} {{.State.Pid}}");
        const [monitor = 0, program = 0] = told.trim().split(" ").map(Number);
        expect(monitor).toBeGreaterThan(1);
        process.kill(monitor, "SIGKILL");
        process.kill(program, "SIGKILL");
        await untilHealth(driver, id, isRestarted, "the loss to be seen");
        await untilOk(driver, id);
        expect((await eventsOf(id)).map(({ note }) => note).join()).toMatch(/its process is gone/);
      }),
    );

    atNight(() =>
      it("a container whose files are lost is made anew, with its volumes, and nothing else is restarted", async () => {
        const backoff = { first: 300, initial: 300, max: 300, resetAfter: 600_000 };
        await open({ timing: { backoff, damaged: 300 } });
        const other = sampleService(engine.image, { name: "other" });
        const { id } = await deploy([withData("echo run >>/data/runs; exec sleep 1000"), other]);
        await untilOk(driver, id);
        const end = (name: string) => engine.podman("kill", name);
        const losses = [
          // The engine cannot describe it.
          (layer: string, name: string) => {
            rmSync(layer);
            return end(name);
          },
          // The engine cannot start it.
          (layer: string, name: string) => {
            for (const part of ["diff", "link", "lower", "work"]) rmSync(join(layer, part), { recursive: true });
            return end(name);
          },
          // The host lost power before the file was on the disk; here the program runs on.
          async (layer: string) => writeFileSync(join(layer, "lower"), ""),
        ];
        for (const [runs, lose] of losses.entries()) {
          const [name = ""] = (await containers("{{.Names}}")).filter((each) => each.includes("web-0"));
          const before = (
            await engine.podman("inspect", name, "--format", "{{.State.Pid}} {{.GraphDriver.Data.UpperDir}}")
          ).trim();
          const [pid = "", upper = ""] = before.split(" ");
          await lose(dirname(upper), name);
          await untilMade(id, 3 + runs);
          await untilOk(driver, id);
          expect((await sh(id, "web", "cat /data/runs")).stdout).toBe("run\n".repeat(2 + runs));
          expect(existsSync(`/proc/${pid}`)).toBe(false);
        }
        const notes = (await eventsOf(id)).map(({ note }) => note);
        expect(notes.filter((note) => note.includes("created again"))).toEqual([
          "web-0: files of its container are lost; it is created again",
          "web-0 could not be started 3 times in a row; its container is created again",
          "web-0: files of its container are lost; it is created again",
        ]);
        expect((await driver.status(id)).services[1]?.replicas[0]?.restarts).toBe(0);
        expect(await driver.adopt()).toHaveLength(1);
      }),
    );

    it("a program that its runtime has forgotten ends with its lease", async () => {
      await open();
      const { id } = await deploy([scriptService(engine.image, "exec sleep 1000")]);
      await untilOk(driver, id);
      const [name = ""] = await containers("{{.Names}}");
      const [container = "", pid = ""] = (await engine.podman("inspect", name, "--format", "{{.Id}} {{.State.Pid}}"))
        .trim()
        .split(" ");
      for (const runtime of ["runc", "crun"])
        rmSync(join("/run", runtime, container), { recursive: true, force: true });
      await driver.teardown(id);
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      expect(await containers("{{.Names}}")).toEqual([]);
    });

    it("containers run again after a restart of the host, with all that they wrote", async () => {
      await open();
      const { id } = await deploy([withData("exec sleep 1000")]);
      await untilOk(driver, id);
      await sh(id, "web", "echo kept | tee /data/file >/file");
      await driver.close();
      await engine.restartHost();
      // The disk of the volumes comes later than the provider.
      const image = join(engine.folder, "provider", "volumes", leaseNamespace(id), "web-0.data.img");
      renameSync(image, `${image}.away`);
      await open();
      const isMissed = ({ services: [web] }: LeaseHealth) => /data of volume data is missing/.test(web?.error ?? "");
      await untilHealth(driver, id, isMissed, "the missing volume");
      renameSync(`${image}.away`, image);
      await untilOk(driver, id);
      expect((await sh(id, "web", "cat /file /data/file")).stdout).toBe("kept\nkept\n");
      expect((await eventsOf(id)).filter(({ reason }) => reason === "Created")).toHaveLength(1);
    });

    it.each([
      ["volumes", "provider/volumes"],
      ["volumes and records", "provider"],
    ])("a disk of %s that is mounted later than the provider starts", async (_, place) => {
      const backoff = { first: 300, initial: 300, max: 300, resetAfter: 600_000 };
      const options = { timing: { backoff, damaged: 300 } };
      await open(options);
      const spec = await deploy([withData("exec sleep 1000")]);
      await untilOk(driver, spec.id);
      await sh(spec.id, "web", "echo kept >/data/file");
      await driver.close();
      await engine.restartHost();
      const folder = join(engine.folder, place);
      renameSync(folder, `${folder}.disk`);
      mkdirSync(folder);
      await open(options);
      await driver.deploy(spec, { hasRun: true });
      const isMissed = ({ services: [web] }: LeaseHealth) =>
        /data of volume data is missing .*close the deployment/.test(web?.error ?? "");
      await untilHealth(driver, spec.id, isMissed, "the missing volume");
      // The layer of the next container is made below the mount.
      const volumes = join(engine.folder, "provider", "volumes", leaseNamespace(spec.id));
      const mounts = () => execFileSync("mount", { encoding: "utf8" });
      await waitFor(() => mounts().includes(join(volumes, "web-0-g1..layer.mnt")), "the layer");
      expect(existsSync(join(volumes, "web-0.data.img"))).toBe(false);
      execFileSync("mount", ["--bind", `${folder}.disk`, folder]);
      await untilOk(driver, spec.id);
      expect((await sh(spec.id, "web", "cat /data/file")).stdout).toBe("kept\n");
      await driver.teardown(spec.id);
      expect(existsSync(volumes)).toBe(false);
      execFileSync("umount", [folder]);
      unmountBelow(folder);
      rmSync(folder, { recursive: true });
      renameSync(`${folder}.disk`, folder);
    });

    atNight(() =>
      it("what crashed while the daemon was away runs again after it is back", async () => {
        await open();
        const { id } = await deploy([sampleService(engine.image, { count: 2 })]);
        await untilOk(driver, id);
        await driver.close();
        const [one = ""] = await containers("{{.Names}}");
        await engine.podman("kill", one);
        await open();
        await untilHealth(driver, id, (health) => health.services[0]?.available === 2, "both replicas");
      }),
    );

    it("a lease whose record is lost is shown with unknown health, kept, and taken over by its next manifest", async () => {
      await open();
      const spec = await deploy([sampleService(engine.image)], { generation: 3 });
      await untilOk(driver, spec.id);
      const before = driver.routing.backends(spec.id, "web", 80);
      await driver.close();
      execFileSync("sh", ["-c", `rm ${engine.folder}/provider/leases/*.json`]);
      await open();
      expect((await driver.status(spec.id)).health).toBe("unknown");
      expect(await driver.adopt()).toEqual([{ id: spec.id, version: spec.version, generation: 3 }]);
      expect((await fetch(`http://${before[0]}/`)).status).toBe(200);
      await driver.deploy(spec);
      await untilOk(driver, spec.id);
      expect(driver.routing.backends(spec.id, "web", 80)).toEqual(before);
    });

    it("two providers on one machine do not touch each other", async () => {
      await open();
      const { id } = await deploy([sampleService(engine.image)]);
      await untilOk(driver, id);
      const other = await engine.driver("other");
      expect(await other.adopt()).toEqual([]);
      await other.teardown(id);
      await other.purge();
      await other.close();
      expect((await driver.status(id)).health).toBe("ok");
      expect((await fetch(`http://${driver.routing.backends(id, "web", 80)[0]}/`)).status).toBe(200);
      expect(nft("list", "tables")).toContain(tenants());
    });

    it("a command that does not exist is reported, and images of this machine are refused where they are not allowed", async () => {
      await open({ allowLocalImages: false });
      await expect(driver.deploy(sampleSpec([sampleService(engine.image)]))).rejects.toThrow(
        /only on the provider's machine/,
      );
      await driver.close();
      await open();
      const { id } = await deploy([scriptService(engine.image, "", { command: ["/no/such/program"], args: null })]);
      // A busy engine may have the reason only at the next start.
      const reason = /could not be started.*no such file/i;
      await untilHealth(driver, id, (health) => reason.test(health.services[0]?.error ?? ""), "the reason");
    });

    it("teardown removes containers, networks, volumes and records", async () => {
      await open();
      const { id } = await deploy([sampleService(engine.image, { count: 2 })]);
      await untilOk(driver, id);
      await driver.teardown(id);
      expect(await containers("{{.Names}}")).toEqual([]);
      expect(await engine.podman("network", "ls", "--format", "{{.Name}}")).not.toContain(prefix());
      expect(existsSync(`${engine.folder}/provider/leases`)).toBe(true);
      expect(execFileSync("find", [`${engine.folder}/provider`, "-type", "f"], { encoding: "utf8" })).toMatch(
        /^(\S+\/seccomp\/\w+\.json\n)?$/,
      );
    });
  });

  describe("terminals", () => {
    it("have the size that was asked for and end with the command", async () => {
      await open();
      const { id } = await deploy([sampleService(engine.image)]);
      await untilOk(driver, id);
      const request = { service: "web", replica: 0, command: ["sh"], tty: true, stdin: true };
      const session = await driver.exec(id, request);
      await session.resize(99, 33);
      session.write(Buffer.from("stty size; tty; exit 5\n"));
      let text = "";
      for await (const { data } of session.output) text += Buffer.from(data).toString("utf8");
      expect(text).toContain("33 99");
      expect(text).toContain("/dev/pts/");
      expect(await session.exitCode).toBe(5);
    });
  });
});
