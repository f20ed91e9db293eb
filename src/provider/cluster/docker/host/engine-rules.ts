import { createHash } from "node:crypto";
import { errorText, type Logger, Mutex } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import { run } from "./command.ts";

/** Length of the hash of a network's name in the names of its chains. */
const HASH_LENGTH = 13;
const JUMP =
  /^-A NETAVARK-HOSTPORT-DNAT -p (tcp|udp) .*--dport (\d+) .*--comment "dnat name: (\S+) id: ([0-9a-f]+)" -j (NETAVARK-DN-[0-9A-F]+)$/;
const CHAIN_RULE = /^-A (NETAVARK-DN-[0-9A-F]+) (?:.* )?-p (tcp|udp) -m (?:tcp|udp) --dport (\d+) /;

/** A host port that Podman's network program leads to a container. */
export interface EnginePort {
  readonly proto: string;
  readonly hostPort: number;
  readonly network: string;
  /** Id of the container. */
  readonly container: string;
  /** Chain of its network with the rules themselves. */
  readonly chain: string;
}

/** A container that was started just now. */
export interface StartedContainer {
  readonly id: string;
  /** Its address on the network of its lease. */
  readonly address: string;
  /** Host ports by `80/tcp`. */
  readonly ports: ReadonlyMap<string, number>;
}

/**
 * Rules of Podman's network program that it sometimes leaves when a container is removed on a busy machine. The system
 * considers their port free, so the next listener there, or another tenant's container, would lose its connections to
 * the new owner of the old address.
 */
export class EngineRules {
  readonly #network: RegExp;
  readonly #log: Logger;
  readonly #tool: typeof run;
  readonly #mutex = new Mutex();

  /** `prefix` is the prefix of this provider's networks. */
  constructor(prefix: string, log: Logger, tool = run) {
    this.#network = new RegExp(`^${prefix}-[0-9a-z]{12}$`);
    this.#log = log;
    this.#tool = tool;
  }

  /** Removes ports of containers that no longer exist; the existing ones are read after the rules. */
  sweep(existing: () => Promise<ReadonlySet<string>>): Promise<void> {
    return this.#mutex.run(async () => {
      const text = await this.#list();
      const own = enginePorts(text).filter((port) => this.#isOwn(port));
      if (own.length === 0) return;
      const ids = await existing();
      await this.#remove(text, new Set(own.filter(({ container }) => !ids.has(container)))).catch(this.#warn);
    });
  }

  /**
   * Makes the ports of a container lead to it alone: removes an earlier container's rules. Rejects if another running
   * container has such a port, as after the death of the process that kept it.
   */
  claim(started: StartedContainer, isRunning: (container: string) => Promise<boolean>): Promise<void> {
    return this.#mutex.run(async () => {
      const text = await this.#list();
      const wanted = new Set([...started.ports].map(([key, port]) => `${key.split("/")[1]}/${port}`));
      const others = enginePorts(text).filter((port) => port.container !== started.id && wanted.has(keyOf(port)));
      for (const port of others) {
        if (this.#isOwn(port) && !(await isRunning(port.container))) continue;
        throw clusterErrors.refused(`port ${port.hostPort} of the host leads to another container`);
      }
      await this.#remove(text, new Set(others), straysOf(text, started));
    });
  }

  /** Removes the remaining rules of a deleted network. */
  forget(network: string): Promise<void> {
    return this.#mutex.run(async () => this.#apply(networkRemoval(await this.#list(), network)).catch(this.#warn));
  }

  async #remove(text: string, ports: ReadonlySet<EnginePort>, strays: readonly string[] = []): Promise<void> {
    for (const { hostPort, network, container } of ports) {
      this.#log.warn("the engine left a port of a container that is gone, which is removed", {
        port: hostPort,
        network,
        container: container.slice(0, 12),
      });
    }
    await this.#apply([...new Set([...portRemoval(text, [...ports]), ...strays])]);
  }

  #isOwn({ network }: EnginePort): boolean {
    return this.#network.test(network);
  }

  /** Empty where the engine has no such rules. */
  #list(): Promise<string> {
    return this.#tool("iptables", ["-w", "10", "-t", "nat", "-S"]).catch((error: unknown) => {
      this.#log.debug("rules of the engine could not be listed", { err: errorText(error) });
      return "";
    });
  }

  /** In one step. Rejects where the engine has changed the same rules meanwhile. */
  async #apply(changes: readonly string[]): Promise<void> {
    if (changes.length === 0) return;
    await this.#tool("iptables-restore", ["-w", "10", "--noflush"], ["*nat", ...changes, "COMMIT", ""].join("\n"));
  }

  /** The next sweep tries again. */
  readonly #warn = (error: unknown): void => {
    this.#log.warn("rules that the engine left could not be removed", { err: errorText(error) });
  };
}

