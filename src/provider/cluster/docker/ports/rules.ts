import type { PortLimits } from "../../shared/index.ts";

/** A host port that the kernel carries to replicas. */
export interface KernelPort {
  readonly proto: "tcp" | "udp";
  readonly hostPort: number;
  /** IPv4 address of the host; undefined for all addresses. */
  readonly host: string | undefined;
  /** IPv4 addresses of replicas on the lease's network. */
  readonly replicas: readonly string[];
  /** Port that the replicas listen on. */
  readonly port: number;
}

/** A chain of a lease's port, as its name tells. */
export interface PortChain {
  readonly lease: string;
  readonly proto: "tcp" | "udp";
  readonly hostPort: number;
}

/** Rules that depend on these words differ between versions of the program: a table in another form is made again. */
const FORM = "form-1";

/**
 * New connections of a lease per second that the kernel takes. Together with the seconds that a handshake may last it bounds the
 * entries which a flood of forged addresses makes, and with them the work of counting.
 */
export const NEW_PER_SECOND = 1_000;
const HANDSHAKE_SECONDS = 10;
/** Timeouts of UDP clients: without an answer, and with one. */
const UDP_SECONDS = { unreplied: 30, replied: 60 };
/** Addresses that are counted at once. */
const COUNTED_ADDRESSES = 65_535;

/** Table of one provider, with the chains of its ports. */
export class PortRules {
  readonly table: string;
  readonly #bridges: string;
  readonly #limits: PortLimits;

  /** `bridgePrefix` is the prefix of the leases' bridges: packets of tenants are not redirected here. */
  constructor(prefix: string, bridgePrefix: string, limits: PortLimits) {
    this.table = `${prefix}-ports`;
    this.#bridges = bridgePrefix;
    this.#limits = limits;
  }

