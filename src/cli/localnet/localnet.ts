import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ChainClient } from "../../client/index.ts";
import { chainInfo } from "../../node/index.ts";
import { AUTHORITY } from "../../provider/index.ts";
import { EXIT, errorText, makePrivateDirectory, printable } from "../../util/index.ts";
import { trustText } from "../context/trusted-block.ts";
import { ExitError } from "../errors.ts";
import { VERSION } from "../node/version.ts";
import type { Io } from "../terminal/io.ts";
import { GivenCluster, type GivenPlace, type LocalCluster, LocalEngine } from "./cluster.ts";
import { authorityOf, type LocalnetPlace, localnetPlaces, providerWords } from "./command-lines.ts";
import {
  defaultLocalnetHome,
  homeFlags as flagsOfHome,
  isKeptHome,
  isWholeHome,
  keySigner,
  LOCALNET_CHAIN_ID,
  localnetKeyring,
  lockLocalnet,
  makeHome,
  removeHome,
  requireLocalnetHome,
  writeClientSettings,
  writeState,
} from "./home.ts";
import { deployFile, fundProviders, registerProvider } from "./market.ts";
import { LocalnetNodes, type NodesOptions } from "./nodes.ts";
import { localnetPorts, requireFreePorts } from "./ports.ts";
import { type NetServer, startNetServer } from "./processes/net-server.ts";
import { SvcProcesses } from "./processes/svc-processes.ts";
import {
  endRemains,
  foldersOf,
  hasProvider,
  type LocalnetFolders,
  recordCluster,
  recordedCluster,
  remainsOf,
  removeContainers,
} from "./remains.ts";
import { type LocalnetDeployment, Steps } from "./steps.ts";

export interface LocalnetOptions {
  /** Default: a folder in the user's home that belongs to the offset. */
  readonly home?: string;
  readonly portOffset: number;
  readonly blockIntervalMs: number;
  /** Keep chain, keys and volumes for the next start. */
  readonly keep: boolean;
  readonly deploy?: string;
  readonly validators: NodesOptions["validators"];
  readonly cometbft: NodesOptions["cometbft"];
  readonly providers: number;
  readonly engineSocket: string;
  /** A cluster of the user's, in place of the container engine. */
  readonly givenCluster?: GivenPlace;
  /** Folder of a release that the network's files offer. */
  readonly releases?: string;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

const POLL_MS = 25;
/** Longest wait for one answer: all parts of the network start at once, on one machine. */
const ANSWER_MS = 60_000;
const PROVIDER_READY = /provider started/;

/** A chain, a provider and everything they need, on this machine, until it is stopped. */
export class Localnet {
  readonly #options: LocalnetOptions;
  readonly #io: Pick<Io, "out" | "err">;
  readonly #home: string;
  readonly #folders: LocalnetFolders;
  readonly #cluster: LocalCluster;
  readonly #steps: Steps;
  readonly #processes: SvcProcesses;
  /** A home that was kept once stays kept: a start without the flag loses nothing. */
  #keep: boolean;
  /** Cleanups of started parts, run in reverse order. */
  readonly #cleanups: { readonly what: string; readonly run: () => Promise<void> }[] = [];
  readonly #providers: readonly LocalnetPlace[];
  #nodes: LocalnetNodes | undefined;
  #client: ChainClient | undefined;
  #net: NetServer | undefined;
  #deployments: LocalnetDeployment[] = [];

