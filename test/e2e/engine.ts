import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import {
  type DockerDriver,
  type DockerOptions,
  discoverEngine,
  ensureSampleImage,
  openDockerDriver,
} from "../../src/provider/cluster/docker/index.ts";
import {
  commandLine,
  ENGINES,
  killProcessesOn,
  ownedFolder,
  processesOn,
  removeFolder,
  unmountBelow,
} from "../support/abandoned.ts";
import { removeDeadPorts } from "../support/dead-ports.ts";
import { ownRange } from "../support/subnets.ts";
import { programArchive } from "./program-archive.ts";

const run = promisify(execFile);

/** How Podman is run on the engine in that folder. */
export function podmanOn(folder: string): { readonly storage: readonly string[]; readonly env: NodeJS.ProcessEnv } {
  return {
    storage: ["--root", join(folder, "storage"), "--runroot", join(folder, "run")],
    env: { CONTAINERS_CONF: join(folder, CONFIG), TMPDIR: join(folder, TEMPORARY) },
  };
}

const CONFIG = "containers.conf";
const TEMPORARY = "temporary";
const PROGRAMS = "programs";
const LOG = "podman.log";
const MOST_SAID = 100_000;

export interface EngineOptions {
  /** Most processes of a user that the engine may allow; it cannot raise the limit. */
  readonly processes?: number;
  /** Makes a runtime for containers in the engine's folder and returns its path. */
  readonly runtime?: (folder: string) => string;
}

/** A container engine of the tests' own: Podman's service on storage in a temporary folder. */
export class TestEngine {
  readonly folder = ownedFolder(ENGINES.podman);
  readonly socket = join(this.folder, "podman.sock");
  readonly #env: NodeJS.ProcessEnv;
  readonly #processes: number | undefined;
  readonly #drivers: DockerDriver[] = [];
  #service: ChildProcess | undefined;
  image = "";

  private constructor(env: NodeJS.ProcessEnv, { processes, runtime }: EngineOptions) {
    this.#processes = processes;
    writeFileSync(join(this.folder, CONFIG), engineConfig(this.folder, runtime?.(this.folder)));
    mkdirSync(join(this.folder, TEMPORARY));
    const programs = join(this.folder, PROGRAMS);
    mkdirSync(programs);
    // Podman asks it for the packages of its programs whenever a provider starts, which takes longer than all the rest of the answer.
    symlinkSync("/bin/false", join(programs, "dpkg-query"));
    this.#env = { ...env, ...podmanOn(this.folder).env, PATH: `${programs}:${env.PATH}` };
  }

  /** Why there can be none on this machine, or undefined. */
  static async missing(): Promise<string | undefined> {
    if (process.getuid?.() !== 0) return "not root, so network rules cannot be set";
    return run("podman", ["--version"]).then(
      () => undefined,
      () => "podman is not installed",
    );
  }

  /** Starts it, with the sample image. `env` is added to the service's environment. */
  static async start(env: NodeJS.ProcessEnv = {}, options: EngineOptions = {}): Promise<TestEngine> {
    const engine = new TestEngine({ ...process.env, ...env }, options);
    await engine.startService();
    engine.image = await ensureSampleImage(engine.socket);
    return engine;
  }

  /** Remains in its folder of temporary files. */
  leftovers(): string[] {
    return readdirSync(join(this.folder, TEMPORARY));
  }

