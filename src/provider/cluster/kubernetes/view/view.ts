import type { Logger } from "../../../../util/index.ts";
import type { NodeCapacity } from "../../contract/index.ts";
import type { KubernetesApi } from "../api/api.ts";
import type { ApiObject } from "../api/objects.ts";
import { addressName, KIND, LABEL, LEASES_SPACE, workloadName } from "../objects/index.ts";
import { type ApiService, type Balanced, balanced } from "./balanced.ts";
import { Followed } from "./followed.ts";
import { type Hindrance, Hindrances } from "./hindrances.ts";
import { type ApiNode, freeOf, type ObservedNode, observeNode } from "./nodes.ts";
import { type ApiPod, type Claim, claimOf, type ObservedPod, observePod } from "./pods.ts";
import { REFUSED_ADDRESSES, REFUSED_PODS, REFUSED_VOLUMES, type Refusal, Refusals } from "./refusals.ts";

/** A program without probe counts as ready when it has run this long. */
const LEAST_RUN_MS = 1_000;

/** A change of a pod of a lease. */
export interface PodChange {
  readonly before: ObservedPod | undefined;
  readonly now: ObservedPod | undefined;
}

interface ApiWorkload extends ApiObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** A deployment's word for pods that are not ready in time. */
const DEADLINE = "ProgressDeadlineExceeded";
/** Characters of a reason that are kept. */
const MAX_TROUBLE = 1_000;

export interface ViewOptions {
  readonly api: KubernetesApi;
  readonly log: Logger;
  /** Value of the label of this provider's objects. */
  readonly provider: string;
  /** Whether addresses that leases of other providers have are followed too. */
  readonly addresses?: boolean;
  /** The pods of a lease changed. */
  readonly moved: (namespace: string, change: PodChange) => void;
  /** A workload or service of a lease is gone, or was changed by another program. */
  readonly touched: (namespace: string, object: string, generation: number | undefined) => void;
}

interface Seen {
  readonly pod: ObservedPod;
  /** Since when its present run is ready, by our clock; long ago if it was ready when we first saw it. */
  readonly readySince: number | undefined;
}

/** The last state that the cluster reported; calls that must not wait are answered from it. */
export class ClusterView {
  readonly #options: ViewOptions;
  readonly #pods = new Map<string, Map<string, Seen>>();
  readonly #claims = new Map<string, Claim>();
  readonly #nodes = new Map<string, ObservedNode>();
  readonly #nodePorts = new Map<string, readonly number[]>();
  readonly #balancers = new Map<string, Balanced & { readonly isOurs: boolean }>();
  /** Names of the records of addresses that leases of other providers have. */
  readonly #others = new Set<string>();
  /** Why a workload cannot make pods, in the cluster's words. */
  readonly #troubles = new Map<string, string>();
  /** Workloads whose pods did not become ready in time. */
  readonly #stalled = new Set<string>();
  readonly #hindrances = new Hindrances();
  readonly #refusals: Refusals;
  readonly #refusedVolumes: Refusals;
  readonly #refusedAddresses: Refusals | undefined;
  readonly #generations = new Map<string, number | undefined>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #followed: readonly Followed<never>[];
  /** Kinds that every statement needs. */
  readonly #needed: readonly Followed<never>[];
  readonly #podsFollowed: Followed<ApiPod>;
  readonly #nodesFollowed: Followed<ApiNode>;

