import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ClusterKind } from "../../provider/index.ts";
import { errorText, notedSettings, settingReader } from "../../util/index.ts";
import type { Flags } from "../command/flags.ts";
import { clusterNodePorts, type LocalnetPorts, localnetPorts, type Member } from "./ports.ts";
import {
  type ContainerEngine,
  engineAt,
  ensureContainerEngine,
  ensureTools,
  startPodman,
} from "./processes/container-engine.ts";
import type { ClusterRecord } from "./remains.ts";

/** The cluster that runs the containers of a localnet. */
export interface LocalCluster {
  /** The line that tells that it is there. */
  readonly readyText: string;
  /** Names it, once it was found, for the removal of containers. */
  readonly record: ClusterRecord;
  find(): Promise<void>;
  /** Makes the cluster ready for a provider. */
  start(): Promise<void>;
  /** Flags by which a provider uses it. */
  flags(portOffset: number, provider: Member): string[];
  /** Resolves when a service that ended has been started again. */
  settled(): Promise<void>;
  /** Ends a service that was started here. */
  stop(): Promise<void>;
}

/** A cluster that the user named, and its places as the provider's flags have them. */
export interface GivenPlace {
  readonly kind: ClusterKind;
  readonly places: Readonly<Record<string, string>>;
}

/** The places of the kind that the flags name. Paths are read again from other folders. */
export function givenPlace(kind: ClusterKind, flags: Flags): GivenPlace {
  const given = Object.values(kind.places).flatMap(({ name }) => {
    const text = flags.text(name);
    return text === "" ? [] : [[name, existsSync(text) ? resolve(text) : text] as const];
  });
  return { kind, places: Object.fromEntries(given) };
}

/** A cluster of the user's, which the provider may have to be installed on first. */
export class GivenCluster implements LocalCluster {
  readonly readyText = "cluster found";
  readonly #place: GivenPlace;
  readonly #say: (text: string) => void;

  constructor(place: GivenPlace, say: (text: string) => void) {
    this.#place = place;
    this.#say = say;
  }

  get record(): ClusterRecord {
    return this.#place.places;
  }

  async find(): Promise<void> {}

  async start(): Promise<void> {
    const { kind, places } = this.#place;
    const read = settingReader(notedSettings(places));
    const found = await kind.configure(read).find();
    this.#say(`leases run on ${found.kind} ${found.version} (${found.address})`);
    const installation = kind.installation?.configure(read);
    const lacking = await installation?.lacks();
    if (lacking === undefined) return;
    this.#say(`${lacking}: installing what a provider needs there ...`);
    await installation?.install();
  }

  flags(portOffset: number, provider: Member): string[] {
    const { kind, places } = this.#place;
    const words = Object.entries(places).flatMap(([name, text]) => [`--${name}`, text]);
    const ports = ["--cluster-node-port-range", clusterNodePorts(portOffset, provider)];
    return ["--cluster", kind.name, ...words, ...ports, ...kind.localnetFlags];
  }

  async settled(): Promise<void> {}

  async stop(): Promise<void> {}
}

export interface EngineWish {
  readonly runDir: string;
  /** Socket of an engine that the user named; empty to find, start or install one. */
  readonly engineSocket: string;
  readonly say: (text: string) => void;
}

/** The container engine of this machine, which may have to be started. */
export class LocalEngine implements LocalCluster {
  readonly readyText = "container engine ready";
  readonly #wish: EngineWish;
  #engine: ContainerEngine | undefined;
  #restarting: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(wish: EngineWish) {
    this.#wish = wish;
  }

  async start(): Promise<void> {
    await this.find();
    ensureTools(this.#wish.say);
    const { address } = this.#needEngine();
    await engineAt(address).sampleImage?.(address);
  }

  async find(): Promise<void> {
    const { engineSocket: socket, runDir, say } = this.#wish;
    this.#engine = await ensureContainerEngine({ socket, runDir, say });
    this.#supervise();
  }

  get record(): ClusterRecord {
    const { address: engine, kind } = this.#needEngine();
    return { engine, kind };
  }

  flags(portOffset: number, provider: Member): string[] {
    return engineFlags(this.#needEngine().address, localnetPorts(portOffset, provider));
  }

  settled(): Promise<void> {
    return this.#restarting;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.settled();
    await this.#engine?.service?.stop();
  }

  /** Starts an engine service of ours again when it ends: the containers do not end with it. */
  #supervise(): void {
    void this.#engine?.service?.ended.then((how) => {
      if (this.#isStopping) return;
      this.#wish.say(`the container engine stopped (${how}); restarting it ...`);
      this.#restarting = this.#restart();
    });
  }

  async #restart(): Promise<void> {
    try {
      this.#engine = await startPodman(this.#wish.runDir);
      this.#supervise();
    } catch (error) {
      this.#wish.say(`the container engine does not start: ${errorText(error)}`);
    }
  }

  #needEngine(): ContainerEngine {
    if (this.#engine === undefined) throw new Error("the container engine is not up");
    return this.#engine;
  }
}

/** How the provider of a localnet uses this machine's engine: only its own user reaches it. */
export function engineFlags(
  engine: string,
  { nodePortFirst, nodePortLast }: Pick<LocalnetPorts, "nodePortFirst" | "nodePortLast">,
): string[] {
  return [
    ...["--cluster-engine", engine],
    ...["--cluster-node-port-range", `${nodePortFirst}-${nodePortLast}`, "--cluster-node-port-address", "127.0.0.1"],
    ...["--cluster-volume-sizes", process.getuid?.() === 0 ? "loop" : "none"],
  ];
}
