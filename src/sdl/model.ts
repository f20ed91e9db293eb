import type { Dec } from "../util/index.ts";
import type { Attribute, HttpOptions, ManifestCredentials } from "./manifest.ts";
import type { Place } from "./report.ts";

/** A parsed deployment file, each part with its place. */
export interface SdlFile {
  readonly version: SdlVersion;
  readonly services: ReadonlyMap<string, ServiceDecl>;
  readonly endpoints: ReadonlyMap<string, Place>;
  readonly compute: ReadonlyMap<string, ComputeDecl>;
  readonly placements: ReadonlyMap<string, PlacementDecl>;
  /** Sorted by service, then placement. */
  readonly deployments: readonly DeploymentDecl[];
  /** Seconds of warning that a provider must give before it ends a lease; 0 where the file asks for none. */
  readonly reclaimMinWindowSeconds: bigint;
}

export type SdlVersion = "2.0" | "2.1";

export interface ServiceDecl {
  readonly name: string;
  readonly place: Place;
  readonly image: string;
  readonly command: readonly string[] | null;
  readonly args: readonly string[] | null;
  readonly env: readonly string[] | null;
  readonly expose: readonly ExposeDecl[];
  readonly params: ParamsDecl | undefined;
  readonly credentials: ManifestCredentials | null;
}

export interface ExposeDecl {
  readonly place: Place;
  readonly port: number;
  /** 0 means "as `port`". */
  readonly externalPort: number;
  readonly proto: "TCP" | "UDP";
  readonly hosts: readonly HostDecl[];
  readonly httpOptions: HttpOptions;
  readonly to: readonly ToDecl[];
}

export interface HostDecl {
  readonly name: string;
  readonly place: Place;
}

export interface ToDecl {
  readonly place: Place;
  /** Empty means every service of the deployment. */
  readonly service: string;
  readonly global: boolean;
  /** Name of a leased address, or empty. */
  readonly ip: string;
}

export interface ParamsDecl {
  readonly mounts: readonly MountDecl[];
  readonly permissions: readonly string[] | undefined;
  readonly permissionsPlace: Place | undefined;
  readonly tee: string | undefined;
  readonly place: Place;
}

export interface MountDecl {
  readonly volume: string;
  readonly place: Place;
  readonly mount: string;
  readonly readOnly: boolean;
}

export interface ComputeDecl {
  readonly name: string;
  readonly place: Place;
  /** Thousandths of a core. */
  readonly cpu: bigint;
  readonly cpuAttributes: readonly Attribute[];
  /** Bytes. */
  readonly memory: bigint;
  /** In the order of the file, which is the order of the manifest: a total order that needs no rule for equal sizes. */
  readonly volumes: readonly VolumeDecl[];
  readonly gpu: bigint;
  readonly gpuAttributes: readonly Attribute[];
  /** Name of the group whose GPUs are on one fast network, one replica on each host; absent where the file asks for none. */
  readonly interconnect?: string;
}

export interface VolumeDecl {
  readonly name: string;
  readonly place: Place;
  /** Bytes. */
  readonly size: bigint;
  /** Sorted by key. */
  readonly attributes: readonly Attribute[];
  readonly persistent: boolean;
  readonly ram: boolean;
}

export interface PlacementDecl {
  readonly name: string;
  readonly place: Place;
  /** Sorted by key. */
  readonly attributes: readonly Attribute[];
  readonly allOf: readonly AuditorDecl[];
  readonly anyOf: readonly AuditorDecl[];
  /** By compute profile. */
  readonly pricing: ReadonlyMap<string, PriceDecl>;
}

export interface AuditorDecl {
  /** bech32, of any network. */
  readonly address: string;
  readonly place: Place;
}

/** Highest price of one replica per block. */
export interface PriceDecl {
  readonly place: Place;
  readonly denom: string;
  readonly amount: Dec;
}

export interface DeploymentDecl {
  readonly service: string;
  readonly placement: string;
  readonly profile: string;
  readonly count: number;
  /** Place of the placement's name under the service. */
  readonly place: Place;
  readonly servicePlace: Place;
  readonly profilePlace: Place;
}
