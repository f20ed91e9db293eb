import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Fixture } from "./fixture.ts";
import { waitFor } from "./wait.ts";

const run = promisify(execFile);
const GROUPS = "/sys/fs/cgroup";
/** Its two addresses are 10.213.N.1 here and 10.213.N.2 inside, which routes to 10.214.N.0/24 and 10.215.N.0/24. */
const NETWORKS = 256;

/** Settings of the whole machine that an agent of a node sets for itself; inside, they are files. */
const SETTINGS = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "kernel/keys/root_maxbytes",
];

/**
 * The first process: it ends when its input is closed, and with it every other process inside, by the kernel. As a
 * waiting shell it also reaps orphaned processes.
 */
const FIRST = [
  "set -e",
  "mount -t tmpfs tmpfs /run",
  "mount -t tmpfs tmpfs /var/log",
  ...SETTINGS.map(
    (name, index) => `cat /proc/sys/${name} > /run/${index}; mount --bind /run/${index} /proc/sys/${name}`,
  ),
  "echo 1 > /proc/sys/net/ipv4/ip_forward",
  "ip link set lo up",
  "exec 3<&0",
  "echo ready",
  "cat <&3 > /dev/null & wait $!",
].join("\n");

/**
 * Processes, mounts, interfaces and firewall of their own, as on another machine, with a cable to this one. When the test
 * ends, and also when it is killed, the kernel removes all of it; only control groups remain, which bear the name of the
 * fixture's folder and go with it.
 */
export class MachineRoom {
  readonly #first: number;
  readonly #network: number;
  /** Group of the processes that its programs put into groups, below each hierarchy. */
  readonly group: string;

  private constructor(first: number, network: number, group: string) {
    this.#first = first;
    this.#network = network;
    this.group = group;
  }

  static async open(fixture: Fixture): Promise<MachineRoom> {
    const group = basename(fixture.folder);
    fixture.defer(() => waitFor(() => removeGroups(group), "the control groups to be empty"));
    const shell = spawn(
      "unshare",
      ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", FIRST],
      { stdio: ["pipe", "pipe", "pipe"] },
    );
    fixture.defer(() => ended(shell));
    const said: string[] = [];
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => said.push(text));
    }
    shell.once("error", (error) => said.push(error.message));
    await waitFor(() => said.length > 0, "the first process to be ready");
    if (said[0] !== "ready\n") throw new Error(`there is no room for a node: ${said.join("")}`);
    const [first] = childrenOf(shell.pid ?? 0);
    if (first === undefined) throw new Error("the first process of the room has ended");
    makeGroups(group);
    const room = new MachineRoom(first, await connect(first), group);
    await room.run("ip", ["addr", "add", `${room.address}/30`, "dev", "node"]);
    await room.run("ip", ["link", "set", "node", "up"]);
    // Gone with the cable.
    for (const network of [room.behind, room.spare]) await run("ip", ["route", "add", network, "via", room.address]);
    return room;
  }

  /** The address under which this machine reaches what listens inside. */
  get address(): string {
    return `10.213.${this.#network}.2`;
  }

  /** More addresses, for machines inside; this one routes to them. */
  get behind(): string {
    return `10.214.${this.#network}.0/24`;
  }

  /** The same again, for addresses that no machine has. */
  get spare(): string {
    return `10.215.${this.#network}.0/24`;
  }

  /** The address under which its processes reach this machine. */
  get outside(): string {
    return `10.213.${this.#network}.1`;
  }

  /** Prefix of a command that runs inside. */
  get prefix(): readonly string[] {
    return ["nsenter", `--target=${this.#first}`, "--net", "--mount", "--pid", "--"];
  }

  /** Runs a program inside to its end. */
  async run(program: string, args: readonly string[]): Promise<string> {
    const [command = "", ...flags] = [...this.prefix, program, ...args];
    const { stdout } = await run(command, flags, { timeout: 60_000, killSignal: "SIGKILL" });
    return stdout;
  }
}

/** Removes the groups of that name; false while one has a process. */
export function removeGroups(name: string): boolean {
  return hierarchies().every((hierarchy) => removeGroup(join(hierarchy, name)));
}

function removeGroup(path: string): boolean {
  let below: string[];
  try {
    below = readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return true;
  }
  if (!below.every((name) => removeGroup(join(path, name)))) return false;
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The kernel's single hierarchy, or else one per controller. */
function hierarchies(): string[] {
  let names: string[];
  try {
    names = readdirSync(GROUPS);
  } catch {
    return [];
  }
  if (names.includes("cgroup.procs")) return [GROUPS];
  return names.map((name) => join(GROUPS, name)).filter((path) => existsSync(join(path, "cgroup.procs")));
}

/** A new group has no processors and memory to run on where the kernel keeps several hierarchies. */
function makeGroups(name: string): void {
  for (const hierarchy of hierarchies()) {
    mkdirSync(join(hierarchy, name), { recursive: true });
    if (basename(hierarchy) !== "cpuset") continue;
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      writeFileSync(join(hierarchy, name, file), readFileSync(join(hierarchy, file)));
    }
  }
}

/** Connects a cable to the namespaces of that process. The name of its end here tells other tests that the network is taken. */
async function connect(first: number): Promise<number> {
  let failure: unknown;
  const from = first % NETWORKS;
  for (let attempt = 0; attempt < NETWORKS; attempt++) {
    const network = (from + attempt) % NETWORKS;
    const name = `svcroom${network}`;
    try {
      await run("ip", ["link", "add", name, "type", "veth", "peer", "name", "node", "netns", String(first)]);
    } catch (error) {
      failure = error;
      continue;
    }
    await run("ip", ["addr", "add", `10.213.${network}.1/30`, "dev", name]);
    await run("ip", ["link", "set", name, "up"]);
    return network;
  }
  throw failure;
}

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function ended(shell: ChildProcess): Promise<void> {
  if (shell.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
  const over = new Promise((resolve) => shell.once("exit", resolve));
  shell.stdin?.end();
  await over;
}