/** Reads them from the output of `iptables -t nat -S`. */
export function enginePorts(text: string): EnginePort[] {
  return text.split("\n").flatMap((line) => portOf(line) ?? []);
}

function portOf(line: string): EnginePort | undefined {
  const [, proto, hostPort, network, container, chain] = JUMP.exec(line) ?? [];
  if (proto === undefined || network === undefined || container === undefined || chain === undefined) return undefined;
  return { proto, hostPort: Number(hostPort), network, container, chain };
}

function keyOf({ proto, hostPort }: Pick<EnginePort, "proto" | "hostPort">): string {
  return `${proto}/${hostPort}`;
}

/** Lines for `iptables-restore` that take these ports away, and the rules of their chains that no other container has. */
export function portRemoval(text: string, gone: readonly EnginePort[]): string[] {
  if (gone.length === 0) return [];
  const leaving = new Set(gone.map(entryOf));
  const kept = new Set(
    enginePorts(text)
      .filter((port) => !leaving.has(entryOf(port)))
      .map(ruleOf),
  );
  const rules = new Set(gone.map(ruleOf).filter((rule) => !kept.has(rule)));
  const wanted = (line: string) => {
    const port = portOf(line);
    return port === undefined ? rules.has(ruleIn(line)) : leaving.has(entryOf(port));
  };
  return deletions(text.split("\n").filter(wanted));
}

function entryOf(port: EnginePort): string {
  return `${port.container} ${keyOf(port)}`;
}

/** The common part of rules of a port's chain. */
function ruleOf(port: EnginePort): string {
  return `${port.chain} ${keyOf(port)}`;
}

/** The same of a rule in such a chain; empty for others. */
function ruleIn(line: string): string {
  const [, chain, proto, port] = CHAIN_RULE.exec(line) ?? [];
  return chain === undefined ? "" : `${chain} ${proto}/${port}`;
}

/** Rules that lead a port of the container to an address that it had before. */
function straysOf(text: string, { id, address, ports }: StartedContainer): string[] {
  const own = enginePorts(text).filter(({ container }) => container === id);
  const lines = [...ports].flatMap(([key, hostPort]) => {
    const [port = "", proto = ""] = key.split("/");
    const match = matchOf({ proto, hostPort });
    const isStray = (line: string) =>
      own.some(({ chain }) => line.startsWith(`-A ${chain} `)) &&
      line.includes(match) &&
      / -j DNAT /.test(line) &&
      !line.endsWith(` --to-destination ${address}:${port}`);
    return text.split("\n").filter(isStray);
  });
  return deletions(lines);
}

function matchOf({ proto, hostPort }: Pick<EnginePort, "proto" | "hostPort">): string {
  return ` -p ${proto} -m ${proto} --dport ${hostPort} `;
}

/** Lines for `iptables-restore` that remove the chains of a network with everything that leads to them. */
export function networkRemoval(text: string, network: string): string[] {
  const hash = createHash("sha512").update(network).digest("hex").slice(0, HASH_LENGTH).toUpperCase();
  const lines = text.split("\n");
  const chains = [`NETAVARK-${hash}`, `NETAVARK-DN-${hash}`].filter((chain) => lines.includes(`-N ${chain}`));
  const jumps = lines.filter((line) => chains.some((chain) => line.startsWith("-A ") && line.endsWith(` -j ${chain}`)));
  return [...deletions(jumps), ...chains.map((chain) => `-F ${chain}`), ...chains.map((chain) => `-X ${chain}`)];
}

function deletions(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^-A /, "-D "));
}
