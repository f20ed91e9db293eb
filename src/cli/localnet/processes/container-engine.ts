import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLUSTER_KINDS, type Cluster, type FoundCluster } from "../../../provider/index.ts";
import { errorText, makePrivateDirectory, notedSettings, settingReader } from "../../../util/index.ts";
import { commandError } from "../../errors.ts";
import { recordProcess, serviceSocket } from "./left.ts";
import { type Child, supervise } from "./processes.ts";

/** A container engine, and the service process where this command started it. */
export interface ContainerEngine extends FoundCluster {
  readonly service?: Child;
}

export interface ContainerEngineRequest {
  /** A socket the user named; then nothing is installed or started. */
  readonly socket: string;
  /** Folder for the socket and log of a service that is started here. */
  readonly runDir: string;
  readonly say: (text: string) => void;
}

const PACKAGES = ["podman", "runc", "netavark", "aardvark-dns", "e2fsprogs", "catatonit", "ca-certificates"];
/** Programs for the sample image, and for the rules that keep tenants off the host, with their packages. */
const TOOLS = { busybox: "busybox-static", iptables: "iptables", nft: "nftables" };
const SYSTEM_CONF = "/etc/containers/containers.conf";
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 50;
/** Bytes of the longest path of a socket that the system takes. */
const MAX_SOCKET_PATH = 107;

/**
 * Settings under which Podman also works on constrained hosts: `crun` refuses hybrid control groups, and raising limits
 * needs a capability that such hosts lack. Written only where there is no configuration yet.
 */
const CONTAINERS_CONF = `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 2

[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
log_driver = "k8s-file"

[network]
network_backend = "netavark"
`;
const POLICY = '{"default":[{"type":"insecureAcceptAnything"}]}\n';

/** The container engine at a socket, or at the usual places if the socket is empty. */
export function engineAt(socket: string): Cluster {
  const [engine] = CLUSTER_KINDS;
  return engine.configure(settingReader(notedSettings({ "cluster-engine": socket })));
}

/** Finds a running engine, otherwise starts Podman, otherwise installs it if possible (Debian or Ubuntu, as root). */
export async function ensureContainerEngine(request: ContainerEngineRequest): Promise<ContainerEngine> {
  try {
    return await engineAt(request.socket).find();
  } catch (error) {
    if (request.socket !== "" || process.platform !== "linux") throw error;
  }
  if (!isInstalled("podman")) install(request.say);
  if (!isInstalled("podman")) throw missing();
  request.say("starting the container engine ...");
  return startPodman(request.runDir);
}

/** Installs programs that are missing beside the engine. */
export function ensureTools(say: (text: string) => void): void {
  const names = Object.entries(TOOLS).flatMap(([program, name]) => (isInstalled(program) ? [] : name));
  if (names.length === 0 || !canInstall()) return;
  say(`installing ${names.join(" and ")} ...`);
  aptInstall(...names);
}

function install(say: (text: string) => void): void {
  if (!canInstall()) throw missing();
  say("installing Podman from the distribution's packages (once; about a minute) ...");
  aptInstall(...PACKAGES, ...Object.values(TOOLS));
  writeMissing(SYSTEM_CONF, CONTAINERS_CONF);
  writeMissing("/etc/containers/policy.json", POLICY);
}

function canInstall(): boolean {
  return process.platform === "linux" && process.getuid?.() === 0 && isInstalled("apt-get");
}

function aptInstall(...names: readonly string[]): void {
  aptGet("update", "-qq");
  aptGet("install", "-y", "-qq", "--no-install-recommends", ...names);
}

function aptGet(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { status, stderr } = spawnSync("apt-get", args, { env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status === 0) return;
  const last = stderr.trim().split("\n").at(-1) ?? "";
  throw commandError(`apt-get ${args[0]} failed: ${last}`, { hint: "install the packages by hand and start again" });
}

function writeMissing(path: string, text: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function missing(): Error {
  const hint =
    process.platform === "linux"
      ? "on Debian or Ubuntu, as root: apt-get install podman runc netavark aardvark-dns iptables nftables busybox-static; run as root once and this command installs them itself"
      : "install and start Podman Desktop or Docker Desktop";
  return commandError("no container engine answers, and Podman is not installed", { hint });
}

/** Starts Podman's service on a socket in the folder. */
export async function startPodman(runDir: string): Promise<ContainerEngine> {
  const socket = serviceSocket(runDir);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH)
    throw commandError(`the path of a socket is too long: ${socket}`, { hint: "use a --home with a shorter path" });
  makePrivateDirectory(runDir);
  const log = join(runDir, "podman.log");
  // A service that was killed leaves its socket.
  rmSync(socket, { force: true });
  const child = spawn("podman", ["system", "service", "--time=0", `unix://${socket}`], podmanOptions(runDir));
  if (child.pid !== undefined) recordProcess(runDir, { name: "container engine", pid: child.pid });
  const service = supervise("podman", child, log);
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      return { ...(await engineAt(socket).find()), service };
    } catch (error) {
      if (service.exited !== undefined || Date.now() > deadline) {
        await service.stop();
        throw commandError(`Podman did not start: ${service.lastWords || lastLine(log) || errorText(error)}`, {
          hint: startHint(),
        });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The log goes with the run folder. */
function startHint(): string {
  return process.getuid?.() === 0
    ? "start it by hand to see more: podman system service --time=0"
    : "run svc localnet as root: the networks and volumes of its containers need that";
}

/**
 * A separate process group: Ctrl-C in the terminal reaches only this command, which then stops everything in order.
 * It works in the run folder, where its helpers leave their files.
 */
function podmanOptions(runDir: string) {
  const env = { ...process.env, CONTAINERS_CONF: writeServiceConf(runDir) };
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  return { stdio, detached: true, cwd: runDir, env };
}

/**
 * The user's or the machine's configuration with one change: the monitor of a command run inside a container ends two seconds after
 * the command, not five minutes after.
 */
function writeServiceConf(runDir: string): string {
  const { CONTAINERS_CONF: own = SYSTEM_CONF } = process.env;
  const text = existsSync(own) ? readFileSync(own, "utf8") : CONTAINERS_CONF;
  const path = join(runDir, "containers.conf");
  const delayed = /^\s*exit_command_delay/m.test(text);
  const changed = /^\[engine\]$/m.test(text)
    ? text.replace(/^\[engine\]$/m, "[engine]\nexit_command_delay = 2")
    : `${text}\n[engine]\nexit_command_delay = 2\n`;
  writeFileSync(path, delayed ? text : changed);
  return path;
}

function lastLine(path: string): string {
  return existsSync(path) ? (readFileSync(path, "utf8").trim().split("\n").at(-1) ?? "") : "";
}

function isInstalled(program: string): boolean {
  const folders = `${process.env.PATH ?? ""}:/usr/sbin:/sbin`.split(":");
  return folders.some((folder) => isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
