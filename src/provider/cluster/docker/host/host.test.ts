import { describe, expect, it } from "vitest";
import { sampleLease } from "../../../../../test/support/conformance/index.ts";
import { leaseNamespace } from "../../contract/names.ts";
import { discoverEngine, remedy } from "../api/discover.ts";
import { LABEL, leaseOfLabels, Naming } from "../labels.ts";
import { parseSocketTable } from "../replica/readiness.ts";
import { hostCapacity, imageRoom } from "./capacity.ts";
import { Firewall, onLinkNetworks, rulesV4, rulesV6 } from "./firewall.ts";
import { redirectRules } from "./netns.ts";

describe("the capacity of a host", () => {
  const [gone, GiB] = ["/nowhere/at/all", 1n << 30n];
  const info = {
    ...{ architecture: "amd64", cpus: 4, memory: Number(8n * GiB), root: gone },
    ...{ runtimes: [], mapsUsers: false, takesCdi: false },
  };
  const api = { info: async () => info, ping: async () => ({ kind: "docker", version: "1", api: "1" }) };
  const volumes = {
    usedBytes: async () => 3n * GiB,
    unfilledBytes: async () => 2n * GiB,
    unavailable: async () => undefined,
  };
  const settings = { reserve: { cpu: 500n, memory: GiB, storage: GiB }, stateDir: gone };

  it("is what the engine has less the reserve, with volumes of leases and what can be removed on the disk", async () => {
    const { cpu, memory, storage } = await hostCapacity({ api, settings, volumes }, 5n * GiB);
    expect([cpu, memory, storage]).toEqual([3500n, 7n * GiB, [{ classes: "all", bytes: 7n * GiB }]]);
  });

  it("is nothing where the reserve is more than there is", async () => {
    const reserve = { cpu: 5000n, memory: 9n * GiB, storage: 9n * GiB };
    const { cpu, memory, storage } = await hostCapacity({ api, settings: { ...settings, reserve }, volumes }, 0n);
    expect([cpu, memory, storage]).toEqual([0n, 0n, [{ classes: "all", bytes: 0n }]]);
  });

  it("leaves images the free disk without promised parts of volumes and the reserve", async () => {
    const room = async (reserve: bigint) =>
      (await imageRoom({
        api: { ...api, info: async () => ({ ...info, root: "/" }) },
        settings: { ...settings, reserve: { ...settings.reserve, storage: reserve } },
        volumes,
      })) ?? 0n;
    // Other programs write meanwhile.
    expect(Number((await room(0n)) - (await room(1024n * GiB))) / Number(GiB)).toBeCloseTo(1024, 0);
    expect(await imageRoom({ api, settings, volumes })).toBeUndefined();
  });
});

describe("firewall rules", () => {
  const naming = new Naming("svc-a");
  const networks = ["sx1", "sx2"].map((bridge, index) => ({ bridge, subnet: `10.89.${index}.0/24` }));
  const rules = rulesV4(naming, networks.slice(0, 1));
  const at = (text: string) => rules.findIndex((rule) => rule.includes(text));

  it("fill the table anew and judge in the order that keeps the host closed", () => {
    expect(rules.slice(0, 2)).toEqual([
      "add table ip svc-a-tenants",
      "add chain ip svc-a-tenants prerouting { type filter hook prerouting priority -150; policy accept; }",
    ]);
    const order = [
      at("flush chain ip svc-a-tenants prerouting"),
      at("flush chain ip svc-a-tenants tenants"),
      at(`iifname "${naming.bridgePrefix}*" jump tenants`),
      at("established"),
      at("jump n-sx1"),
      at("dport 53"),
      at("type local drop"),
      at('iifname "sx1" ip daddr 10.89.0.0/24 return'),
      at("ip daddr 10.0.0.0/8 drop"),
    ];
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(rulesV6(naming).at(-1)).toBe(`add rule ip6 svc-a-tenants prerouting iifname "${naming.bridgePrefix}*" drop`);
  });

  it("close the networks on the host's own links, whatever their addresses", () => {
    const base = { address: "", netmask: "", mac: "", internal: false };
    const found = onLinkNetworks({
      lo: [{ ...base, family: "IPv4", internal: true, cidr: "127.0.0.1/8" }],
      eth0: [
        { ...base, family: "IPv4", cidr: "203.0.113.9/24" },
        { ...base, family: "IPv6", scopeid: 0, cidr: "2001:db8::9/64" },
      ],
      eth1: [{ ...base, family: "IPv4", cidr: "198.51.100.4/26" }],
    });
    expect(found).toEqual(["198.51.100.4/26", "203.0.113.9/24"]);
    const closed = rulesV4(naming, networks, { neighbours: found });
    const place = (text: string) => closed.findIndex((rule) => rule.includes(text));
    expect(place("ip daddr 203.0.113.9/24 drop")).toBeGreaterThan(place("ip daddr 10.89.1.0/24 return"));
  });

  it("go on counting the connections of leases that stay", () => {
    const shares = (present: readonly object[]) =>
      rulesV4(naming, networks, { present: JSON.stringify({ nftables: present }) })
        .filter((rule) => /ip svc-a-tenants n-/.test(rule))
        .map((rule) => rule.replace("ip svc-a-tenants ", ""));
    const added = (...bridges: string[]) => [
      ...bridges.flatMap((bridge) => [`add chain n-${bridge}`, `flush chain n-${bridge}`]),
      ...bridges.map((bridge) => `add rule n-${bridge} ct count over 8192 drop`),
    ];
    expect(shares([])).toEqual(added("sx1", "sx2"));
    const counting = (name: string) => [{ chain: { name } }, { rule: { chain: name } }];
    const removed = ["flush chain n-sx0", "delete chain n-sx0"];
    expect(shares([...counting("n-sx0"), ...counting("n-sx1")])).toEqual([...removed, ...added("sx2")]);
    // Somebody emptied a chain.
    expect(shares([...counting("n-sx1"), { chain: { name: "n-sx2" } }])).toEqual(added("sx2"));
  });

  it("let no lease begin that was known before they are in force", async () => {
    class Refused extends Naming {
      override get tenants(): string {
        return "no name of a table";
      }
    }
    const firewall = new Firewall(new Refused("svc-a"));
    const [network] = networks;
    if (network === undefined) throw new Error("no network");
    await expect(firewall.restore([{ namespace: "x", ...network }])).rejects.toThrow("cannot be set");
    await expect(firewall.allow("x", network)).rejects.toThrow("cannot be set");
  });

  it("cover private, shared, link-local and multicast ranges", () => {
    for (const range of [
      "10.0.0.0/8",
      "172.16.0.0/12",
      "192.168.0.0/16",
      "192.0.0.0/24",
      "168.63.129.16/32",
      "169.254.0.0/16",
      "100.64.0.0/10",
      "224.0.0.0/3",
    ]) {
      expect(rules).toContain(`add rule ip svc-a-tenants tenants ip daddr ${range} drop`);
    }
  });
});

