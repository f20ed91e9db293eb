import { clusterKind, hostCluster } from "../../provider/index.ts";
import { errorText } from "../../util/index.ts";
import { clusterNodePorts, type LocalnetPorts } from "./ports.ts";
import {
  type ContainerEngine,
  ensureBusybox,
  ensureContainerEngine,
  startPodman,
} from "./processes/container-engine.ts";
import type { ClusterRecord } from "./remains.ts";

/** Namespace that a provider in the cluster would run in. */
const PROVIDER_SPACE = "svc-provider";

export interface ClusterWish {
  readonly runDir: string;
  /** Socket of an engine that the user named; empty to find, start or install one. */
  readonly engineSocket: string;
  /** Configuration of a cluster that takes the place of the container engine. */
  readonly clusterconfig?: string;
  readonly say: (text: string) => void;
}

/** Runs the containers of a localnet: an engine of this machine, which may have to be started, or an orchestrator. */
export class LocalCluster {
  readonly #wish: ClusterWish;
  #engine: ContainerEngine | undefined;
  #restarting: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(wish: ClusterWish) {
    this.#wish = wish;
  }

  /** Makes the cluster ready for a provider. */
  async start(): Promise<void> {
    const { clusterconfig, say } = this.#wish;
    if (clusterconfig !== undefined) return this.#prepare(clusterconfig);
    await this.find();
    ensureBusybox(say);
    await hostCluster.sampleImage(this.#needEngine().address);
  }

  /** Finds the engine, or starts it. */
  async find(): Promise<void> {
    const { engineSocket: socket, runDir, say, clusterconfig } = this.#wish;
    if (clusterconfig !== undefined) return;
    this.#engine = await ensureContainerEngine({ socket, runDir, say });
    this.#supervise();
  }

  get record(): ClusterRecord {
    const { clusterconfig } = this.#wish;
    if (clusterconfig !== undefined) return { clusterconfig };
    const { address: engine, kind } = this.#needEngine();
    return { engine, kind };
  }

  /** Flags by which the provider uses it. Ports of a cluster's nodes and pods may be out of reach: it forwards them. */
  flags(ports: LocalnetPorts, portOffset: number): string[] {
    const { clusterconfig } = this.#wish;
    if (clusterconfig === undefined) return engineFlags(this.#needEngine().address, ports);
    const cluster = ["--cluster-orch", "--clusterconfig", clusterconfig, "--cluster-ingress", "forward"];
    // Most images that people try first run as root, which a container engine lets them, too.
    const security = ["--cluster-pod-security", "baseline"];
    return [...cluster, "--cluster-node-port-range", clusterNodePorts(portOffset), ...security];
  }

  /** Resolves when an engine service that ended has been started again. */
  settled(): Promise<void> {
    return this.#restarting;
  }

  /** Ends an engine service that was started here. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.settled();
    await this.#engine?.service?.stop();
  }

  async #prepare(config: string): Promise<void> {
    const { say } = this.#wish;
    const kind = clusterKind({ orchestrator: true });
    const { version } = await kind.find(config);
    say(`leases run on Kubernetes ${version} (${config})`);
    const lacking = await kind.installation?.lacks(config);
    if (lacking === undefined) return;
    say(`${lacking}: installing what a provider needs there ...`);
    await kind.installation?.install(PROVIDER_SPACE, config);
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
