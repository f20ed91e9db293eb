import { existsSync } from "node:fs";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { errorText, Mutex } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { FORBIDDEN } from "../../shared/index.ts";
import { CommandError, run } from "./command.ts";

/** Open connections of a lease: the kernel has one table for all tenants and the host. */
const CONNECTIONS = 8_192;

/** The network of one lease. */
export interface LeaseNetwork {
  readonly bridge: string;
  readonly subnet: string;
}

/**
 * Keeps tenants off the host and its networks. One chain per provider hangs in `mangle PREROUTING`, in front of every
 * address translation, so a packet to any address of the host is dropped, even to a published port. It
 * catches the provider's bridges by their common name prefix: a bridge is closed from the moment it exists, and the
 * lease's own line only opens its own subnet. IPv6 is dropped altogether, lease networks have none.
 */
export class Firewall {
  readonly #chain: string;
  readonly #bridges: string;
  readonly #mutex = new Mutex();
  readonly #networks = new Map<string, LeaseNetwork>();

  /** `bridgePrefix` is shared by all bridges of this provider and by no others. */
  constructor(chain: string, bridgePrefix: string) {
    this.#chain = chain;
    this.#bridges = `${bridgePrefix}+`;
  }

  /** Opens a lease's own subnet to it; everything else stays closed. Rejects where rules cannot be set. */
  allow(namespace: string, network: LeaseNetwork): Promise<void> {
    const known = this.#networks.get(namespace);
    if (known?.subnet === network.subnet && known.bridge === network.bridge) return Promise.resolve();
    return this.#mutex.run(async () => {
      await this.#install([...this.#networks.values(), network]);
      this.#networks.set(namespace, network);
    });
  }

  /** Takes over the networks that exist when the daemon starts, all in one step. */
  restore(networks: readonly (LeaseNetwork & { readonly namespace: string })[]): Promise<void> {
    return this.#mutex.run(async () => {
      for (const { namespace, bridge, subnet } of networks) this.#networks.set(namespace, { bridge, subnet });
      if (this.#networks.size > 0) await this.#install([...this.#networks.values()]);
    });
  }

  /** Takes a lease's line away, after its network is gone; with the last one everything goes. */
  forget(namespace: string): Promise<void> {
    return this.#mutex.run(async () => {
      const network = this.#networks.get(namespace);
      if (network === undefined) return;
      this.#networks.delete(namespace);
      await removeEngineLeftovers(network.bridge);
      if (this.#networks.size > 0) await this.#install([...this.#networks.values()]);
      else await this.#uninstall();
    });
  }

  /** Restores flushed rules. */
  refresh(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#networks.size > 0) await this.#install([...this.#networks.values()]);
    });
  }

  /** Checks that rules can be set by setting them; called before a deployment is accepted. */
  async probe(): Promise<void> {
    await this.#mutex.run(() => this.#install([...this.#networks.values()]));
  }

  /** Removes every rule of this provider. */
  async clear(): Promise<void> {
    await this.#mutex.run(async () => {
      this.#networks.clear();
      await this.#uninstall();
    });
  }

  async #install(networks: readonly LeaseNetwork[]): Promise<void> {
    try {
      const neighbours = onLinkNetworks(networkInterfaces());
      const shares = shareRules(this.#chain, await this.#shares(), networks);
      await this.#apply("iptables", rulesV4(this.#chain, networks, { neighbours, shares }));
      if (hasIpv6()) await this.#apply("ip6tables", rulesV6(this.#chain));
    } catch (error) {
      throw clusterErrors.firewall(errorText(error), { cause: error });
    }
  }

  /** One atomic restore fills the chain; the jump into it is added only where it is missing. */
  async #apply(tool: string, rules: string): Promise<void> {
    await run(`${tool}-restore`, ["-w", "10", "--noflush"], rules);
    const present = await run(tool, this.#jump("-C")).then(
      () => true,
      (error) => {
        if (error instanceof CommandError && error.code === 1) return false;
        throw error;
      },
    );
    if (!present) await run(tool, this.#jump("-I"));
  }

  /** The rules of shares that the kernel has; `undefined` without their chain. */
  #shares(): Promise<string | undefined> {
    return run("iptables", this.#table("-S", sharesOf(this.#chain))).catch((error) => {
      if (error instanceof CommandError && error.code === 1) return undefined;
      throw error;
    });
  }

  async #uninstall(): Promise<void> {
    const shares = sharesOf(this.#chain);
    const steps = [
      this.#jump("-D"),
      ...["-F", "-X"].map((action) => this.#table(action, this.#chain)),
      ...["-F", "-X"].map((action) => this.#table(action, shares)),
    ];
    for (const tool of hasIpv6() ? ["iptables", "ip6tables"] : ["iptables"]) {
      // Each step fails where there is nothing left to remove.
      for (const args of steps) await run(tool, args).catch(() => {});
    }
  }

  #jump(action: string): string[] {
    return ["-w", "10", "-t", "mangle", action, "PREROUTING", "-i", this.#bridges, "-j", this.#chain];
  }

  #table(action: string, chain: string): string[] {
    return ["-w", "10", "-t", "mangle", action, chain];
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

/** Additional rules: ranges closed like the permanently closed ones, and rules of the leases' shares. */
interface RulesBeside {
  readonly neighbours?: readonly string[];
  readonly shares?: readonly string[];
}

export function rulesV4(chain: string, networks: readonly LeaseNetwork[], beside: RulesBeside = {}): string {
  const { neighbours = [], shares = [] } = beside;
  const rules = [
    "-m conntrack --ctstate RELATED,ESTABLISHED -j RETURN",
    `-j ${sharesOf(chain)}`,
    "-p udp --dport 53 -m addrtype --dst-type LOCAL --limit-iface-in -j RETURN",
    "-p tcp --dport 53 -m addrtype --dst-type LOCAL --limit-iface-in -j RETURN",
    "-m addrtype --dst-type LOCAL -j DROP",
    ...networks.map((network) => `-i ${network.bridge} -d ${network.subnet} -j RETURN`),
    ...[...FORBIDDEN, ...neighbours].map((range) => `-d ${range} -j DROP`),
  ];
  return restoreText(chain, rules, shares);
}

/** The chain of the rules that count the connections of each lease. */
function sharesOf(chain: string): string {
  return `${chain}-N`;
}

/**
 * Input that updates the rules counting these networks' connections, from `present`, the kernel's own list. A new rule
 * counts from zero, so existing rules stay: otherwise each lease that comes or goes, and each refresh, would give every
 * tenant its whole share again.
 */
export function shareRules(chain: string, present: string | undefined, networks: readonly LeaseNetwork[]): string[] {
  const shares = sharesOf(chain);
  const rule = (bridge: string) =>
    `-i ${bridge} -m connlimit --connlimit-above ${CONNECTIONS} --connlimit-mask 0 -j DROP`;
  const known = new Set([...(present ?? "").matchAll(/ -i (\S+) /g)].map(([, bridge = ""]) => bridge));
  const wanted = new Set(networks.map(({ bridge }) => bridge));
  return [
    ...(present === undefined ? [`:${shares} - [0:0]`] : []),
    ...[...known].filter((bridge) => !wanted.has(bridge)).map((bridge) => `-D ${shares} ${rule(bridge)}`),
    ...[...wanted].filter((bridge) => !known.has(bridge)).map((bridge) => `-A ${shares} ${rule(bridge)}`),
  ];
}

export function rulesV6(chain: string): string {
  return restoreText(chain, ["-j DROP"]);
}

/** Naming the chain empties it; the commit then swaps old and new rules at once. Chains that are not named stay. */
function restoreText(chain: string, rules: readonly string[], beside: readonly string[] = []): string {
  const named = beside.filter((line) => line.startsWith(":"));
  const other = beside.filter((line) => !line.startsWith(":"));
  const own = rules.map((rule) => `-A ${chain} ${rule}`);
  return ["*mangle", `:${chain} - [0:0]`, ...named, ...own, ...other, "COMMIT", ""].join("\n");
}

function hasIpv6(): boolean {
  return existsSync("/proc/net/if_inet6");
}
