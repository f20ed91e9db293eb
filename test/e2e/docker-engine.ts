import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, openSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Firewall } from "../../src/provider/cluster/docker/host/firewall.ts";
import {
  type DockerDriver,
  type DockerOptions,
  discoverEngine,
  ensureSampleImage,
  openDockerDriver,
} from "../../src/provider/cluster/docker/index.ts";
import { Naming } from "../../src/provider/cluster/docker/labels.ts";
import { defaultPrefix } from "../../src/provider/cluster/docker/options.ts";
import { ENGINES, killProcessesOn, ownedFolder, processesOn, removeFolder } from "../support/abandoned.ts";
import { execFileSync } from "../support/bounded.ts";
import { ROOT } from "../support/index.ts";
import { ownRange } from "../support/subnets.ts";
import { ended } from "./engine.ts";
import { programArchive } from "./program-archive.ts";

/** Where `npm test` unpacks Debian's packages: installed, they would start a daemon and change the machine's firewall. */
const UNPACKED = join(ROOT, ".cache", "docker");
const PATHS = [`${UNPACKED}/usr/bin`, `${UNPACKED}/usr/sbin`, process.env.PATH ?? "", "/usr/sbin", "/sbin"].join(":");

/** The one provider on such an engine. */
const PROVIDER = "provider";

/** A Docker daemon of the test's own, with containerd and storage in a temporary folder. It leaves the firewall alone. */
export class DockerEngine {
  readonly folder = ownedFolder(ENGINES.docker);
  readonly socket = join(this.folder, "docker.sock");
  readonly #drivers: DockerDriver[] = [];
  #daemon: ChildProcess | undefined;
  image = "";

  /** Why there can be none on this machine, or undefined. */
  static missing(): string | undefined {
    if (process.getuid?.() !== 0) return "not root, so network rules cannot be set";
    const lacking = ["dockerd", "containerd", "docker", "docker-init", "runc"].filter((program) => !isThere(program));
    return lacking.length === 0 ? undefined : `${lacking.join(", ")} not found; on Debian \`npm test\` unpacks them`;
  }

  static async start(): Promise<DockerEngine> {
    const engine = new DockerEngine();
    await engine.#startDaemon();
    engine.image = await ensureSampleImage(engine.socket);
    return engine;
  }

  async #startDaemon(): Promise<void> {
    const folder = (name: string) => join(this.folder, name);
    const log = openSync(folder("dockerd.log"), "a");
    const args = [
      ...["--data-root", folder("data"), "--exec-root", folder("run"), "--pidfile", folder("dockerd.pid")],
      ...["--host", `unix://${this.socket}`, "--exec-opt", "native.cgroupdriver=cgroupfs"],
      ...["--bridge", "none", "--iptables=false", "--ip6tables=false"],
      ...["--default-address-pool", `base=${ownRange()},size=24`],
    ];
    this.#daemon = spawn("dockerd", args, { env: { ...process.env, PATH: PATHS }, stdio: ["ignore", log, log] });
    for (let attempt = 0; ; attempt++) {
      const found = await discoverEngine(this.socket).catch((error) => error as Error);
      if (!(found instanceof Error)) return;
      if (attempt === 1_200 || this.#daemon.exitCode !== null) throw found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Runs Docker's own command on it. */
  docker(...args: readonly string[]): string {
    return this.#docker(args);
  }

  #docker(args: readonly string[], input?: Buffer): string {
    const env = { ...process.env, PATH: PATHS };
    return execFileSync("docker", ["--host", `unix://${this.socket}`, ...args], { encoding: "utf8", env, input });
  }

  /** The sample image with a program of this machine and its libraries in it. */
  async sampleWith(path: string): Promise<string> {
    const name = `localhost/svc-sample-${basename(path)}:latest`;
    const archive = await programArchive(path, this.folder);
    const made = this.docker("create", this.image).trim();
    this.#docker(["cp", "-", `${made}:/`], readFileSync(archive));
    this.docker("commit", made, name);
    this.docker("rm", made);
    rmSync(archive);
    return name;
  }

  /** A driver on it; each is the same provider. */
  async driver(overrides: Partial<DockerOptions> = {}): Promise<DockerDriver> {
    const driver = await openDockerDriver({
      socket: this.socket,
      stateDir: join(this.folder, PROVIDER),
      allowLocalImages: true,
      nodePortAddress: "127.0.0.1",
      ...overrides,
    });
    this.#drivers.push(driver);
    return driver;
  }

  async destroy(): Promise<void> {
    for (const driver of this.#drivers) await driver.close();
    const last = await this.driver();
    await last.purge();
    await last.close();
    if (this.#daemon !== undefined) await ended(this.#daemon, "SIGTERM");
    await removeDocker(this.folder);
  }
}

/** Removes the engine's remains, also after a killed test. */
export async function removeDocker(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 50 && processesOn(folder).length > 0; attempt++) {
    killProcessesOn(folder);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const naming = new Naming(defaultPrefix(join(folder, PROVIDER)));
  const links = execFileSync("ip", ["-o", "link", "show", "type", "bridge"], { encoding: "utf8" });
  const bridges = [...links.matchAll(/^\d+: ([^:@]+)/gm)].map(([, name = ""]) => name);
  for (const name of bridges.filter((each) => each.startsWith(naming.bridgePrefix))) {
    execFileSync("ip", ["link", "del", name]);
  }
  await new Firewall(naming).clear();
  removeFolder(folder);
}

function isThere(program: string): boolean {
  return PATHS.split(":").some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
