import { existsSync } from "node:fs";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { errorText, Mutex } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { FORBIDDEN } from "../../shared/index.ts";
import type { Naming } from "../labels.ts";
import { run } from "./command.ts";

/** Open connections of a lease: the kernel has one table for all tenants and the host. */
const CONNECTIONS = 8_192;
/** Chain of the table where packets arrive, and the chain that judges packets of tenants. */
const [HOOK, JUDGE] = ["prerouting", "tenants"];

const NO_TABLE = '{"nftables":[]}';

/** The network of one lease. */
export interface LeaseNetwork {
  readonly bridge: string;
  readonly subnet: string;
}

/**
 * Keeps tenants off the host and its networks. The provider has an nft table of its own, whose rules come before every
 * address translation, so a packet to any address of the host is dropped, even to a published port. It
 * catches the provider's bridges by their common name prefix: a bridge is closed from the moment it exists, and the
 * lease's own line only opens its own subnet. IPv6 is dropped altogether, lease networks have none.
 */
export class Firewall {
  readonly #naming: Naming;
  readonly #mutex = new Mutex();
  readonly #networks = new Map<string, LeaseNetwork>();
  /** Whether the last attempt to set the rules succeeded. */
  #isInForce = false;

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  /** Opens a lease's own subnet to it; everything else stays closed. Rejects where rules cannot be set. */
  allow(namespace: string, network: LeaseNetwork): Promise<void> {
    return this.#mutex.run(async () => {
      const known = this.#networks.get(namespace);
      if (this.#isInForce && known?.subnet === network.subnet && known.bridge === network.bridge) return;
      await this.#install(new Map(this.#networks).set(namespace, network));
      this.#networks.set(namespace, network);
    });
  }

  /** Takes over the networks that exist when the daemon starts, all in one step. */
  restore(networks: readonly (LeaseNetwork & { readonly namespace: string })[]): Promise<void> {
    return this.#mutex.run(async () => {
      for (const { namespace, bridge, subnet } of networks) this.#networks.set(namespace, { bridge, subnet });
      if (this.#networks.size > 0) await this.#install();
    });
  }

  /** Takes a lease's line away, after its network is gone; with the last one everything goes. */
  forget(namespace: string): Promise<void> {
    return this.#mutex.run(async () => {
      const network = this.#networks.get(namespace);
      if (network === undefined) return;
      this.#networks.delete(namespace);
      await removeEngineLeftovers(network.bridge);
      if (this.#networks.size > 0) await this.#install();
      else await this.#uninstall();
    });
  }

  /** Restores flushed rules. */
  refresh(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#networks.size > 0) await this.#install();
    });
  }

  /** Checks that rules can be set by setting them; called before a deployment is accepted. */
  async probe(): Promise<void> {
    await this.#mutex.run(() => this.#install());
  }

  /** Removes every rule of this provider. */
  async clear(): Promise<void> {
    await this.#mutex.run(async () => {
      this.#networks.clear();
      await this.#uninstall();
      await removeOlder(this.#naming);
    });
  }

  /** One atomic step, whatever was there before. */
  async #install(networks: ReadonlyMap<string, LeaseNetwork> = this.#networks): Promise<void> {
    try {
      const neighbours = onLinkNetworks(networkInterfaces());
      // Without a list, the connections of all leases are counted anew.
      const list = () => run("nft", ["-j", "list", "table", "ip", this.#naming.tenants]).catch(() => NO_TABLE);
      const present = networks.size === 0 ? NO_TABLE : await list();
      const rules = rulesV4(this.#naming, [...networks.values()], { neighbours, present });
      await nft(hasIpv6() ? [...rules, ...rulesV6(this.#naming)] : rules);
    } catch (error) {
      this.#isInForce = false;
      throw clusterErrors.firewall(errorText(error), { cause: error });
    }
    if (!this.#isInForce) await removeOlder(this.#naming);
    this.#isInForce = true;
  }

  /** Tables that do not exist are made first, because one that is missing would fail the step. */
  async #uninstall(): Promise<void> {
    const families = hasIpv6() ? ["ip", "ip6"] : ["ip"];
    const tables = families.map((family) => `table ${family} ${this.#naming.tenants}`);
    await nft(tables.flatMap((table) => [`add ${table}`, `delete ${table}`])).catch(() => {});
  }
}

async function nft(lines: readonly string[]): Promise<void> {
  await run("nft", ["-f", "-"], lines.map((line) => `${line}\n`).join(""));
}

/** Removes the rules of version 0.1, which used iptables: they would drop packets of later leases. */
async function removeOlder({ chain, bridgePrefix }: Naming): Promise<void> {
  const jump = ["-D", "PREROUTING", "-i", `${bridgePrefix}+`, "-j", chain];
  const steps = [jump, ...[chain, `${chain}-N`].flatMap((name) => ["-F", "-X"].map((action) => [action, name]))];
  for (const tool of ["iptables", "ip6tables"]) {
    const remove = async () => {
      for (const step of steps) await run(tool, ["-w", "10", "-t", "mangle", ...step]);
    };
    // The first step fails where there are none, and the last one for IPv6, which has one chain.
    await remove().catch(() => {});
  }
}

/** Podman sometimes leaves the two isolation rules of a removed bridge in place; they would accumulate. */
async function removeEngineLeftovers(bridge: string): Promise<void> {
  const rules = [
    ["NETAVARK_ISOLATION_1", "-i", bridge, "!", "-o", bridge, "-j", "NETAVARK_ISOLATION_2"],
    ["NETAVARK_ISOLATION_2", "-o", bridge, "-j", "DROP"],
  ];
  // These are not rules that could be deleted, and other engines never leave any.
  for (const rule of rules) await run("iptables", ["-w", "10", "-D", ...rule]).catch(() => {});
}

/**
 * Networks on the host's own links: machines there often trust each other, even at public addresses. Leases' networks
 * are among the private ranges anyway.
 */
export function onLinkNetworks(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): string[] {
  const all = Object.values(interfaces).flatMap((each) => each ?? []);
  const links = all.filter(({ family, internal, cidr }) => family === "IPv4" && !internal && cidr !== null);
  return [...new Set(links.flatMap(({ cidr }) => cidr ?? []))].sort();
}

/**
 * Input of nft that makes the table, or fills it anew. `neighbours` are closed like the permanently closed ranges; `present` is the
 * kernel's table in the JSON of nft. A chain that counts connections of a lease already is not touched.
 */
export function rulesV4(
  { tenants, bridgePrefix }: Naming,
  networks: readonly LeaseNetwork[],
  { neighbours = [], present = NO_TABLE }: { neighbours?: readonly string[]; present?: string } = {},
): string[] {
  const table = `ip ${tenants}`;
  const rules = [
    "ct state established,related return",
    ...networks.map(({ bridge }) => `iifname "${bridge}" jump ${shareOf(bridge)}`),
    "meta l4proto { tcp, udp } th dport 53 fib daddr . iif type local return",
    "fib daddr type local drop",
    ...networks.map(({ bridge, subnet }) => `iifname "${bridge}" ip daddr ${subnet} return`),
    ...[...FORBIDDEN, ...neighbours].map((range) => `ip daddr ${range} drop`),
  ];
  return [
    ...base(table),
    `add chain ${table} ${JUDGE}`,
    `flush chain ${table} ${JUDGE}`,
    ...shareChanges(table, present, networks),
    `add rule ${table} ${HOOK} iifname "${bridgePrefix}*" jump ${JUDGE}`,
    ...rules.map((rule) => `add rule ${table} ${JUDGE} ${rule}`),
  ];
}

export function rulesV6({ tenants, bridgePrefix }: Naming): string[] {
  const table = `ip6 ${tenants}`;
  return [...base(table), `add rule ${table} ${HOOK} iifname "${bridgePrefix}*" drop`];
}

/** The table with an empty chain where the kernel hands over packets, after it has assigned them to connections. */
function base(table: string): string[] {
  return [
    `add table ${table}`,
    `add chain ${table} ${HOOK} { type filter hook prerouting priority -150; policy accept; }`,
    `flush chain ${table} ${HOOK}`,
  ];
}

/** The chain that counts the connections of a lease. */
function shareOf(bridge: string): string {
  return `n-${bridge}`;
}

/**
 * Changes of the chains that count connections. A new rule counts from zero, so existing rules stay: otherwise each lease
 * that comes or goes, and each refresh, would give every tenant its whole share again.
 */
function shareChanges(table: string, present: string, networks: readonly LeaseNetwork[]) {
  const { nftables }: { nftables: { chain?: { name: string }; rule?: { chain: string } }[] } = JSON.parse(present);
  const chains = nftables.flatMap(({ chain }) => chain?.name ?? []).filter((name) => name.startsWith("n-"));
  const counting = new Set(nftables.flatMap(({ rule }) => rule?.chain ?? []));
  const wanted = networks.map(({ bridge }) => shareOf(bridge));
  const fresh = wanted.filter((name) => !counting.has(name));
  const gone = chains.filter((name) => !wanted.includes(name));
  return [
    ...gone.flatMap((name) => [`flush chain ${table} ${name}`, `delete chain ${table} ${name}`]),
    ...fresh.flatMap((name) => [`add chain ${table} ${name}`, `flush chain ${table} ${name}`]),
    ...fresh.map((name) => `add rule ${table} ${name} ct count over ${CONNECTIONS} drop`),
  ];
}

function hasIpv6(): boolean {
  return existsSync("/proc/net/if_inet6");
}