  async startService(): Promise<void> {
    const args = [...podmanOn(this.folder).storage, "system", "service", "--time=0", `unix://${this.socket}`];
    const log = openSync(join(this.folder, LOG), "a");
    // Monitors of containers leave a file where the service was started when memory runs out.
    const limited = ["setpriv", "--bounding-set", "-sys_resource", "prlimit", `--nproc=${this.#processes}`];
    const [program = "", ...words] = [...(this.#processes === undefined ? [] : limited), "podman", ...args];
    this.#service = spawn(program, words, { env: this.#env, cwd: this.folder, stdio: ["ignore", log, log] });
    closeSync(log);
    for (let attempt = 0; ; attempt++) {
      const found = await discoverEngine(this.socket).catch((error) => error as Error);
      if (!(found instanceof Error)) return;
      if (attempt === 1_200) throw found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends the service; containers continue. */
  async stopService(): Promise<void> {
    const service = this.#service;
    if (service === undefined) return;
    this.#service = undefined;
    await ended(service, "SIGKILL");
    rmSync(this.socket, { force: true });
  }

  /** Returns what each thread of the service was doing when it was ended; it runs again then, so that everything can be removed. */
  async stacks(): Promise<string> {
    const service = this.#service;
    if (service === undefined) return "the engine does not run";
    await ended(service, "SIGQUIT");
    const said = readFileSync(join(this.folder, LOG), "utf8").slice(-MOST_SAID);
    await this.startService();
    return said;
  }

  /** Suspends the service while the work runs. */
  async whilePaused(work: () => Promise<void>): Promise<void> {
    this.#service?.kill("SIGSTOP");
    try {
      await work();
    } finally {
      this.#service?.kill("SIGCONT");
    }
  }

  /** Runs podman on the same storage. */
  async podman(...args: string[]): Promise<string> {
    const options = { env: this.#env, cwd: this.folder, timeout: 120_000, killSignal: "SIGKILL" } as const;
    return (await run("podman", [...podmanOn(this.folder).storage, ...args], options)).stdout;
  }

  /** An image of one dynamically linked program of this machine with its libraries. */
  async programImage(path: string): Promise<string> {
    const name = `localhost/svc-program-${basename(path)}:latest`;
    const archive = await programArchive(path, this.folder);
    await this.podman("import", archive, name);
    rmSync(archive);
    return name;
  }

  /** The sample image with such a program in it. */
  async sampleWith(path: string): Promise<string> {
    const name = `localhost/svc-sample-${basename(path)}:latest`;
    const archive = await programArchive(path, this.folder);
    const made = (await this.podman("create", this.image)).trim();
    await run("tar", ["-xf", archive, "-C", (await this.podman("mount", made)).trim()]);
    await this.podman("umount", made);
    await this.podman("commit", "--quiet", made, name);
    await this.podman("rm", made);
    rmSync(archive);
    return name;
  }

  /** A driver on its own state folder name; the same name is the same provider. */
  async driver(name: string, overrides: Partial<DockerOptions> = {}): Promise<DockerDriver> {
    const driver = await openDockerDriver({
      socket: this.socket,
      stateDir: join(this.folder, name),
      allowLocalImages: true,
      nodePortAddress: "127.0.0.1",
      ...overrides,
    });
    this.#drivers.push(driver);
    return driver;
  }

  /** Removes what the named providers left, and the engine itself. */
  async destroy(...names: string[]): Promise<void> {
    for (const driver of this.#drivers) await driver.close();
    for (const name of names) {
      const driver = await this.driver(name);
      await driver.purge();
      await driver.close();
    }
    await this.podman("rm", "--all", "--force", "--time", "0").catch(warn);
    await this.stopService();
    await this.#untilNoProcess();
    await removeDeadPorts();
    // Podman keeps the storage mounted on itself.
    removeFolder(this.folder);
  }

  /** Kills the service and the monitors of all containers, as the end of a machine's session does. */
  async killEverything(): Promise<void> {
    await this.stopService();
    killProcessesOn(this.folder);
    await this.#untilNoProcess();
  }

  /** Leaves what a restart of the machine leaves: no process, no mount, no network of a container, no file of the run. */
  async restartHost(): Promise<void> {
    const running = (await this.podman("ps", "--quiet")).trim().split(/\s+/);
    const names = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}";
    const format = `{{.State.Pid}} {{.NetworkSettings.SandboxKey}} ${names}`;
    const lines = (await this.podman("inspect", "--format", format, ...running)).trim().split("\n");
    await this.killEverything();
    for (const [pid = "", network = "", name = ""] of lines.map((line) => line.split(" "))) {
      process.kill(Number(pid), "SIGKILL");
      await run("umount", [network]);
      rmSync(network);
      if (name !== "") rmSync(join("/run/containers/networks/aardvark-dns", name), { force: true });
    }
    unmountBelow(this.folder);
    for (const name of ["run", "tmp"]) rmSync(join(this.folder, name), { recursive: true, force: true });
    await this.startService();
  }

  /** A surviving process is not the test's concern: it is killed, and named in the log. */
  async #untilNoProcess(): Promise<void> {
    for (let attempt = 0; processesOn(this.folder).length > 0; attempt++) {
      if (attempt === 200)
        warn(`still there after 20 seconds, and killed: ${processesOn(this.folder).map(commandLine)}`);
      if (attempt >= 200) killProcessesOn(this.folder);
      if (attempt === 400) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Ends a program, which may have ended already. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await over;
}

function warn(fault: unknown): void {
  console.warn(`end of a test engine: ${fault}`);
}

/**
 * The machine's own settings, but Podman keeps a process per finished exec for two seconds instead of five minutes: it must be
 * gone before the folder is removed, because at its end it would make the storage anew. Networks and all locks are the
 * engine's own: Podman otherwise shares them between all storages of the machine, so that a process of another engine that is
 * stopped or hangs with a lock would stop this one too.
 */
export function engineConfig(folder: string, runtime?: string): string {
  const own = existsSync(MACHINE_CONFIG) ? readFileSync(MACHINE_CONFIG, "utf8") : "";
  const settings = {
    engine: [
      "exit_command_delay = 2",
      'lock_type = "file"',
      `tmp_dir = "${join(folder, "tmp")}"`,
      ...(runtime === undefined ? [] : [`runtime = "${runtime}"`]),
    ],
    network: [
      `network_config_dir = "${join(folder, "networks")}"`,
      `default_subnet_pools = [{ "base" = "${ownRange()}", "size" = 24 }]`,
    ],
  };
  return Object.entries(settings).reduce((text, [section, lines]) => withSettings(text, section, lines), own);
}

const MACHINE_CONFIG = "/etc/containers/containers.conf";

/** A file of settings with these lines in a section, replacing lines of the same names. */
function withSettings(text: string, section: string, lines: readonly string[]): string {
  const names = lines.map((line) => line.split(" ")[0]);
  const kept = text.split("\n").filter((line) => !names.includes(line.trim().split(/[\s=]/)[0]));
  const at = kept.indexOf(`[${section}]`);
  if (at < 0) return [...kept, `[${section}]`, ...lines, ""].join("\n");
  return kept.toSpliced(at + 1, 0, ...lines).join("\n");
}
