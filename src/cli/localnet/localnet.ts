import { spawn } from "node:child_process";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { ChainClient } from "../../client/index.ts";
import { AUTHORITY } from "../../provider/index.ts";
import { EXIT, errorText, makePrivateDirectory } from "../../util/index.ts";
import { trustText } from "../context/trusted-block.ts";
import { commandError, ExitError } from "../errors.ts";
import { VERSION } from "../node/version.ts";
import { providerDir } from "../provider/run/config.ts";
import type { Io } from "../terminal/io.ts";
import { SUPERVISED } from "../terminal/signals.ts";
import { GivenCluster, type GivenPlace, type LocalCluster, LocalEngine } from "./cluster.ts";
import { type LocalnetPlace, localnetPlace, nodeWords, providerWords } from "./command-lines.ts";
import {
  defaultLocalnetHome,
  homeFlags as flagsOfHome,
  isKeptHome,
  isWholeHome,
  LOCALNET_CHAIN_ID,
  localnetKeyring,
  lockLocalnet,
  makeHome,
  removeHome,
  requireLocalnetHome,
  writeClientSettings,
  writeState,
} from "./home.ts";
import { deployFile, registerProvider } from "./market.ts";
import { localnetPorts, requireFreePorts } from "./ports.ts";
import { recordProcess } from "./processes/left.ts";
import { type NetServer, startNetServer } from "./processes/net-server.ts";
import { type Child, supervise } from "./processes/processes.ts";
import {
  endRemains,
  foldersOf,
  type LocalnetFolders,
  recordCluster,
  recordedCluster,
  remainsOf,
  removeContainers,
} from "./remains.ts";
import { keySigner } from "./signer.ts";
import { type LocalnetDeployment, Steps } from "./steps.ts";

export interface LocalnetOptions {
  /** Default: a folder in the user's home that belongs to the offset. */
  readonly home?: string;
  readonly portOffset: number;
  readonly blockIntervalMs: number;
  /** Keep chain, keys and volumes for the next start. */
  readonly keep: boolean;
  readonly deploy?: string;
  readonly engineSocket: string;
  /** A cluster of the user's, in place of the container engine. */
  readonly givenCluster?: GivenPlace;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

const POLL_MS = 25;
const START_MS = 60_000;

/** A chain, a provider and everything they need, on this machine, until it is stopped. */
export class Localnet {
  readonly #options: LocalnetOptions;
  readonly #io: Pick<Io, "out" | "err">;
  readonly #home: string;
  readonly #folders: LocalnetFolders;
  readonly #cluster: LocalCluster;
  readonly #place: LocalnetPlace;
  readonly #steps: Steps;
  /** A home that was kept once stays kept: a start without the flag loses nothing. */
  #keep: boolean;
  /** Cleanups of started parts, run in reverse order. */
  readonly #cleanups: { readonly what: string; readonly run: () => Promise<void> }[] = [];
  #children: Child[] = [];
  #client: ChainClient | undefined;
  #net: NetServer | undefined;
  #deployments: LocalnetDeployment[] = [];

