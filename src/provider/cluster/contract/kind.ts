import type { Logger, ReadSetting, SettingTable } from "../../../util/index.ts";
import type { ClusterCheck, ProviderOffer } from "./check.ts";
import type { ClusterDriver } from "./driver.ts";
import type { PortCarrier, PortRange } from "./ports.ts";

/** Percentages by which leases may have more than is kept for them. */
export interface LeaseOvercommit {
  readonly cpu: number;
  readonly memory: number;
  readonly storage: number;
}

/** Settings of a provider that concern leases on every kind of cluster. */
export interface ClusterSettings {
  /** The provider's folder in its home; the driver has its own folder below it. */
  readonly stateDir: string;
  /** Address of the provider whose leases these are, for clusters that several providers may share. */
  readonly provider?: string;
  readonly overcommit?: LeaseOvercommit;
  /** Host name at which tenants reach node ports. */
  readonly publicHostname?: string;
  readonly nodePorts?: PortRange;
  /** Carrier of node ports, where the cluster leaves them to the provider. */
  readonly carrier?: PortCarrier;
  /** Lets leases use images that exist only on the cluster; for localnets. */
  readonly allowLocalImages?: boolean;
  /** Milliseconds between asking a program to end and ending it. */
  readonly stopGraceMs?: number;
  /** How this program is started; a driver adds the word of its helper process. */
  readonly program?: Program;
  /** Whether containers get users of their own where the cluster supports that; they do not by default. */
  readonly userNamespaces?: boolean;
  /** The cluster's name for the runtime of leases; the cluster chooses by default. */
  readonly runtime?: string;
  readonly log?: Logger;
}

/** A command with its arguments. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/** A cluster that answers. */
export interface FoundCluster {
  readonly address: string;
  /** The name of its software, for people. */
  readonly kind: string;
  readonly version: string;
}

/** Parts of a cluster's work that are its own or this machine's. */
export interface ClusterCapabilities {
  /** Whether the cluster carries host names and node ports itself, so that no process of this machine has to. */
  readonly carriesTraffic: boolean;
  /** Address of this machine on which node ports listen; undefined if they are ports of other machines. */
  readonly nodePortAddress?: string;
  /** Whether a container can be tried (`ClusterProbe`). */
  readonly tries: boolean;
}

/** A cluster of a kind, with the settings of its operator. */
export interface Cluster {
  readonly capabilities: ClusterCapabilities;
  /** The cluster at the settings' address, or at the first usual place that answers. Rejects with the tried places. */
  find(): Promise<FoundCluster>;
  /** Opens the cluster at the address that `find` resolved with. */
  open(settings: ClusterSettings & { readonly address: string }): Promise<ClusterDriver>;
  /** Checks for `svc provider check`: whether the cluster answers, and whether it has what the settings and the offer name. */
  checks(offer: ProviderOffer): Promise<readonly ClusterCheck[]>;
  /** Puts a small image that serves a page on the cluster, unless it exists, and returns its name; for localnets. */
  sampleImage?(address: string): Promise<string>;
}

/** Objects that a kind of cluster needs before a provider can use it; the settings name their place. */
export interface ClusterInstallation {
  readonly namespace: string;
  /** The objects in the order in which they are made. */
  objects(): Promise<readonly object[]>;
  /** Creates missing objects and updates changed ones; idempotent. */
  install(): Promise<readonly InstalledObject[]>;
  /**
   * The missing parts for this account, in one sentence; undefined if there are none. Rejects if they cannot be told.
   */
  lacks(): Promise<string | undefined>;
}

export interface InstalledObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly result: "created" | "changed" | "unchanged";
}

/** A kind of cluster that providers can run on. Its settings are flags, variables and rows of the reference. */
export interface ClusterKind {
  /** Its word in `--cluster <name>`. */
  readonly name: string;
  /** Heading of its settings in the help. */
  readonly heading: string;
  /** Its page for operators, a path in the repository. */
  readonly page: string;
  /** Folder of the driver's own in the provider's folder. */
  readonly folder: string;
  /** Settings for the cluster's place: commands that open one take them, and one of them chooses the kind. */
  readonly places: SettingTable;
  /** All other settings of the kind. */
  readonly settings: SettingTable;
  /** Settings by which a localnet's provider uses it, as flags. */
  readonly localnetFlags: readonly string[];
  /** Reads the settings, and throws if they are wrong; asks no cluster. */
  configure(read: ReadSetting): Cluster;
  /** The preparation of clusters of this kind, with its own settings. */
  readonly installation?: {
    readonly settings: SettingTable;
    configure(read: ReadSetting): ClusterInstallation;
  };
}