  constructor(options: ViewOptions) {
    this.#options = options;
    const labels = `${LABEL.provider}=${options.provider}`;
    this.#podsFollowed = new Followed<ApiPod>(
      options,
      { resource: KIND.pod },
      {
        all: (objects) => this.#allPods(objects),
        set: (object) => this.#setPod(object, false),
        removed: (object) => this.#removePod(object),
      },
    );
    this.#nodesFollowed = new Followed<ApiNode>(
      options,
      { resource: KIND.node },
      {
        all: (objects) => {
          this.#nodes.clear();
          for (const object of objects) this.#nodes.set(object.metadata.name, observeNode(object));
        },
        set: (object) => this.#nodes.set(object.metadata.name, observeNode(object)),
        removed: ({ metadata }) => this.#nodes.delete(metadata.name),
      },
    );
    const services = new Followed<ApiService>(
      options,
      { resource: KIND.service },
      {
        all: (objects) => {
          this.#nodePorts.clear();
          this.#balancers.clear();
          for (const object of objects) this.#setService(object);
        },
        set: (object) => this.#setService(object),
        removed: (object) => {
          this.#nodePorts.delete(keyOf(object));
          this.#balancers.delete(keyOf(object));
          if (this.#isOurs(object)) this.#touched(KIND.service.kind, object);
        },
      },
    );
    const workloads = [KIND.deployment, KIND.statefulSet].map(
      (resource) =>
        new Followed<ApiWorkload>(
          options,
          { resource, selection: { labels } },
          {
            all: (objects) => this.#workloads(resource.kind, objects),
            set: (object) => this.#setWorkload(resource.kind, object),
            removed: (object) => {
              this.#forgetWorkload(`${resource.kind} ${keyOf(object)}`);
              this.#touched(resource.kind, object);
            },
          },
        ),
    );
    this.#refusals = new Refusals(options, REFUSED_PODS);
    this.#refusedVolumes = new Refusals(options, REFUSED_VOLUMES);
    this.#refusedAddresses = options.addresses === true ? new Refusals(options, REFUSED_ADDRESSES) : undefined;
    this.#needed = [this.#podsFollowed, this.#nodesFollowed, services, ...workloads] as Followed<never>[];
    this.#followed =
      options.addresses === true ? [...this.#needed, this.#followRecords() as Followed<never>] : this.#needed;
  }

  /** Resolves when all kinds were told once. */
  async first(): Promise<void> {
    await Promise.all(this.#needed.map(({ first }) => first));
  }

  /** Whether the reports on pods are up to date. */
  get fresh(): boolean {
    return this.#podsFollowed.fresh;
  }

  /** Why the workload of a service cannot make pods: a quota, or a rule of the cluster's operator. */
  trouble(namespace: string, workload: string): string | undefined {
    return this.#troubles.get(`${KIND.deployment.kind} ${namespace}/${workload}`);
  }

  /** Whether the pods of its new version did not become ready in the time that the cluster gives them. */
  isStalled(namespace: string, workload: string): boolean {
    return this.#stalled.has(`${KIND.deployment.kind} ${namespace}/${workload}`);
  }

  /** The same of a workload with volumes, which does not tell it itself; only while pods are missing. */
  refusal(namespace: string, workload: string): string | undefined {
    return this.#refusals.last(`${namespace}/${workload}`)?.message;
  }

  /** Why the volume of a claim was not made at the last attempt. */
  volumeRefusal(namespace: string, claim: string): string | undefined {
    return this.#refusedVolumes.last(`${namespace}/${claim}`)?.message;
  }

  /** Why a service did not get the address that it asks for when that was last tried. */
  addressRefusal(namespace: string, service: string): Refusal | undefined {
    return this.#refusedAddresses?.last(`${namespace}/${service}`);
  }

  /** An event of a pod, which may report or end an obstacle of its node. */
  told(uid: string, reason: string, message: string): void {
    this.#hindrances.take(uid, reason, message);
  }

  /** The node's obstacle to the pod at its last attempt. */
  hindrance({ uid }: ObservedPod): Hindrance | undefined {
    return this.#hindrances.of(uid);
  }

  /** Whether the reports on nodes, and their pods, are up to date. */
  get hasNodes(): boolean {
    return this.#nodesFollowed.fresh && this.#podsFollowed.fresh;
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const refusals = [this.#refusals, this.#refusedVolumes, this.#refusedAddresses];
    await Promise.all([...this.#followed, ...refusals].map((each) => each?.stop()));
  }

  pods(namespace: string): readonly ObservedPod[] {
    return [...(this.#pods.get(namespace)?.values() ?? [])].map(({ pod }) => pod);
  }

  /** Whether the pod can take work: it is ready, and without a probe it has been for a moment. */
  isReady({ namespace, name }: ObservedPod): boolean {
    const since = this.#pods.get(namespace)?.get(name)?.readySince;
    return since !== undefined && Date.now() - since >= LEAST_RUN_MS;
  }

  /** Nodes that take pods of leases, less other owners' pods. */
  nodes(): NodeCapacity[] {
    const claims = new Map<string, Claim[]>();
    for (const claim of this.#claims.values()) {
      const list = claims.get(claim.node) ?? [];
      list.push(claim);
      claims.set(claim.node, list);
    }
    const open = [...this.#nodes.values()].filter((node) => node.open);
    return open.map((node) => freeOf(node, claims.get(node.name) ?? []));
  }

  /** Whether a node has this name. */
  hasNode(name: string): boolean {
    return this.#nodes.has(name);
  }

  /** Node ports of all services of the cluster. */
  nodePorts(): Set<number> {
    const ports = new Set<number>();
    for (const list of this.#nodePorts.values()) for (const port of list) ports.add(port);
    return ports;
  }

  /** Addresses that the balancer has given to a service. */
  balanced(namespace: string, service: string): readonly string[] {
    return this.#balancers.get(`${namespace}/${service}`)?.given ?? [];
  }

  /** Tells whether another owner than this provider's leases has, or wants, an address. */
  foreign(): (address: string) => boolean {
    const used = new Set<string>();
    for (const { isOurs, given, wanted } of this.#balancers.values()) {
      if (!isOurs) for (const address of [...given, ...wanted]) used.add(address);
    }
    return (address) => used.has(address) || this.#others.has(addressName(address));
  }

  #followRecords(): Followed<ApiObject> {
    const note = (object: ApiObject) => {
      if (this.#isOurs(object)) this.#others.delete(object.metadata.name);
      else this.#others.add(object.metadata.name);
    };
    return new Followed<ApiObject>(
      this.#options,
      { resource: KIND.leasedIp, selection: { namespace: LEASES_SPACE } },
      {
        all: (objects) => {
          this.#others.clear();
          for (const object of objects) note(object);
        },
        set: note,
        removed: ({ metadata }) => this.#others.delete(metadata.name),
      },
    );
  }

  /** It is gone. */
  #touched(kind: string, { metadata }: ApiObject): void {
    this.#options.touched(metadata.namespace ?? "", `${kind}/${metadata.name}`, undefined);
  }

  #isOurs({ metadata }: ApiObject): boolean {
    return metadata.labels?.[LABEL.provider] === this.#options.provider;
  }

  #setService(service: ApiService): void {
    const ports = (service.spec?.ports ?? []).flatMap(({ nodePort }) => (nodePort === undefined ? [] : [nodePort]));
    if (ports.length === 0) this.#nodePorts.delete(keyOf(service));
    else this.#nodePorts.set(keyOf(service), ports);
    if (service.spec?.type === "LoadBalancer")
      this.#balancers.set(keyOf(service), { ...balanced(service), isOurs: this.#isOurs(service) });
    else this.#balancers.delete(keyOf(service));
  }

  #forgetWorkload(key: string): void {
    this.#generations.delete(key);
    this.#troubles.delete(key);
    this.#stalled.delete(key);
  }

  #workloads(kind: string, objects: readonly ApiWorkload[]): void {
    const present = new Set(objects.map((object) => `${kind} ${keyOf(object)}`));
    for (const key of this.#generations.keys()) {
      if (!key.startsWith(`${kind} `) || present.has(key)) continue;
      this.#forgetWorkload(key);
      const [namespace = "", name] = key.slice(kind.length + 1).split("/");
      this.#options.touched(namespace, `${kind}/${name}`, undefined);
    }
    for (const object of objects) this.#setWorkload(kind, object);
  }

  /** A generation counts changes of the wanted state, by anyone. */
  #setWorkload(kind: string, { metadata, status }: ApiWorkload): void {
    const key = `${kind} ${metadata.namespace}/${metadata.name}`;
    const trouble = status?.conditions?.find(({ type, status: is }) => type === "ReplicaFailure" && is === "True");
    if (trouble === undefined) this.#troubles.delete(key);
    else this.#troubles.set(key, (trouble.message ?? "").slice(0, MAX_TROUBLE));
    const isLate = status?.conditions?.some(({ type, reason }) => type === "Progressing" && reason === DEADLINE);
    if (isLate === true) this.#stalled.add(key);
    else this.#stalled.delete(key);
    const before = this.#generations.get(key);
    this.#generations.set(key, metadata.generation);
    if (before === undefined || before === metadata.generation) return;
    this.#options.touched(metadata.namespace ?? "", `${kind}/${metadata.name}`, metadata.generation);
  }

  #allPods(objects: readonly ApiPod[]): void {
    const present = new Set(objects.map(keyOf));
    for (const [namespace, pods] of this.#pods) {
      for (const name of pods.keys()) if (!present.has(`${namespace}/${name}`)) this.#forget(namespace, name);
    }
    for (const key of this.#claims.keys()) if (!present.has(key)) this.#claims.delete(key);
    for (const object of objects) this.#setPod(object, true);
  }

  #setPod(object: ApiPod, isOld: boolean): void {
    if (!this.#isOurs(object)) {
      const claim = claimOf(object);
      if (claim === undefined) this.#claims.delete(keyOf(object));
      else this.#claims.set(keyOf(object), claim);
      return;
    }
    const pod = observePod(object);
    const pods = this.#pods.get(pod.namespace) ?? new Map<string, Seen>();
    this.#pods.set(pod.namespace, pods);
    const known = pods.get(pod.name);
    const before = known?.pod.uid === pod.uid ? known : undefined;
    if (before === undefined && !isOld) this.#refusals.forget(`${pod.namespace}/${workloadName(pod.service)}`);
    pods.set(pod.name, { pod, readySince: this.#readySince(pod, before, isOld) });
    this.#options.moved(pod.namespace, { before: before?.pod, now: pod });
  }

  #readySince(pod: ObservedPod, before: Seen | undefined, isOld: boolean): number | undefined {
    if (!pod.ready) return undefined;
    if (before?.readySince !== undefined && before.pod.container === pod.container) return before.readySince;
    if (pod.probed || (isOld && before === undefined)) return 0;
    // Who waits for it is called when the moment has passed.
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#options.moved(pod.namespace, { before: pod, now: pod });
    }, LEAST_RUN_MS);
    this.#timers.add(timer);
    return Date.now();
  }

  #removePod(object: ApiPod): void {
    this.#claims.delete(keyOf(object));
    if (this.#isOurs(object)) this.#forget(object.metadata.namespace ?? "", object.metadata.name);
  }

  #forget(namespace: string, name: string): void {
    const pods = this.#pods.get(namespace);
    const before = pods?.get(name)?.pod;
    pods?.delete(name);
    if (pods?.size === 0) this.#pods.delete(namespace);
    if (before !== undefined) this.#hindrances.forget(before.uid);
    if (before !== undefined) this.#options.moved(namespace, { before, now: undefined });
  }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
