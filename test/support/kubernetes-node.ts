import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fixture } from "./fixture.ts";
import { writeImage } from "./image-archive.ts";
import { SERVICES, TestKubernetes } from "./kubernetes.ts";
import { MachineRoom } from "./machine-room.ts";
import { waitFor } from "./wait.ts";

/** Where the programs are. */
export interface KubernetesPrograms {
  /** Storage and API server. */
  readonly server: string;
  /** Controllers, scheduler, agent and proxy of the node. */
  readonly node: string;
  /** Folder of the container engine and its plugins for networks. */
  readonly containers: string;
  /** The program that enforces network policies; without it, they have no effect. */
  readonly policies?: string;
}

const START = { timeoutMs: 120_000, pollMs: 200 };
const PAUSE = "localhost/pause:1";
/** Reached by the node's own programs only. */
const ENGINE = "/run/containerd.sock";
/** Controllers of what no test asks for. */
const UNUSED = [
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-cleaner-controller",
  "certificatesigningrequest-signing-controller",
  "clusterrole-aggregation-controller",
  "cronjob-controller",
  "daemonset-controller",
  "endpoints-controller",
  "endpointslice-mirroring-controller",
  "horizontal-pod-autoscaler-controller",
  "job-controller",
  "replicationcontroller-controller",
  "ttl-after-finished-controller",
];
/** How the node talks to registries. */
const REGISTRIES = "registries";

/**
 * A whole cluster of one node that runs pods: its control plane, a kubelet with a container engine, and a proxy for
 * services and node ports, in its own room. This machine reaches its pods and node ports. Tests bring their own
 * registries and name servers.
 */
export class TestKubernetesNode {
  /** An image of BusyBox that it has; pods with it need `imagePullPolicy: Never`. Without a command it serves a page on port 80. */
  static readonly image = "localhost/busybox:1";
  /** Handler of a second runtime, whose containers lie in a folder of its own. */
  static readonly runtime = "second";
  /** Processes that one pod may have. */
  static readonly mostProcesses = 512;
  /** Where its pods ask for names: nodes keep a cache of the cluster's name servers there. */
  static readonly names = "169.254.20.10";
  /** Name of the node. */
  static readonly node = "node-1";

  readonly #room: MachineRoom;
  readonly #control: TestKubernetes;
  readonly #programs: KubernetesPrograms;
  readonly #folder: string;

  private constructor(room: MachineRoom, control: TestKubernetes, programs: KubernetesPrograms, folder: string) {
    this.#room = room;
    this.#control = control;
    this.#programs = programs;
    this.#folder = folder;
  }

  /** Ready for pods; everything of it ends with the fixture. */
  static async start(fixture: Fixture, programs: KubernetesPrograms): Promise<TestKubernetesNode> {
    const room = await MachineRoom.open(fixture);
    const control = await TestKubernetes.startControlPlane(fixture, programs.server, room);
    const bed = new TestKubernetesNode(room, control, programs, fixture.tempHome("kubernetes-node"));
    bed.#startControllers();
    await bed.#startEngine();
    bed.#startAgent();
    bed.#startProxy();
    await bed.#ready();
    bed.#startPolicies();
    return bed;
  }

  /** A kubeconfig file for its administrator. */
  get config(): string {
    return this.#control.config;
  }

  /** Where its node ports (30000 to 32767) answer. */
  get address(): string {
    return this.#room.address;
  }

  /** An address at which only services answer that a balancer gave it, 1 to 254. */
  balanced(number: number): string {
    return this.#room.spare.replace(/0\/24$/, number.toString());
  }

  /** Where its programs run. */
  get room(): MachineRoom {
    return this.#room;
  }

  /** The control plane: calls by another client, and crashes. */
  get control(): TestKubernetes {
    return this.#control;
  }

  /** Gives the node the images of a file, as `docker save` writes one. */
  async loadImage(path: string): Promise<void> {
    await this.engineTool("images", "import", path);
  }

