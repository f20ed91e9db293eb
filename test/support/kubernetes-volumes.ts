import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readKubeconfig } from "../../src/provider/cluster/kubernetes/access/kubeconfig.ts";
import { KubernetesApi } from "../../src/provider/cluster/kubernetes/api/api.ts";
import type { ApiObject, Resource } from "../../src/provider/cluster/kubernetes/api/objects.ts";
import { CAPACITY_ANNOTATION } from "../../src/provider/cluster/kubernetes/capacity.ts";
import { KIND } from "../../src/provider/cluster/kubernetes/objects/index.ts";
import { quantity } from "../../src/provider/cluster/kubernetes/view/quantity.ts";
import type { Fixture } from "./fixture.ts";
import { TestKubernetesNode } from "./kubernetes-node.ts";

const CLAIM: Resource = { apiVersion: "v1", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims" };
const VOLUME: Resource = { apiVersion: "v1", kind: "PersistentVolume", plural: "persistentvolumes" };
const IS_DEFAULT = "storageclass.kubernetes.io/is-default-class";
const PROVISIONER = "folders.example.com";

interface ApiClaim extends ApiObject {
  readonly spec?: {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
  readonly status?: { readonly phase?: string };
}

interface ApiVolume extends ApiObject {
  readonly spec?: { readonly claimRef?: { readonly namespace?: string } };
  readonly status?: { readonly phase?: string };
}

/**
 * The default storage class of the cluster and who makes its volumes, as others do for the disks of nodes: each is a folder on the node,
 * made when a pod that claims it has been given the node, and removed with its claim.
 */
export class TestVolumes {
  /** Where the folders of the volumes are. */
  readonly folder: string;
  readonly #class: string;
  /** Bytes that it has altogether. */
  readonly #bytes: bigint;
  readonly #api: KubernetesApi;
  readonly #stop = new AbortController();
  readonly #made = new Map<string, bigint>();
  readonly #refused = new Set<string>();
  #over: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, api: KubernetesApi, { name, bytes }: { name: string; bytes: bigint }) {
    this.folder = folder;
    this.#api = api;
    this.#class = name;
    this.#bytes = bytes;
  }

  /** Offers the class with a capacity, whatever there is of it. */
  static async start(
    fixture: Fixture,
    bed: TestKubernetesNode,
    what: { readonly name: string; readonly bytes: bigint; readonly offered: string },
  ): Promise<TestVolumes> {
    const api = new KubernetesApi(readKubeconfig(bed.config), { pauseMs: 50, maxPauseMs: 500 });
    const made = new TestVolumes(fixture.tempHome(`volumes-${what.name}`), api, what);
    const annotations = { [CAPACITY_ANNOTATION]: what.offered, [IS_DEFAULT]: "true" };
    const metadata = { name: what.name, annotations };
    const object: ApiObject = {
      metadata,
      ...{ provisioner: PROVISIONER, volumeBindingMode: "WaitForFirstConsumer", reclaimPolicy: "Delete" },
    };
    await api.apply(KIND.storageClass, object);
    made.#over = Promise.all([made.#answerClaims(), made.#removeReleased()]);
    fixture.defer(() => made.#close());
    return made;
  }

  /** Names of the volumes that belong to claims of a namespace. */
  async of(namespace: string): Promise<string[]> {
    const { objects } = await this.#api.list<ApiVolume>(VOLUME);
    return objects.flatMap(({ metadata, spec }) => (spec?.claimRef?.namespace === namespace ? [metadata.name] : []));
  }

  async #close(): Promise<void> {
    this.#stop.abort();
    await this.#over;
    this.#api.close();
  }

  async #answerClaims(): Promise<void> {
    for await (const change of this.#api.watch<ApiClaim>(CLAIM, {}, this.#stop.signal)) {
      const claims = change.type === "all" ? change.objects : change.type === "set" ? [change.object] : [];
      for (const claim of claims) if (this.#isWaiting(claim)) await this.#answer(claim);
    }
  }

  /** A pod has a node, and only lacks this claim. */
  #isWaiting({ metadata, spec, status }: ApiClaim): boolean {
    const node = metadata.annotations?.["volume.kubernetes.io/selected-node"];
    return spec?.storageClassName === this.#class && status?.phase === "Pending" && node === TestKubernetesNode.node;
  }

  async #answer(claim: ApiClaim): Promise<void> {
    const name = `pvc-${claim.metadata.uid}`;
    if (this.#made.has(name) || this.#refused.has(name)) return;
    const bytes = quantity(claim.spec?.resources?.requests?.storage);
    const used = [...this.#made.values()].reduce((sum, each) => sum + each, 0n);
    if (used + bytes > this.#bytes) {
      this.#refused.add(name);
      await this.#refuse(claim, `failed to provision volume with StorageClass "${this.#class}": not enough free space`);
      return;
    }
    this.#made.set(name, bytes);
    await this.#make(name, claim);
  }

  async #make(name: string, { metadata, spec }: ApiClaim): Promise<void> {
    const path = join(this.folder, name);
    mkdirSync(path, { mode: 0o755 });
    const own = {
      matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [TestKubernetesNode.node] }],
    };
    const { namespace, uid, name: claim } = metadata;
    const volume: ApiObject = {
      metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
      ...{
        spec: {
          capacity: { storage: spec?.resources?.requests?.storage },
          accessModes: ["ReadWriteOnce"],
          storageClassName: this.#class,
          persistentVolumeReclaimPolicy: "Delete",
          claimRef: { apiVersion: "v1", kind: CLAIM.kind, namespace, name: claim, uid },
          local: { path },
          nodeAffinity: { required: { nodeSelectorTerms: [own] } },
        },
      },
    };
    await this.#api.apply(VOLUME, volume);
  }

  /** Provisioners record on the claim why they make no volume. */
  async #refuse({ metadata }: ApiClaim, message: string): Promise<void> {
    const { name, namespace = "", uid } = metadata;
    const now = new Date().toISOString();
    const event: ApiObject = {
      metadata: { name: `${name}.${uid}`, namespace },
      ...{ type: "Warning", reason: "ProvisioningFailed", message, firstTimestamp: now, lastTimestamp: now, count: 1 },
      ...{ involvedObject: { apiVersion: "v1", kind: CLAIM.kind, namespace, name, uid } },
    };
    await this.#api.apply(KIND.event, event);
  }

  async #removeReleased(): Promise<void> {
    for await (const change of this.#api.watch<ApiVolume>(VOLUME, {}, this.#stop.signal)) {
      const volumes = change.type === "all" ? change.objects : change.type === "set" ? [change.object] : [];
      for (const { metadata, status } of volumes) {
        if (status?.phase !== "Released" || !this.#made.has(metadata.name)) continue;
        rmSync(join(this.folder, metadata.name), { recursive: true, force: true });
        await this.#api.delete(VOLUME, { name: metadata.name });
        this.#made.delete(metadata.name);
      }
    }
  }
}
