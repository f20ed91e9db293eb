import { join } from "node:path";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { ROOT } from "./build.ts";
import type { TestKubernetesNode } from "./kubernetes-node.ts";
import { waitFor } from "./wait.ts";

/** The namespace of the installation. */
export const PROVIDER_SPACE = "svc-provider";
const CHART = join(ROOT, "deploy", "helm", "svc-provider");
const NAME = "shop";
const CONTAINER = "provider";
const RUNS = { timeoutMs: 120_000, pollMs: 200 };

/** Runs Helm with these words, on the configuration file of a cluster. */
export type Helm = (words: readonly string[], env: Readonly<Record<string, string>>) => Promise<string>;

/** The one pod of a release. */
export interface ReleasePod extends ApiObject {
  readonly spec?: { readonly containers: readonly { readonly image: string }[] };
  readonly status?: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly containerID?: string;
      readonly ready: boolean;
      readonly restartCount: number;
    }[];
  };
}

/** A provider that runs from the chart, as its operator installs and upgrades it. */
export class TestRelease {
  readonly #bed: TestKubernetesNode;
  readonly #helm: Helm;
  readonly #api: KubernetesApi;

  constructor(bed: TestKubernetesNode, helm: Helm) {
    this.#bed = bed;
    this.#helm = helm;
    this.#api = new KubernetesApi(readKubeconfig(bed.config));
  }

  close(): void {
    this.#api.close();
  }

  /** Installs the release, or changes its settings; returns when its pod is ready. */
  async set(values: Readonly<Record<string, string>>): Promise<void> {
    const words = Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
    const common = ["upgrade", "--install", NAME, CHART, "--namespace", PROVIDER_SPACE, "--reset-then-reuse-values"];
    await this.#run([...common, "--wait", "--timeout", "4m", ...words]);
  }

  async remove(): Promise<void> {
    await this.#run(["uninstall", NAME, "--namespace", PROVIDER_SPACE, "--wait"]);
  }

  async #run(words: readonly string[]): Promise<void> {
    await this.#helm(words, { KUBECONFIG: this.#bed.config });
  }

  /** All pods, ending ones included. */
  async pods(): Promise<readonly ReleasePod[]> {
    const labels = `app.kubernetes.io/instance=${NAME}`;
    return (await this.#api.list<ReleasePod>(KIND.pod, { namespace: PROVIDER_SPACE, labels })).objects;
  }

  /** The pod when it is ready, and the only one. */
  async pod(isIt: (pod: ReleasePod) => boolean = () => true): Promise<ReleasePod> {
    const ready = async () => {
      const [pod, ...others] = await this.pods();
      return others.length === 0 && pod?.status?.containerStatuses?.[0]?.ready && isIt(pod) ? pod : undefined;
    };
    return waitFor(ready, "the pod of the provider", RUNS);
  }

  /** Runs a command in it to its end; throws with its words where it fails. Returns standard output. */
  async exec(command: readonly string[]): Promise<string> {
    const { metadata } = await this.pod();
    const place = { namespace: PROVIDER_SPACE, pod: metadata.name, container: CONTAINER };
    const channels = await this.#api.exec({ ...place, command, tty: false, stdin: false });
    const said = { stdout: "", stderr: "" };
    for await (const { stream, data } of channels.output) said[stream] += Buffer.from(data).toString();
    const code = await channels.exitCode;
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${said.stderr}${said.stdout}`);
    return said.stdout;
  }

  /** Ends its program as a crash does, without a warning. */
  async kill(): Promise<void> {
    const { status } = await this.pod();
    const id = status?.containerStatuses?.[0]?.containerID?.replace("containerd://", "") ?? "";
    await this.#bed.engineTool("tasks", "kill", "--signal", "SIGKILL", id);
  }

  /** Its output. */
  async log(): Promise<string> {
    const [pod] = await this.pods();
    const place = { namespace: PROVIDER_SPACE, name: pod?.metadata.name ?? "" };
    const stream = await this.#api.podLog(place, { container: CONTAINER, follow: false, tail: -1 });
    let text = "";
    for await (const part of stream) text += part;
    return text;
  }
}