describe("port redirects", () => {
  it("spare traffic from outside, from the host and the loopback of the replica", () => {
    const network = { gateway: "10.89.0.1", subnet: "10.89.0.0/24" };
    const rules = redirectRules([{ from: 80, to: 8080, proto: "tcp" }], network);
    expect(rules).toContain(
      "-A SVC-AS ! -s 10.89.0.0/24 -j RETURN\n-A SVC-AS -s 10.89.0.1 -j RETURN\n-A SVC-AS -p tcp --dport 80 -j REDIRECT --to-ports 8080",
    );
    expect(rules).toContain("-A OUTPUT ! -d 127.0.0.0/8");
    // The chain of an older daemon is filled anew, and has its jumps.
    expect(redirectRules([], network, { isNew: false })).not.toContain("OUTPUT");
  });
});

describe("socket table of the kernel", () => {
  it("tells listeners on any address from those on loopback and from connections", () => {
    const table = [
      "  sl  local_address rem_address   st tx_queue rx_queue",
      "   0: 00000000:0050 00000000:0000 0A 00000000:00000000",
      "   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000",
      "   2: 0200590A:0051 0100590A:E25C 01 00000000:00000000",
      "   3: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000",
      "   4: 00000000000000000000000001000000:01BC 00000000000000000000000000000000:0000 0A 00000000:00000000",
    ].join("\n");
    const { open, loopback } = parseSocketTable(table);
    expect([...open]).toEqual([80, 443]);
    expect([...loopback]).toEqual([8080, 444]);
  });
});

describe("names and labels", () => {
  it("keep two providers apart and fit the kernel's limits", () => {
    const id = sampleLease();
    const namespace = leaseNamespace(id);
    expect(namespace).toMatch(/^[0-9a-v]{45}$/);
    const [one, other] = [new Naming("svc-a"), new Naming("svc-b")];
    expect(one.bridge(namespace)).toHaveLength(15);
    expect(one.bridge(namespace).startsWith(one.bridgePrefix)).toBe(true);
    expect(one.bridgePrefix).not.toBe(other.bridgePrefix);
    expect(one.tenants).not.toBe(other.tenants);
  });

  it("give the lease back", () => {
    const id = sampleLease();
    const spec = { id, group: { name: "g", services: [] }, version: "ab", generation: 2, hosts: new Map(), ports: [] };
    const labels = new Naming("svc-a").leaseLabels(spec);
    expect(leaseOfLabels(labels)).toEqual(id);
    expect(leaseOfLabels({ ...labels, [LABEL.dseq]: "x" })).toBeUndefined();
    expect(leaseOfLabels({})).toBeUndefined();
  });
});

describe("finding an engine", () => {
  it("tries what was named and nothing else, and says so", async () => {
    const error = await discoverEngine("/no/such/engine.sock", {}).catch((thrown) => thrown);
    expect(error.message).toBe("/no/such/engine.sock: no such socket: no container engine answers");
    expect(error.hint).toContain("/no/such/engine.sock");
    const host = await discoverEngine(undefined, { DOCKER_HOST: "unix:///no/such/docker.sock" }).catch(
      (thrown) => thrown,
    );
    expect(host.message).toMatch(/^unix:\/\/\/no\/such\/docker.sock: no such socket/);
  });

  it("has a remedy for each system", () => {
    expect(remedy("linux", undefined)).toContain("apt-get install podman");
    expect(remedy("darwin", undefined)).toContain("Docker Desktop");
    expect(remedy("win32", undefined)).toContain("Linux");
  });
});