  constructor(options: LocalnetOptions, io: Pick<Io, "out" | "err">) {
    this.#options = options;
    this.#io = io;
    this.#home = resolve(options.home ?? defaultLocalnetHome(options.portOffset));
    this.#folders = foldersOf(this.#home);
    this.#place = localnetPlace(this.#home, localnetPorts(options.portOffset));
    this.#keep = options.keep;
    this.#steps = new Steps({
      json: options.json,
      out: (line) => io.out(`${line}\n`),
      err: (line) => io.err(`${line}\n`),
    });
    const { runDir } = this.#folders;
    const say = (text: string) => this.#steps.say(text);
    const { givenCluster, engineSocket } = options;
    this.#cluster =
      givenCluster === undefined ? new LocalEngine({ engineSocket, runDir, say }) : new GivenCluster(givenCluster, say);
  }

  /** Starts everything, prints the result and waits for the signal or for a process that ends unexpectedly. */
  async run(): Promise<number> {
    try {
      await this.#start();
      this.#tellReady();
      await this.#untilStopped();
      return 0;
    } catch (error) {
      if (this.#options.signal.aborted) throw new ExitError(130);
      throw error;
    } finally {
      await this.#stop();
    }
  }

  /** For an interrupt during a stop: tells the remains, and the command that removes them. */
  tellRemains(): void {
    const remains = remainsOf(this.#folders);
    if (remains.length === 0) return;
    this.#steps.say(`interrupted: ${remains.join(", ")} stay`);
    this.#steps.say(`Hint: the next start removes them, or: ${this.#cleanCommand}`);
  }

  /** Ends and removes what an earlier localnet of the home left. */
  async clean(): Promise<number> {
    requireLocalnetHome(this.#home);
    const remains = remainsOf(this.#folders);
    if (remains.length === 0) {
      this.#steps.say(`nothing is left of a localnet in ${this.#home}`);
      return EXIT.done;
    }
    try {
      await this.#claim();
      await this.#cleanHome();
    } finally {
      await this.#stop();
    }
    if (this.#options.json) this.#io.out(`${JSON.stringify({ type: "removed", removed: remains })}\n`);
    else for (const each of remains) this.#steps.say(`removed: ${each}`);
    return EXIT.done;
  }

  async #cleanHome(): Promise<void> {
    const isKept = isKeptHome(this.#home);
    if (recordedCluster(this.#folders.runDir) === undefined && existsSync(providerDir(this.#home))) {
      this.#onStop("container engine", () => this.#cluster.stop());
      await this.#cluster.find();
    }
    await this.#removeEarlier(isKept ? "containers" : "data");
    if (!isKept) removeHome(this.#home);
  }

  async #start(): Promise<void> {
    const { signal } = this.#options;
    const stages: readonly (readonly [name: string, stage: () => Promise<void>])[] = [
      [this.#cluster.readyText, () => this.#startCluster()],
      ["chain home created", () => this.#makeHome()],
      ["node up", () => this.#startNode()],
      ["provider registered", () => this.#register()],
      ["provider up", () => this.#startProvider()],
      ["network files served", () => this.#startNet()],
    ];
    for (const [name, stage] of stages) {
      signal.throwIfAborted();
      await this.#steps.run(name, stage);
    }
    if (this.#options.deploy !== undefined) await this.#deploy(this.#options.deploy);
  }

  async #startCluster(): Promise<void> {
    requireLocalnetHome(this.#home);
    const remains = remainsOf(this.#folders);
    await this.#claim(() => {
      if (remains.length > 0) this.#steps.say(`removing what an earlier localnet left: ${remains.join(", ")}`);
    });
    await requireFreePorts(this.#options.portOffset);
    this.#onStop("container engine", () => this.#cluster.stop());
    await this.#cluster.start();
  }

  /** Home and ports are this localnet's until it stops: leftover processes of an earlier one end first. */
  async #claim(claimed = () => {}): Promise<void> {
    const { runDir } = this.#folders;
    makePrivateDirectory(runDir);
    const lock = lockLocalnet(this.#home, runDir);
    this.#onStop("run folder", async () => {
      // The next start finds here what could not be removed.
      if (recordedCluster(runDir) === undefined) rmSync(runDir, { recursive: true, force: true });
      lock.release();
    });
    claimed();
    await endRemains(this.#folders);
  }

  async #makeHome(): Promise<void> {
    if (isKeptHome(this.#home)) {
      this.#keep = true;
      this.#steps.say(`continuing the localnet kept in ${this.#home} (remove that folder to start over)`);
    }
    const isNew = !this.#keep || !isWholeHome(this.#home);
    await this.#removeEarlier(isNew ? "data" : "containers");
    if (!this.#keep) this.#onStop("home", async () => this.#removeHome());
    if (isNew) {
      removeHome(this.#home);
      await makeHome(this.#home, this.#options.blockIntervalMs);
    }
    writeClientSettings(this.#home, this.#place.rpcUrl);
  }

  /** Removes the containers of an earlier localnet from where it had them. */
  async #removeEarlier(what: "containers" | "data"): Promise<void> {
    const recorded = recordedCluster(this.#folders.runDir);
    if (recorded === undefined && !existsSync(providerDir(this.#home))) return;
    await removeContainers(this.#folders, recorded ?? this.#cluster.record, what);
  }

  /** A home with containers that could not be removed is needed for the next attempt. */
  #removeHome(): void {
    if (recordedCluster(this.#folders.runDir) === undefined) removeHome(this.#home);
  }

  async #startNode(): Promise<void> {
    const node = this.#spawn("node", nodeWords(this.#place, this.#options.blockIntervalMs));
    // Only our own node's output counts: if the port is taken, another program would answer.
    await this.#ready(node, /^node ready/);
    const client = new ChainClient(this.#place.rpcUrl);
    this.#client = client;
    this.#onStop("client", async () => client.close());
    // Transactions need the first block: accounts exist from then on.
    while ((await client.node.status()).latestHeight < 1n) {
      this.#options.signal.throwIfAborted();
      await sleep(POLL_MS);
    }
  }

  async #register(): Promise<void> {
    const signer = await keySigner(localnetKeyring(this.#home), "provider");
    const hostUri = `https://localhost:${this.#place.ports.gateway}`;
    await registerProvider({ client: this.#needClient(), signer, home: this.#home, hostUri });
  }

  async #startProvider(): Promise<void> {
    recordCluster(this.#folders.runDir, this.#cluster.record);
    this.#onStop("containers", () => this.#removeContainers());
    const flags = this.#cluster.flags(this.#place.ports, this.#options.portOffset);
    const child = this.#spawn("provider", providerWords(this.#place, flags));
    // Printed before the first bid: a user without root should not wait for bids.
    void child.waitFor(/this provider does not bid/).then(
      (line) => this.#steps.say(obstacleText(line)),
      () => {},
    );
    await this.#ready(child, /provider started/);
  }

  async #removeContainers(): Promise<void> {
    await this.#cluster.settled();
    await removeContainers(this.#folders, this.#cluster.record, this.#keep ? "containers" : "data");
  }

  /** Waits for the line by which a process says that it serves. */
  async #ready(child: Child, line: RegExp): Promise<void> {
    const { signal } = this.#options;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
    const tooLate = new Promise<"too late">((resolve) => {
      patience.addEventListener("abort", () => resolve("too late"), { once: true });
    });
    const outcome = await Promise.race([child.waitFor(line), tooLate]);
    signal.throwIfAborted();
    if (outcome !== "too late") return;
    const hint = `see ${this.#savedLog(child.name)}`;
    throw commandError(`the ${child.name} did not start within ${START_MS / 1000} s`, { hint });
  }

  async #startNet(): Promise<void> {
    const trustedBlock = () => trustText(this.#home);
    const files = { version: VERSION, chainId: LOCALNET_CHAIN_ID, rpcNodes: [this.#place.rpcUrl], trustedBlock };
    const net = await startNetServer(this.#place.ports.net, files);
    this.#net = net;
    this.#onStop("network files", () => net.close());
    const addresses = { rpc: this.#place.rpcUrl, netUrl: net.url };
    writeState(this.#home, { chainId: LOCALNET_CHAIN_ID, ...addresses, kept: this.#keep });
  }

  async #deploy(file: string): Promise<void> {
    const { signal } = this.#options;
    this.#deployments = [
      await deployFile({ file, home: this.#home, node: this.#place.rpcUrl, signal, steps: this.#steps }),
    ];
  }

  #tellReady(): void {
    const { json, portOffset } = this.#options;
    const homeFlags = flagsOfHome(this.#home, portOffset);
    const ready = {
      rpc: this.#place.rpcUrl,
      rest: this.#place.restUrl,
      grpc: this.#place.grpcAddress,
      net_url: this.#net?.url ?? null,
      home: this.#home,
      ca: join(this.#place.authority, AUTHORITY.certificate),
    };
    if (json) this.#io.out(`${JSON.stringify({ type: "ready", ...ready, deployments: this.#deployments })}\n`);
    else this.#steps.summary({ ...ready, homeFlags, deployments: this.#deployments });
  }

  /** A node or provider that ends unexpectedly ends the localnet with an error. */
  async #untilStopped(): Promise<void> {
    const { signal } = this.#options;
    const stopped = new Promise<undefined>((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    const ends = this.#children.map(async (child) => ({ child, how: await child.ended }));
    const end = await Promise.race([stopped, ...ends]);
    if (end === undefined) return;
    const { name, lastWords } = end.child;
    const words = lastWords === "" ? "" : `: ${lastWords}`;
    throw commandError(`the ${name} ended unexpectedly (${end.how})${words}`, { hint: `see ${this.#savedLog(name)}` });
  }

  /** Stops in reverse order; a step that fails is reported and does not stop the others. */
  async #stop(): Promise<void> {
    if (this.#cleanups.length > 1) this.#steps.say("stopping ...");
    for (const { what, run } of this.#cleanups.toReversed()) {
      await run().catch((error: unknown) => this.#steps.say(`could not stop ${what}: ${errorText(error)}`));
    }
    if (this.#cleanups.length === 0 || recordedCluster(this.#folders.runDir) === undefined) return;
    this.#steps.say(`Hint: containers stay; the next start removes them, or: ${this.#cleanCommand}`);
  }

  #spawn(name: string, args: readonly string[]): Child {
    const main = process.argv[1] ?? "";
    const child = spawn(process.execPath, [main, ...args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      detached: true,
      env: { ...process.env, [SUPERVISED]: "1" },
    });
    if (child.pid !== undefined) recordProcess(this.#folders.runDir, { name, pid: child.pid });
    const supervised = supervise(name, child, this.#logFile(name));
    this.#children.push(supervised);
    this.#onStop(name, () => {
      this.#children = this.#children.filter((each) => each !== supervised);
      return supervised.stop();
    });
    return supervised;
  }

  #onStop(what: string, run: () => Promise<void>): void {
    this.#cleanups.push({ what, run });
  }

  #logFile(name: string): string {
    return join(this.#home, `${name}.log`);
  }

  /** The log of a process that failed, in a place that survives the removal of the home. */
  #savedLog(name: string): string {
    const file = this.#logFile(name);
    if (this.#keep || !existsSync(file)) return file;
    const saved = `${this.#home}-${name}.log`;
    copyFileSync(file, saved);
    return saved;
  }

  get #cleanCommand(): string {
    return `svc localnet --clean${flagsOfHome(this.#home, this.#options.portOffset)}`;
  }

  #needClient(): ChainClient {
    if (this.#client === undefined) throw new Error("the node is not up");
    return this.#client;
  }
}

/** The reason of a log line, in quotes where it holds spaces. */
function obstacleText(line: string): string {
  const [, quoted] = /reason="((?:[^"\\\\]|\\\\.)*)"/.exec(line) ?? [];
  return `this provider does not bid: ${quoted ?? line}`;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