  /** Makes the table anew, without ports. */
  base(): string {
    const { table } = this;
    const seconds = Math.round(this.#limits.idleMs / 1_000);
    const tcp = `established: ${seconds}, syn_sent: ${HANDSHAKE_SECONDS}, syn_recv: ${HANDSHAKE_SECONDS}`;
    const udp = `unreplied: ${UDP_SECONDS.unreplied}, replied: ${UDP_SECONDS.replied}`;
    const find = "fib daddr type local ip daddr != 127.0.0.0/8 ip protocol . th dport vmap @ports";
    return lines(
      `add table ip ${table}`,
      `delete table ip ${table}`,
      `add table ip ${table}`,
      `add chain ip ${table} ${FORM}`,
      `add ct timeout ip ${table} idle-tcp { protocol tcp; l3proto ip; policy = { ${tcp} }; }`,
      `add ct timeout ip ${table} idle-udp { protocol udp; l3proto ip; policy = { ${udp} }; }`,
      `add map ip ${table} ports { type inet_proto . inet_service : verdict; }`,
      // Before the translations of engines, which have priority -100.
      `add chain ip ${table} prerouting { type nat hook prerouting priority -105; policy accept; }`,
      `add chain ip ${table} output { type nat hook output priority -105; policy accept; }`,
      `add rule ip ${table} prerouting iifname "${this.#bridges}*" return`,
      // A source address that does not belong to its link: the answer would go elsewhere.
      `add rule ip ${table} prerouting fib saddr . iif oif missing return`,
      `add rule ip ${table} prerouting ${find}`,
      `add rule ip ${table} output ${find}`,
    );
  }

  /**
   * Sets exactly these ports of the lease; `known` are all chains of the table. Ports without replicas are left to the
   * listening program, and their connections continue to count: a tenant decides when a replica is ready.
   */
  lease(lease: string, ports: readonly KernelPort[], known: readonly string[]): string {
    const carried = withReplicas(ports);
    const wanted = new Map(carried.map((port) => [chainName({ lease, ...port }), port]));
    const keys = new Set(carried.map(portKey));
    const chains = known.flatMap((name) => portChain(name) ?? []);
    // A port that belonged to another lease is taken from it.
    const gone = chains.filter((chain) =>
      chain.lease === lease ? !wanted.has(chainName(chain)) : keys.has(portKey(chain)),
    );
    const hasLimits = known.includes(`l-${lease}`);
    return lines(
      ...gone.flatMap((chain) => this.#removal(chain)),
      ...(carried.length > 0 && !hasLimits ? this.#limitChain(lease) : []),
      ...[...wanted].flatMap(([name, port]) => this.#portChain(lease, name, port)),
      ...(ports.length === 0 && hasLimits ? this.#limitRemoval(lease) : []),
    );
  }

  /**
   * Connections beyond a limit are left to the listening program: its system answers floods of forged addresses with
   * cookies, and it counts only real clients. Made once, since the counts go with the rules.
   */
  #limitChain(lease: string): string[] {
    const { connectionsPerAddress, connectionsPerLease } = this.#limits;
    const [chain, set] = [`ip ${this.table} l-${lease}`, `a-${lease}`];
    return [
      `add chain ${chain}`,
      `add set ip ${this.table} ${set} { type ipv4_addr; size ${COUNTED_ADDRESSES}; flags dynamic; }`,
      `add rule ${chain} limit rate over ${NEW_PER_SECOND}/second burst ${NEW_PER_SECOND} packets accept`,
      `add rule ${chain} add @${set} { ip saddr ct count over ${connectionsPerAddress} } accept`,
      `add rule ${chain} ct count over ${connectionsPerLease} accept`,
    ];
  }

  #limitRemoval(lease: string): string[] {
    const { table } = this;
    return [
      `flush chain ip ${table} l-${lease}`,
      `delete chain ip ${table} l-${lease}`,
      `delete set ip ${table} a-${lease}`,
    ];
  }

  #portChain(lease: string, name: string, { proto, hostPort, host, replicas, port }: KernelPort): string[] {
    const chain = `ip ${this.table} ${name}`;
    const [first = "", ...others] = replicas;
    const choice = replicas.map((address, index) => `${index} : ${address}`).join(", ");
    const target = others.length === 0 ? first : `numgen inc mod ${replicas.length} map { ${choice} }`;
    return [
      `add chain ${chain}`,
      `flush chain ${chain}`,
      ...(host === undefined ? [] : [`add rule ${chain} ip daddr != ${host} accept`]),
      `add rule ${chain} meta l4proto ${proto} ct timeout set "idle-${proto}"`,
      `add rule ${chain} jump l-${lease}`,
      `add rule ${chain} meta l4proto ${proto} dnat to ${target}:${port}`,
      `add element ip ${this.table} ports { ${proto} . ${hostPort} : goto ${name} }`,
    ];
  }

  #removal(chain: PortChain): string[] {
    const name = chainName(chain);
    return [
      `delete element ip ${this.table} ports { ${chain.proto} . ${chain.hostPort} }`,
      `flush chain ip ${this.table} ${name}`,
      `delete chain ip ${this.table} ${name}`,
    ];
  }
}

/**
 * Names of the chains of a table, read from the output of `nft -j list chains ip`; undefined if the table is missing or
 * in another form.
 */
export function chainsOf(table: string, json: string): string[] | undefined {
  const { nftables } = JSON.parse(json) as { nftables: { chain?: { table: string; name: string } }[] };
  const names = nftables.flatMap(({ chain }) => (chain?.table === table ? [chain.name] : []));
  return names.includes(FORM) ? names : undefined;
}

/** Undefined if the chain does not belong to a port. */
export function portChain(name: string): PortChain | undefined {
  const [, lease, proto, hostPort] = /^p-([0-9a-z]+)-(tcp|udp)-(\d+)$/.exec(name) ?? [];
  if (lease === undefined || (proto !== "tcp" && proto !== "udp")) return undefined;
  return { lease, proto, hostPort: Number(hostPort) };
}

export function portKey({ proto, hostPort }: Pick<PortChain, "proto" | "hostPort">): string {
  return `${proto}/${hostPort}`;
}

export function chainName({ lease, proto, hostPort }: PortChain): string {
  return `p-${lease}-${proto}-${hostPort}`;
}

export function withReplicas(ports: readonly KernelPort[]): readonly KernelPort[] {
  return ports.filter(({ replicas }) => replicas.length > 0);
}

function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}
