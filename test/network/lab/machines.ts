import { execFile, spawn } from "node:child_process";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import type { Fixture } from "../../support/index.ts";

/** Machines on one switch: network namespaces with a cable to a bridge in the namespace of this process. */

const run = promisify(execFile);
const SWITCH = "svclab";
/** Addresses of the machines count from 1. */
const NETWORK = { v4: "10.99.0", v6: "fd99:" } as const;
const OWN = 254;

/**
 * As the operator's guide advises: after a time without an answer, Linux tries again within this time, not within two
 * minutes. It has the setting since 6.15.
 */
const RESEND = "test ! -e /proc/sys/net/ipv4/tcp_rto_max_ms || echo 3000 > /proc/sys/net/ipv4/tcp_rto_max_ms";

/** Packets from deaf addresses and to mute ones are dropped. */
const FIREWALL = `table inet faults {
  set deaf { type ipv4_addr; }
  set mute { type ipv4_addr; }
  chain in { type filter hook input priority 0; ip saddr @deaf drop; }
  chain out { type filter hook output priority 0; ip daddr @mute drop; }
}`;

export const addressOf = (number: number): string => `${NETWORK.v4}.${number}`;
export const address6Of = (number: number): string => `${NETWORK.v6}:${number.toString(16)}`;

/** Where relays of this process listen. */
export const OWN_ADDRESS = addressOf(OWN);

/** Makes the switch. The namespace of this process is its own, so that nothing reaches the machine's network. */
export async function openSwitch(fixture: Fixture): Promise<void> {
  if (Object.keys(networkInterfaces()).some((name) => name !== "lo"))
    throw new Error("machines need a network namespace of their own: npm run lab -- network, as root");
  fixture.defer(() => run("ip", ["link", "delete", SWITCH]));
  for (const words of [
    ["link", "set", "lo", "up"],
    ["link", "add", SWITCH, "type", "bridge"],
    ["addr", "add", `${OWN_ADDRESS}/24`, "dev", SWITCH],
    ["addr", "add", `${address6Of(OWN)}/64`, "dev", SWITCH, "nodad"],
    ["link", "set", SWITCH, "up"],
  ])
    await run("ip", words);
}

/** A machine on the switch. Its processes are started with `prefix`. */
export class Machine {
  readonly number: number;
  readonly prefix: readonly string[];

  private constructor(number: number, pid: number) {
    this.number = number;
    // Linux shares processors between sessions first: each machine has as much as the others.
    this.prefix = ["nsenter", `--net=/proc/${pid}/ns/net`, "--", "setsid"];
  }

  static async open(fixture: Fixture, number: number): Promise<Machine> {
    const script = "ip link set lo up && echo ready && exec cat";
    const holder = spawn("unshare", ["--net", "sh", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    const isReady = new Promise<boolean>((resolve) => {
      holder.stdout.once("data", () => resolve(true));
      holder.once("close", () => resolve(false));
    });
    // The namespace goes with its holder and the last process inside.
    fixture.defer(() => holder.stdin.end());
    if (!(await isReady) || holder.pid === undefined) throw new Error("no network namespace: unshare --net failed");
    const cable = `cable${number}`;
    await run("ip", ["link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid)]);
    await run("ip", ["link", "set", cable, "master", SWITCH, "up"]);
    const machine = new Machine(number, holder.pid);
    await machine.run("ip", ["addr", "add", `${machine.address}/24`, "dev", "eth0"]);
    await machine.run("ip", ["addr", "add", `${address6Of(number)}/64`, "dev", "eth0", "nodad"]);
    await machine.run("ip", ["link", "set", "eth0", "up"]);
    await machine.run("nft", [FIREWALL]);
    await machine.run("sh", ["-c", RESEND]);
    return machine;
  }

  get address(): string {
    return addressOf(this.number);
  }

  async run(program: string, args: readonly string[]): Promise<string> {
    const [command = "", ...flags] = [...this.prefix, program, ...args];
    return (await run(command, flags, { timeout: 60_000, killSignal: "SIGKILL" })).stdout;
  }

  /** Loses all packets between this machine and others. */
  async cut(others: readonly Machine[]): Promise<void> {
    await this.deafen(others);
    await this.#drop("mute", others);
  }

  /** Loses all packets that others send to this machine. */
  deafen(others: readonly Machine[]): Promise<void> {
    return this.#drop("deaf", others);
  }

  /** Loses no more packets. */
  async heal(): Promise<void> {
    for (const set of ["deaf", "mute"]) await this.run("nft", ["flush", "set", "inet", "faults", set]);
  }

  /** Sends at most as many bits a second; undefined = at full speed. */
  async limit(kilobits: number | undefined): Promise<void> {
    const now = await this.run("tc", ["qdisc", "show", "dev", "eth0"]);
    if (now.includes("tbf")) await this.run("tc", ["qdisc", "delete", "dev", "eth0", "root"]);
    if (kilobits === undefined) return;
    const rate = ["rate", `${kilobits}kbit`, "burst", "16kb", "latency", "400ms"];
    await this.run("tc", ["qdisc", "add", "dev", "eth0", "root", "tbf", ...rate]);
  }

  async #drop(set: string, others: readonly Machine[]): Promise<void> {
    const addresses = others.map(({ address }) => address).join(", ");
    await this.run("nft", ["add", "element", "inet", "faults", set, `{ ${addresses} }`]);
  }
}
