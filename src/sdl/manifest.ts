/**
 * The manifest: the document that a tenant sends to the provider of its lease. Field names, order of lists and the
 * meaning of null equal the ecosystem's manifest JSON, because the chain holds its hash (see `hash.ts`).
 */

/** An integer as decimal text inside an object, as the ecosystem prints resource amounts. */
export interface ResourceValue {
  readonly val: string;
}

export interface Attribute {
  readonly key: string;
  readonly value: string;
}

export interface ManifestEndpoint {
  /** 0 (shared HTTP) is left out of the JSON. */
  readonly kind?: 1 | 2;
  readonly sequence_number: number;
}

export interface ManifestStorage {
  readonly name: string;
  readonly size: ResourceValue;
  readonly attributes?: readonly Attribute[];
}

/** Resources of one replica. */
export interface ManifestResources {
  readonly id: number;
  /** Thousandths of a core. */
  readonly cpu: { readonly units: ResourceValue; readonly attributes?: readonly Attribute[] };
  /** Bytes. */
  readonly memory: { readonly size: ResourceValue; readonly attributes?: readonly Attribute[] };
  readonly storage: readonly ManifestStorage[];
  readonly gpu: { readonly units: ResourceValue; readonly attributes?: readonly Attribute[] };
  readonly endpoints: readonly ManifestEndpoint[];
}

/** Behaviour of the HTTP ingress; sizes in bytes, times in milliseconds. */
export interface HttpOptions {
  readonly maxBodySize: number;
  readonly readTimeout: number;
  readonly sendTimeout: number;
  readonly nextTries: number;
  readonly nextTimeout: number;
  readonly nextCases?: readonly string[];
  readonly proxyBufferSize?: number;
}

export interface ManifestExpose {
  /** Port inside the container. */
  readonly port: number;
  /** Port outside; 0 means "as `port`". */
  readonly externalPort: number;
  readonly proto: "TCP" | "UDP";
  /** The service that may connect, or empty for all of the lease. */
  readonly service: string;
  readonly global: boolean;
  readonly hosts: readonly string[] | null;
  readonly httpOptions: HttpOptions;
  readonly ip: string;
  readonly endpointSequenceNumber: number;
}

export interface ManifestCredentials {
  readonly host: string;
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

export interface ManifestStorageParams {
  readonly name: string;
  readonly mount: string;
  readonly readOnly: boolean;
}

export interface ManifestServiceParams {
  readonly storage: readonly ManifestStorageParams[] | null;
  readonly permissions?: { readonly read: readonly string[] };
  readonly tee?: string;
}

/** One service: its image, command, environment, resources and open ports. */
export interface ManifestService {
  readonly name: string;
  readonly image: string;
  /** Entrypoint; null keeps the image's. */
  readonly command: readonly string[] | null;
  /** Arguments of the entrypoint; null keeps the image's. */
  readonly args: readonly string[] | null;
  /** `NAME=value` or `NAME`. */
  readonly env: readonly string[] | null;
  readonly resources: ManifestResources;
  readonly count: number;
  readonly expose: readonly ManifestExpose[];
  readonly params?: ManifestServiceParams;
  readonly credentials: ManifestCredentials | null;
}

/** The services of one placement. */
export interface ManifestGroup {
  readonly name: string;
  readonly services: readonly ManifestService[];
}

/** All groups of a deployment, sorted by name. */
export type Manifest = readonly ManifestGroup[];
