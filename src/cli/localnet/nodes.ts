import { findProgram } from "../../engine/index.ts";
import { homeNodeId } from "../../node/index.ts";
import { commandError } from "../errors.ts";
import { type LocalnetPlace, localnetPlaces, type NetworkEngine, nodeAddresses, nodeWords } from "./command-lines.ts";
import { isKeptHome, validatorsOf } from "./home.ts";
import type { Child } from "./processes/processes.ts";
import type { SvcProcesses } from "./processes/svc-processes.ts";
import type { LocalnetValidator, Steps } from "./steps.ts";

export interface NodesOptions {
  readonly home: string;
  readonly portOffset: number;
  readonly blockIntervalMs: number;
  /** One has the embedded engine, several have CometBFT. Default: one, or as many as the chain of a kept home has. */
  readonly validators?: number | undefined;
  /** Where the program of CometBFT may be: a path, or the home of `svc engine install`. */
  readonly cometbft: { readonly given: string | undefined; readonly home: string };
  readonly processes: SvcProcesses;
  readonly steps: Steps;
}

// Only our own node's output counts: if the port is taken, another program would answer.
const READY = /^node ready/;

/** The nodes of a localnet, each the validator of a home. */
export class LocalnetNodes {
  readonly #options: NodesOptions;
  readonly #places: readonly LocalnetPlace[];
  /** The program that makes the blocks of several validators. */
  readonly #program: string | undefined;
  readonly #pids = new Map<string, number>();

  /** Throws `engine/8` where several validators have no program. */
  constructor(options: NodesOptions) {
    const { home, validators, cometbft } = options;
    this.#options = options;
    const kept = isKeptHome(home) ? validatorsOf(home) : undefined;
    if (kept !== undefined && validators !== undefined && validators !== kept)
      throw commandError(`the chain kept in ${home} has ${kept} ${kept === 1 ? "validator" : "validators"}`, {
        hint: "leave --validators out, or remove that folder to start over",
      });
    this.#places = localnetPlaces("node", options, validators ?? kept ?? 1);
    if (this.count > 1) this.#program = findProgram({ ...cometbft, path: process.env.PATH ?? "" }).path;
  }

  get count(): number {
    return this.#places.length;
  }

  /** Where each node answers; commands and providers use the first. */
  get addresses() {
    return this.#places.map(nodeAddresses);
  }

  /** Resolves when all serve. */
  async start(): Promise<void> {
    const started = this.#places.map((place) => this.#started(place, this.#options.processes));
    await Promise.all(started.map((child) => this.#options.processes.ready(child, READY)));
  }

  #started(place: LocalnetPlace, processes: SvcProcesses): Child {
    const child = processes.start(place.name, this.#wordsOf(place));
    this.#pids.set(place.name, child.pid);
    return child;
  }

  stop(): Promise<void> {
    return this.#options.processes.stop(this.#places.map(({ name }) => name));
  }

  /** Rejects when the only node ends, or when one of several that has ended does not start again. */
  async untilEnd(): Promise<void> {
    const { processes } = this.#options;
    await Promise.race(
      this.#places.map((place) => (this.count === 1 ? processes.untilEnd(place.name) : this.#keepRunning(place))),
    );
  }

  #keepRunning(place: LocalnetPlace): Promise<void> {
    const { processes, steps } = this.#options;
    return processes.keepRunning({
      name: place.name,
      words: this.#wordsOf(place),
      ready: READY,
      onEnd: (how) => steps.say(`the ${place.name} ended (${how}) and is started again; the others go on`),
      onRestart: ({ pid }) => steps.restarted(place.name, pid),
    });
  }

  describe(): LocalnetValidator[] {
    return this.#places.map(({ name, home }, i) => ({
      rpc: this.addresses[i]?.rpc ?? "",
      p2p: (this.#program === undefined ? undefined : this.#peers[i]) ?? null,
      pid: this.#pids.get(name) ?? null,
      home,
    }));
  }

  #wordsOf(place: LocalnetPlace): string[] {
    const program = this.#program;
    return nodeWords(
      place,
      this.#options.blockIntervalMs,
      program === undefined ? undefined : { program, peers: this.#peers },
    );
  }

  get #peers(): NetworkEngine["peers"] {
    return this.#places.map(({ home, ports }) => `${homeNodeId(home)}@127.0.0.1:${ports.p2p}`);
  }
}