  /** Tells the node where a registry is, in place of a name server. */
  placeRegistry(name: string, url: string): void {
    const folder = join(this.#folder, REGISTRIES, name);
    mkdirSync(folder, { recursive: true });
    // Older engines read no file without a host.
    const host = `[host."${url}"]\ncapabilities = ["pull", "resolve"]\n`;
    writeFileSync(join(folder, "hosts.toml"), `server = "${url}"\n${host}`);
  }

  /** Ends the node's agent as a crash does, and starts it again; pods go on meanwhile. */
  async restartAgent(): Promise<void> {
    await this.#control.kill("kubelet");
    this.#startAgent();
    await this.#ready();
  }

  /** Every program of the node ends at once, as when its power goes; then it starts again with its disk. */
  async reboot(): Promise<void> {
    for (const part of ["kubelet", "kube-proxy"]) await this.#control.kill(part);
    await waitFor(() => this.#endTasks(), "all containers to end");
    await this.#control.kill("containerd");
    this.#runEngine();
    await this.#engineAnswers();
    this.#startAgent();
    this.#startProxy();
    await this.#ready();
  }

  /** Whether all tasks had ended. A task that ends by itself meanwhile cannot be ended. */
  async #endTasks(): Promise<boolean> {
    const tasks = (await this.engineTool("tasks", "list", "--quiet")).split("\n").filter((id) => id !== "");
    await Promise.allSettled(tasks.map((id) => this.engineTool("tasks", "delete", "--force", id)));
    return tasks.length === 0;
  }

  /** Runs the tool of its container engine, with a folder of images that pods use. */
  engineTool(...args: readonly string[]): Promise<string> {
    const tool = join(this.#programs.containers, "usr", "bin", "ctr");
    return this.#room.run(tool, ["--address", ENGINE, "--namespace", "k8s.io", ...args]);
  }

  #startControllers(): void {
    const config = this.config;
    const access = [
      `--kubeconfig=${config}`,
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
    ];
    const common = [
      ...access,
      "--bind-address=127.0.0.1",
      `--cert-dir=${this.#folder}`,
      "--leader-elect=false",
      "--profiling=false",
    ];
    this.#part("kube-controller-manager", [
      ...common,
      `--root-ca-file=${this.#control.certificate}`,
      `--service-account-private-key-file=${this.#control.accountsKey}`,
      "--kube-api-qps=200",
      "--kube-api-burst=400",
      `--controllers=*,${UNUSED.map((name) => `-${name}`).join()}`,
    ]);
    this.#part("kube-scheduler", common);
  }

  async #startEngine(): Promise<void> {
    const networks = join(this.#folder, "networks");
    mkdirSync(networks);
    writeFileSync(join(networks, "pods.conflist"), JSON.stringify(podNetwork(this.#folder, this.#room.behind)));
    writeFileSync(this.#engineConfig, engineConfig(this.#folder, networks, this.#programs.containers));
    this.#runEngine();
    await this.#engineAnswers();
    const serve = { Cmd: ["httpd", "-f", "-p", "80", "-h", "/www"], ExposedPorts: { "80/tcp": {} } };
    await this.#imageOf(PAUSE, { Cmd: ["sleep", "2147483647"] });
    await this.#imageOf(TestKubernetesNode.image, serve);
  }

  get #engineConfig(): string {
    return join(this.#folder, "containerd.toml");
  }

  #runEngine(): void {
    const bin = join(this.#programs.containers, "usr", "bin");
    this.#control.run("containerd", [join(bin, "containerd"), "--config", this.#engineConfig], {
      PATH: `${bin}:${process.env.PATH}`,
    });
  }

  #engineAnswers(): Promise<unknown> {
    return waitFor(() => this.engineTool("version"), "the container engine", START);
  }

  async #imageOf(name: string, config: object): Promise<void> {
    const path = join(this.#folder, "image.tar");
    await writeImage(path, name, { Env: ["PATH=/bin"], ...config });
    await this.loadImage(path);
  }

  #startAgent(): void {
    const config = this.#write("kubelet.yaml", agentConfig(this.address, this.#room.group, this.#folder));
    this.#write("resolv.conf", "nameserver 127.0.0.1\n");
    this.#part("kubelet", [
      `--config=${config}`,
      `--kubeconfig=${this.config}`,
      `--root-dir=${join(this.#folder, "kubelet")}`,
      `--cert-dir=${this.#folder}`,
      `--hostname-override=${TestKubernetesNode.node}`,
      `--node-ip=${this.address}`,
    ]);
  }

  #startProxy(): void {
    this.#part("kube-proxy", [
      `--config=${this.#write("proxy.yaml", proxyConfig(this.address, this.#room.behind, this.config))}`,
    ]);
  }

  #startPolicies(): void {
    const { policies } = this.#programs;
    if (policies === undefined) return;
    const flags = [`--kubeconfig=${this.config}`, `--hostname-override=${TestKubernetesNode.node}`];
    const command = [policies, ...flags, `--service-cluster-ip-range=${SERVICES}`];
    // Administrators' tools are not in every user's path.
    this.#control.run("policies", command, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
  }

  async #ready(): Promise<void> {
    const found = async (path: string, mark: string): Promise<boolean> => {
      for (const part of ["containerd", "kubelet", "kube-proxy", "kube-controller-manager", "kube-scheduler"])
        this.#control.mustRun(part);
      const { status, text } = await this.#control.call("GET", path);
      return status === 200 && text.includes(mark);
    };
    await waitFor(
      () => found(`/api/v1/nodes/${TestKubernetesNode.node}`, '"reason":"KubeletReady"'),
      "the node to be ready",
      START,
    );
    await waitFor(() => found("/api/v1/namespaces/default/serviceaccounts/default", "uid"), "the controllers", START);
  }

  #part(name: string, flags: readonly string[]): void {
    this.#control.run(name, [this.#programs.node, name, ...flags]);
  }

  #write(name: string, content: string | object): string {
    const path = join(this.#folder, name);
    // JSON is YAML too.
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o600 });
    return path;
  }
}

