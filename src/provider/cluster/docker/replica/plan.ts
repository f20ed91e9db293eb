import { createHash } from "node:crypto";
import type { ManifestExpose, ManifestService } from "../../../../sdl/index.ts";
import { externalPort, isPersistent, isRam, parseGpuWish, replicaName } from "../../contract/index.ts";
import type { GpuNeed } from "../gpu/index.ts";

/** A port of a container: `80/tcp`. */
export interface ContainerPort {
  readonly port: number;
  readonly proto: "tcp" | "udp";
}

/** `as` in front of a port that the program itself listens on, for the other services of the lease. */
export interface Redirect {
  readonly from: number;
  readonly to: number;
  readonly proto: "tcp" | "udp";
}

export interface VolumePlan {
  readonly name: string;
  readonly mount: string;
  /** Bytes. */
  readonly size: bigint;
  readonly readOnly: boolean;
  readonly persistent: boolean;
}

/** A service of the manifest in the terms of one container. */
export interface ServicePlan {
  readonly name: string;
  readonly service: ManifestService;
  /** Thousandths of a core. */
  readonly cpu: number;
  /** Bytes, memory volumes included. */
  readonly memory: bigint;
  readonly published: readonly ContainerPort[];
  readonly redirects: readonly Redirect[];
  readonly volumes: readonly VolumePlan[];
  readonly tmpfs: readonly { readonly mount: string; readonly size: bigint }[];
  /** Bytes that the writable layer may hold. */
  readonly layerLimit: bigint;
  /** TCP ports; a replica is ready as soon as one accepts connections. */
  readonly readyPorts: readonly number[];
  readonly gpu: GpuNeed;
  /** Two replicas cannot share a volume or a GPU, so an update stops the old one first. */
  readonly stopFirst: boolean;
}

/** Where all storage is mounted elsewhere: mount points, process ids and sockets still lie in the layer. */
const LEAST_LAYER = 16n << 20n;

export function planService(service: ManifestService): ServicePlan {
  const mounts = new Map((service.params?.storage ?? []).map((entry) => [entry.name, entry]));
  const volumes: VolumePlan[] = [];
  const tmpfs: { mount: string; size: bigint }[] = [];
  let layerLimit = 0n;
  for (const storage of service.resources.storage) {
    const size = BigInt(storage.size.val);
    const target = mounts.get(storage.name);
    if (target === undefined) layerLimit += size;
    else if (isRam(storage)) tmpfs.push({ mount: target.mount, size });
    else {
      const { mount, readOnly } = target;
      volumes.push({ name: storage.name, mount, size, readOnly, persistent: isPersistent(storage) });
    }
  }
  const gpu = gpuNeed(service);
  const ram = tmpfs.reduce((sum, volume) => sum + volume.size, 0n);
  return {
    name: service.name,
    service,
    cpu: Number(service.resources.cpu.units.val),
    memory: BigInt(service.resources.memory.size.val) + ram,
    published: publishedPorts(service.expose),
    redirects: redirectsOf(service.expose),
    volumes,
    tmpfs,
    layerLimit: layerLimit === 0n ? LEAST_LAYER : layerLimit,
    readyPorts: [...new Set(service.expose.filter((expose) => expose.proto === "TCP").map((expose) => expose.port))],
    gpu,
    stopFirst: volumes.length > 0 || gpu.units > 0,
  };
}

/** Names of the persistent volumes of all replicas, such as `db-0.data`. */
export function persistentVolumes(services: readonly ManifestService[]): string[] {
  return services.flatMap((service) => {
    const volumes = planService(service).volumes.filter(({ persistent }) => persistent);
    const replicas = Array.from({ length: service.count }, (_, index) => replicaName(service.name, index));
    return replicas.flatMap((replica) => volumes.map(({ name }) => `${replica}.${name}`));
  });
}

function gpuNeed({ resources: { gpu } }: ManifestService): GpuNeed {
  return { units: Number(gpu.units.val), wishes: (gpu.attributes ?? []).map(({ key }) => parseGpuWish(key)) };
}

/** Global ports are reached from the host, over ports published on loopback. */
function publishedPorts(exposes: readonly ManifestExpose[]): ContainerPort[] {
  const ports = new Map<string, ContainerPort>();
  for (const expose of exposes) {
    if (!expose.global) continue;
    const port: ContainerPort = { port: expose.port, proto: expose.proto === "UDP" ? "udp" : "tcp" };
    ports.set(portKey(port), port);
  }
  return [...ports.values()];
}

/** Where two exposes claim one external port, the one whose program listens there, else the first, has it. */
function redirectsOf(exposes: readonly ManifestExpose[]): Redirect[] {
  const taken = new Set(
    exposes.filter((expose) => expose.port === externalPort(expose)).map((expose) => `${expose.port}/${expose.proto}`),
  );
  const redirects: Redirect[] = [];
  for (const expose of exposes) {
    const from = externalPort(expose);
    const key = `${from}/${expose.proto}`;
    if (taken.has(key)) continue;
    taken.add(key);
    redirects.push({ from, to: expose.port, proto: expose.proto === "UDP" ? "udp" : "tcp" });
  }
  return redirects;
}

export function portKey(port: ContainerPort): string {
  return `${port.port}/${port.proto}`;
}

/** Identity of a container's configuration: replicas with the same text need no replacement. */
export function configHash(plan: ServicePlan, imageId: string): string {
  const { service } = plan;
  const parts = [
    imageId,
    service.command,
    service.args,
    service.env,
    plan.cpu,
    plan.memory.toString(),
    plan.published,
    plan.redirects,
    plan.volumes.map((volume) => ({ ...volume, size: volume.size.toString() })),
    plan.tmpfs.map((volume) => ({ ...volume, size: volume.size.toString() })),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}
