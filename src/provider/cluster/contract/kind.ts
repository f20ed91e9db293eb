import type { Logger } from "../../../util/index.ts";
import type { GpuCapacity, StoragePool } from "./capacity.ts";
import type { PortCarrier } from "./carrier.ts";
import type { ClusterDriver } from "./driver.ts";
import type { GpuModel } from "./gpu.ts";
import type { PortRange } from "./ports.ts";

/** A registry that the operator allows wherever it is. */
export interface AllowedRegistry {
  /** As in names of images, with its port where it is not the usual one. */
  readonly host: string;
  /** Whether it is asked over `http://`, without encryption. */
  readonly plain: boolean;
}

/** Limits on the images of leases. Sizes are bytes of disk. */
export interface ImageSettings {
  readonly registries: readonly AllowedRegistry[];
  /** Of one image, packed and unpacked. */
  readonly imageBytes: bigint;
  /** Of all images of a lease. */
  readonly leaseBytes: bigint;
  /** How long an image that no lease uses is kept. */
  readonly keepMs: number;
}

/** A Gateway of the Gateway API. */
export interface GatewayName {
  readonly namespace: string;
  readonly name: string;
}

export const INGRESSES = ["cluster", "provider", "forward"] as const;

/** The ingress in front of leases on an orchestrator. */
export interface IngressSettings {
  /** Whose it is; with `forward` the provider's, which reaches pods through the cluster's API and not its network. */
  readonly by: (typeof INGRESSES)[number];
  /** Which of the cluster's; its default where none is named. */
  readonly className?: string;
  /** The Gateway that takes requests, where the cluster routes by those and not by Ingress objects. */
  readonly gateway?: GatewayName;
  /** How browsers reach the cluster's. */
  readonly scheme?: "http" | "https";
  /** Who issues certificates for host names, where the cluster has such a program and TLS is on. */
  readonly issuer?: string;
  readonly port?: number;
}

/** Standards of Kubernetes for pods; `restricted` runs no image as root. */
export type PodSecurity = "restricted" | "baseline";

/** What the operator has set for the cluster. Each kind of cluster takes the settings that concern it. */
export interface ClusterSettings {
  /** The provider's folder in its home; the driver has its own folder below it. */
  readonly stateDir: string;
  /** Address of the provider whose leases these are, for clusters that several providers may share. */
  readonly provider?: string;
  /** Who brings requests for host names to leases, where the cluster has its own ingress. */
  readonly ingress?: IngressSettings;
  /** What programs of leases may be on an orchestrator; `restricted` where nothing is said. */
  readonly podSecurity?: PodSecurity;
  /** Per cent by which leases may have more than is kept for them. */
  readonly overcommit?: { readonly cpu: number; readonly memory: number; readonly storage: number };
  /** Where the cluster answers; undefined: at the usual places. */
  readonly address?: string;
  /** Host name at which tenants reach node ports. */
  readonly publicHostname?: string;
  readonly nodePorts?: PortRange;
  /** Addresses that leases can have as their own, each once. */
  readonly leasedIps?: readonly string[];
  /** Address of the host on which node ports listen. */
  readonly nodePortAddress?: string;
  /** Whether the kernel of this machine carries node ports where it can; it does not by default. */
  readonly kernelPorts?: boolean;
  /** What carries node ports, where the cluster leaves that to the provider. */
  readonly carrier?: PortCarrier;
  /** Lets leases use images that exist only on the cluster; for localnets. */
  readonly allowLocalImages?: boolean;
  /** Whether sizes of volumes are enforced; true by default. */
  readonly sizedVolumes?: boolean;
  /** Time between asking a program to end and ending it. */
  readonly stopGraceMs?: number;
  readonly images?: ImageSettings;
  /** How this program is started as the one that weighs layers of images, where the driver fetches them itself. */
  readonly weigher?: WeigherProgram;
  /** Whether containers get users of their own where this machine can do that; they do not by default. */
  readonly userNamespaces?: boolean;
  /** The cluster's name for the runtime of leases; where it is missing, the cluster chooses. */
  readonly runtime?: string;
  /** Models of GPUs by device, where the machine does not say or the operator knows better. */
  readonly gpuModels?: ReadonlyMap<string, GpuModel>;
  readonly log?: Logger;
}

/** First argument of the program for the process that weighs layers of images. */
export const WEIGHER_WORD = "layer-weigher";

/** A command with its arguments. */
export interface WeigherProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/** A cluster that answers. */
export interface FoundCluster {
  readonly address: string;
  /** What it is, for people: `podman`, `docker`, ... */
  readonly kind: string;
  readonly version: string;
}

/** What a kind of cluster needs on it before a provider can use it. */
export interface ClusterInstallation {
  /** What it is made of, in order; `namespace` is that of the provider itself. */
  objects(namespace: string): Promise<readonly object[]>;
  /** Makes what is missing or another; the second time nothing changes. */
  install(namespace: string, address?: string): Promise<readonly InstalledObject[]>;
  /** What is missing for this account, in one sentence; undefined where nothing is. Rejects if that cannot be told. */
  lacks(address?: string): Promise<string | undefined>;
}

export interface InstalledObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly result: "created" | "changed" | "unchanged";
}

/** Something that the settings need on the cluster and the provider does not make itself: the class of ingresses, for example. */
export interface ClusterPart {
  /** What it is, in two words. */
  readonly name: string;
  /** Resolves with what was found, or rejects with the fault and its remedy. */
  look(): Promise<string>;
}

/** Who has addresses of a pool; the rest is left for leases. */
export interface PoolUse {
  readonly leased: number;
  /** Of others on the cluster. */
  readonly foreign: number;
}

/** A kind of cluster that providers can run on. */
export interface ClusterKind {
  readonly name: string;
  /** Whether it is an orchestrator of many machines (`--cluster-orch`) rather than this host. */
  readonly orchestrator: boolean;
  /** The cluster at the address, or at the first usual place where one answers. Rejects with what was tried. */
  find(address?: string): Promise<FoundCluster>;
  open(settings: ClusterSettings & { readonly address: string }): Promise<ClusterDriver>;
  /** Graphics processors that it has, taken or not, by kind; models as the cluster itself names them. */
  gpus(address?: string): Promise<readonly GpuCapacity[]>;
  /** What the settings name on a cluster of the kind. */
  parts?(settings: Pick<ClusterSettings, "address" | "ingress" | "runtime">): Promise<readonly ClusterPart[]>;
  /** Classes of storage that leases can claim, where the cluster has such. */
  storage?(address?: string): Promise<readonly StoragePool[]>;
  /** Who has addresses of the pool for leases, where these can have addresses of their own. */
  poolUse?(pool: readonly string[], address?: string): Promise<PoolUse>;
  /** Where clusters of the kind are prepared first. */
  readonly installation?: ClusterInstallation;
}

/** A kind of cluster that is only this machine, as in localnets. */
export interface HostCluster extends ClusterKind {
  readonly orchestrator: false;
  /** Puts a small image that serves a page on the cluster, unless it exists, and returns its name. */
  sampleImage(address: string): Promise<string>;
}
