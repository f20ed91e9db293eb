import { isIPv4 } from "node:net";
import { errorText, type Logger, Mutex } from "../../../../util/index.ts";
import type { PortLimits } from "../../shared/index.ts";
import { CommandError, run } from "../host/command.ts";
import { chainName, chainsOf, type KernelPort, PortRules, portChain, portKey, withReplicas } from "./rules.ts";

export interface KernelPortOptions {
  /** Common to all names of this provider. */
  readonly prefix: string;
  /** Prefix of the bridges of its leases. */
  readonly bridgePrefix: string;
  /** The kernel's share of each limit. */
  readonly limits: PortLimits;
  readonly log: Logger;
  /** Runs a tool of the host. */
  readonly tool?: typeof run;
}

/**
 * Node ports as address translations of the kernel, in an nft table of the provider's own. The rules outlive the daemon; each
 * change of a lease is one atomic step.
 */
export class KernelPorts {
  readonly #rules: PortRules;
  readonly #options: KernelPortOptions;
  readonly #tool: typeof run;
  readonly #mutex = new Mutex();
  /** Wanted ports of this daemon's leases. */
  readonly #wanted = new Map<string, readonly KernelPort[]>();
  /** Leases whose last step failed. */
  readonly #failed = new Set<string>();

  constructor(options: KernelPortOptions) {
    this.#options = options;
    this.#tool = options.tool ?? run;
    this.#rules = new PortRules(options.prefix, options.bridgePrefix, options.limits);
  }

  /** Why this host cannot have such rules, or undefined. Tried by making the table, which keeps ports that it has. */
  unavailable(): Promise<string | undefined> {
    return this.#mutex.run(async () => {
      try {
        await this.#tool("conntrack", ["--version"]);
        await this.#chains();
        await this.#openForward();
        return undefined;
      } catch (error) {
        return errorText(error);
      }
    });
  }

  /** The lease has exactly these ports in the kernel. `refresh` repeats a step that failed. */
  set(lease: string, ports: readonly KernelPort[]): Promise<void> {
    const before = this.#wanted.get(lease) ?? [];
    this.#wanted.set(lease, ports);
    return this.#mutex.run(() => this.#set(lease, before));
  }

  /** Restores flushed rules, and sets failed ones. */
  refresh(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#wanted.size === 0) return;
      await this.#openForward();
      const chains = new Set(await this.#chains());
      for (const [lease, ports] of this.#wanted) {
        const isMissing = withReplicas(ports).some((port) => !chains.has(chainName({ lease, ...port })));
        if (isMissing || this.#failed.has(lease)) await this.#set(lease);
      }
    });
  }

  /** Takes every rule of this provider away, and ends the connections that came by them. */
  clear(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#wanted.clear();
      this.#failed.clear();
      const chains = (await this.#list().catch(() => undefined)) ?? [];
      await this.#removeRules();
      for (const chain of chains.flatMap((name) => portChain(name) ?? [])) await this.#cut(chain);
    });
  }

  /** Removes what a daemon with other settings left; its connections continue. */
  release(): Promise<void> {
    return this.#mutex.run(async () => {
      const chains = await this.#list().catch(() => undefined);
      if (chains !== undefined) await this.#removeRules();
    });
  }

  /** Each step fails where there is nothing left to remove. */
  async #removeRules(): Promise<void> {
    await this.#tool("nft", ["delete", "table", "ip", this.#rules.table]).catch(() => {});
    await this.#tool("iptables", this.#forward("-D")).catch(() => {});
  }

  async #set(lease: string, before: readonly KernelPort[] = []): Promise<void> {
    const ports = this.#wanted.get(lease) ?? [];
    this.#failed.add(lease);
    const known = await this.#chains();
    const text = this.#rules.lease(lease, ports, known);
    if (text !== "") await this.#tool("nft", ["-f", "-"], text);
    this.#failed.delete(lease);
    if (ports.length === 0) this.#wanted.delete(lease);
    const kept = new Set(ports.map(portKey));
    const chains = known.flatMap((name) => portChain(name) ?? []).filter((chain) => chain.lease === lease);
    const gone = new Map([...before, ...chains].map((port) => [portKey(port), port] as const));
    for (const [key, port] of gone) if (!kept.has(key)) await this.#cut(port);
    for (const port of ports) if (port.proto === "udp") await this.#cutStrays(port);
  }

  /** Chains of the table, which is made where it is missing. */
  async #chains(): Promise<readonly string[]> {
    const chains = await this.#list();
    if (chains !== undefined) return chains;
    await this.#tool("nft", ["-f", "-"], this.#rules.base());
    return [];
  }

  async #list(): Promise<string[] | undefined> {
    return chainsOf(this.#rules.table, await this.#tool("nft", ["-j", "list", "chains", "ip"]));
  }

  /** Other programs may forward nothing by default; packets for a node port pass, except from tenants. */
  async #openForward(): Promise<void> {
    await this.#tool("iptables", this.#forward("-C")).catch((error) => {
      if (!(error instanceof CommandError) || error.code !== 1) throw error;
      return this.#tool("iptables", this.#forward("-I"));
    });
  }

  #forward(action: string): string[] {
    const bridges = `${this.#options.bridgePrefix}+`;
    const state = ["-m", "conntrack", "--ctstate", "DNAT", "--ctdir", "ORIGINAL"];
    return ["-w", "10", action, "FORWARD", "!", "-i", bridges, "-o", bridges, ...state, "-j", "ACCEPT"];
  }

  /** Ends the connections of a port that no lease has any more; the kernel would go on with them. */
  async #cut({ proto, hostPort }: Pick<KernelPort, "proto" | "hostPort">): Promise<void> {
    await this.#conntrack("-D", ["-p", proto, "--orig-port-dst", `${hostPort}`, "--dst-nat"]);
  }

  /**
   * Clients of a replica that is no longer used get another one: a client of datagrams would never choose anew. TCP
   * connections end with their replica.
   */
  async #cutStrays({ proto, hostPort, replicas }: KernelPort): Promise<void> {
    const flows = ["-p", proto, "--orig-port-dst", `${hostPort}`];
    const table = await this.#conntrack("-L", [...flows, "--dst-nat"]);
    for (const address of replyAddresses(table)) {
      if (!replicas.includes(address)) await this.#conntrack("-D", [...flows, "--reply-src", address]);
    }
  }

  async #conntrack(action: "-D" | "-L", filter: readonly string[]): Promise<string> {
    try {
      return await this.#tool("conntrack", [action, "-f", "ipv4", ...filter]);
    } catch (error) {
      // The tool ends with 1 if it found nothing.
      if (!(error instanceof CommandError) || error.code !== 1) {
        this.#options.log.warn("connections of a node port were not ended", { err: errorText(error) });
      }
      return "";
    }
  }
}

/** Addresses that answer, from the lines of `conntrack -L`: the second `src` of each. */
export function replyAddresses(table: string): Set<string> {
  const found = table.split("\n").flatMap((line) => [...line.matchAll(/\bsrc=(\S+)/g)].slice(1, 2));
  return new Set(found.flatMap(([, address]) => (address !== undefined && isIPv4(address) ? [address] : [])));
}