  constructor(options: LocalnetOptions, io: Pick<Io, "out" | "err">) {
    this.#options = options;
    this.#io = io;
    this.#home = resolve(options.home ?? defaultLocalnetHome(options.portOffset));
    this.#folders = foldersOf(this.#home);
    this.#providers = localnetPlaces(
      "provider",
      { home: this.#home, portOffset: options.portOffset },
      options.providers,
    );
    this.#keep = options.keep;
    this.#steps = new Steps({
      json: options.json,
      out: (line) => io.out(`${line}\n`),
      err: (line) => io.err(`${line}\n`),
    });
    const { runDir } = this.#folders;
    const say = (text: string) => this.#steps.say(text);
    const { givenCluster, engineSocket, signal } = options;
    this.#processes = new SvcProcesses({ home: this.#home, runDir, isKept: () => this.#keep, signal });
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
    if (recordedCluster(this.#folders.runDir) === undefined && hasProvider(this.#home)) {
      this.#onStop("container engine", () => this.#cluster.stop());
      await this.#cluster.find();
    }
    await this.#removeEarlier(isKept ? "containers" : "data");
    if (!isKept) removeHome(this.#home);
  }

  async #start(): Promise<void> {
    const { signal } = this.#options;
    requireLocalnetHome(this.#home);
    const [home, processes, steps] = [this.#home, this.#processes, this.#steps];
    const nodes = new LocalnetNodes({ ...this.#options, home, processes, steps });
    this.#nodes = nodes;
    const providers = this.#providers.length;
    const stages: readonly (readonly [name: string, stage: () => Promise<void>])[] = [
      [this.#cluster.readyText, () => this.#startCluster(nodes.count)],
      ["chain home created", () => this.#makeHome(nodes.count)],
      [nodes.count === 1 ? "node up" : `${nodes.count} nodes up`, () => this.#startNodes(nodes)],
      [providers === 1 ? "provider registered" : `${providers} providers registered`, () => this.#register()],
      [providers === 1 ? "provider up" : `${providers} providers up`, () => this.#startProviders()],
      ["network files served", () => this.#startNet()],
    ];
    for (const [name, stage] of stages) {
      signal.throwIfAborted();
      await this.#steps.run(name, stage);
    }
    if (this.#options.deploy !== undefined) await this.#deploy(this.#options.deploy);
  }

  async #startCluster(validators: number): Promise<void> {
    const remains = remainsOf(this.#folders);
    await this.#claim(() => {
      if (remains.length > 0) this.#steps.say(`removing what an earlier localnet left: ${remains.join(", ")}`);
    });
    await requireFreePorts(this.#options.portOffset, { validators, providers: this.#providers.length });
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

  async #makeHome(validators: number): Promise<void> {
    if (isKeptHome(this.#home)) {
      this.#keep = true;
      this.#steps.say(`continuing the localnet kept in ${this.#home} (remove that folder to start over)`);
    }
    const isNew = !this.#keep || !isWholeHome(this.#home);
    await this.#removeEarlier(isNew ? "data" : "containers");
    if (!this.#keep) this.#onStop("home", async () => this.#removeHome());
    if (isNew) {
      removeHome(this.#home);
      await makeHome(this.#home, this.#options.blockIntervalMs, validators);
    }
    writeClientSettings(this.#home, this.#rpc);
  }

  /** Removes the containers of an earlier localnet from where it had them. */
  async #removeEarlier(what: "containers" | "data"): Promise<void> {
    const recorded = recordedCluster(this.#folders.runDir);
    if (recorded === undefined && !hasProvider(this.#home)) return;
    await removeContainers(this.#folders, recorded ?? this.#cluster.record, what);
  }

  /** A home with containers that could not be removed is needed for the next attempt. */
  #removeHome(): void {
    if (recordedCluster(this.#folders.runDir) === undefined) removeHome(this.#home);
  }

  async #startNodes(nodes: LocalnetNodes): Promise<void> {
    this.#onStop("nodes", () => nodes.stop());
    await nodes.start();
    const onRetry = (text: string): void => this.#steps.say(printable(text));
    const client = new ChainClient(this.#rpc, { timeoutMs: ANSWER_MS, onRetry });
    this.#client = client;
    this.#options.signal.addEventListener("abort", () => client.close());
    this.#onStop("client", async () => client.close());
    // Transactions need the first block: accounts exist from then on.
    while ((await client.node.status()).latestHeight < 1n) {
      this.#options.signal.throwIfAborted();
      await sleep(POLL_MS);
    }
  }

  async #register(): Promise<void> {
    const client = this.#needClient();
    const [, ...further] = this.#providers.map(({ name }) => name);
    if (further.length > 0) await fundProviders(client, this.#home, further);
    const registrations = this.#providers.map(async ({ name, home, ports }) => {
      makePrivateDirectory(home);
      const signer = await keySigner(localnetKeyring(this.#home), name);
      await registerProvider({ client, signer, home, hostUri: `https://localhost:${ports.gateway}` });
    });
    await Promise.all(registrations);
  }

  /** The first makes the authority of all. */
  async #startProviders(): Promise<void> {
    recordCluster(this.#folders.runDir, this.#clusterRecord);
    this.#onStop("containers", () => this.#removeContainers());
    this.#onStop("providers", () => this.#processes.stop(this.#providers.map(({ name }) => name)));
    const [first, ...further] = this.#providers;
    if (first !== undefined) await this.#startProvider(first);
    await Promise.all(further.map((provider) => this.#startProvider(provider)));
  }

  async #startProvider(provider: LocalnetPlace): Promise<void> {
    const flags = this.#cluster.flags(this.#options.portOffset, provider);
    const words = providerWords(provider, { home: this.#home, rpc: this.#rpc }, flags);
    const child = this.#processes.start(provider.name, words);
    // Printed before the first bid: a user without root should not wait for bids.
    void child.waitFor(/this provider does not bid/).then(
      (line) => this.#steps.say(obstacleText(line)),
      () => {},
    );
    await this.#processes.ready(child, PROVIDER_READY);
  }

  get #clusterRecord() {
    return { ...this.#cluster.record, providers: `${this.#providers.length}` };
  }

  async #removeContainers(): Promise<void> {
    await this.#cluster.settled();
    await removeContainers(this.#folders, this.#clusterRecord, this.#keep ? "containers" : "data");
  }

  async #startNet(): Promise<void> {
    const trustedBlock = () => trustText(this.#home);
    const rpcNodes = this.#needNodes().addresses.map(({ rpc }) => rpc);
    const chainId = LOCALNET_CHAIN_ID;
    const { rpc, rest } = this.#addresses;
    const info = JSON.stringify(chainInfo({ chainId, rpc, rest, minGasPrices: [] }));
    const { releases } = this.#options;
    const published = releases === undefined ? {} : { releases };
    const files = { version: VERSION, chainId, rpcNodes, trustedBlock, chainInfo: info, ...published };
    const net = await startNetServer(localnetPorts(this.#options.portOffset).net, files);
    this.#net = net;
    this.#onStop("network files", () => net.close());
    const validators = rpcNodes.length;
    writeState(this.#home, { chainId, rpc, netUrl: net.url, kept: this.#keep, validators });
  }

  async #deploy(file: string): Promise<void> {
    const means = { home: this.#home, client: this.#needClient(), steps: this.#steps };
    this.#deployments = [await deployFile(file, { ...means, signal: this.#options.signal })];
  }

  #tellReady(): void {
    const { json, portOffset } = this.#options;
    const homeFlags = flagsOfHome(this.#home, portOffset);
    const nodes = this.#needNodes();
    const ready = {
      ...this.#addresses,
      net_url: this.#net?.url ?? null,
      home: this.#home,
      ca: join(authorityOf(this.#home), AUTHORITY.certificate),
      validators: nodes.describe(),
    };
    if (json) this.#io.out(`${JSON.stringify({ type: "ready", ...ready, deployments: this.#deployments })}\n`);
    else this.#steps.summary({ ...ready, homeFlags, deployments: this.#deployments });
  }

  /** A process that ends unexpectedly ends the localnet with an error; one of several nodes is started again. */
  async #untilStopped(): Promise<void> {
    const { signal } = this.#options;
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const providers = this.#providers.map(({ name }) => this.#processes.untilEnd(name));
    await Promise.race([stopped, ...providers, this.#needNodes().untilEnd()]);
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

  #onStop(what: string, run: () => Promise<void>): void {
    this.#cleanups.push({ what, run });
  }

  /** The first node's, which commands and providers use. */
  get #addresses() {
    const [first] = this.#needNodes().addresses;
    if (first === undefined) throw new Error("a localnet has a node");
    return first;
  }

  get #rpc(): string {
    return this.#addresses.rpc;
  }

  #needNodes(): LocalnetNodes {
    if (this.#nodes === undefined) throw new Error("no node is planned");
    return this.#nodes;
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