/** A cable for each pod and no bridge, so that nothing of the machine's own is changed. */
function podNetwork(folder: string, subnet: string): object {
  const ipam = {
    type: "host-local",
    dataDir: join(folder, "addresses"),
    ranges: [[{ subnet }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  return { cniVersion: "1.0.0", name: "pods", plugins: [{ type: "ptp", ipMasq: false, ipam }] };
}

/** Leaves scores of the memory killer unchanged and rare controllers out: containers of tests run without them. */
function engineConfig(folder: string, networks: string, programs: string): string {
  const cri = `plugins."io.containerd.grpc.v1.cri"`;
  return `version = 2
root = "${join(folder, "containers")}"
state = "/run/containerd"
[grpc]
address = "${ENGINE}"
[${cri}]
sandbox_image = "${PAUSE}"
restrict_oom_score_adj = true
disable_apparmor = true
disable_hugetlb_controller = true
tolerate_missing_hugetlb_controller = true
[${cri}.cni]
bin_dir = "${join(programs, "usr", "lib", "cni")}"
conf_dir = "${networks}"
[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.${TestKubernetesNode.runtime}]
runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.${TestKubernetesNode.runtime}.options]
Root = "/run/${TestKubernetesNode.runtime}"
[${cri}.registry]
config_path = "${join(folder, REGISTRIES)}"
`;
}

function agentConfig(address: string, group: string, folder: string): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    readOnlyPort: 0,
    // Its port is reached from this machine only.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    containerRuntimeEndpoint: `unix://${ENGINE}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${group}`,
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    resolvConf: join(folder, "resolv.conf"),
    clusterDomain: "cluster.local",
    clusterDNS: [TestKubernetesNode.names],
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      "memory.available": "100Mi",
      "nodefs.available": "1%",
      "imagefs.available": "1%",
      "nodefs.inodesFree": "1%",
    },
    // As the provider's guide asks of operators.
    podPidsLimit: TestKubernetesNode.mostProcesses,
    volumeStatsAggPeriod: "10s",

    syncFrequency: "10s",
    nodeStatusUpdateFrequency: "5s",
    volumePluginDir: join(folder, "plugins"),
    podLogsDir: join(folder, "logs"),
  };
}

function proxyConfig(address: string, clusterCIDR: string, kubeconfig: string): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    clientConnection: { kubeconfig },
    clusterCIDR,
    hostnameOverride: TestKubernetesNode.node,
    nodePortAddresses: [`${address}/32`],
    oomScoreAdj: 0,
    // Settings of connections belong to the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}
