import { createHash } from "node:crypto";
import type { ManifestExpose, ManifestService } from "../../../sdl/index.ts";
import type { LeaseSpec } from "../driver.ts";
import { clusterErrors } from "../errors.ts";
import { externalPort, isNodePortExpose, isPersistent, isRam } from "../expose.ts";
import { parseReference } from "./reference.ts";

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
  /** TCP ports that make a replica ready as soon as one of them accepts. */
  readonly readyPorts: readonly number[];
  /** Two replicas cannot share a volume, so an update stops the old one first. */
  readonly stopFirst: boolean;
}

/** Engines refuse memory limits below this many bytes. */
const MIN_MEMORY = 6n << 20n;

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
    layerLimit,
    readyPorts: [...new Set(service.expose.filter((expose) => expose.proto === "TCP").map((expose) => expose.port))],
    stopFirst: volumes.length > 0,
  };
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

/** Identity of what a container is made from: two replicas with the same text need no replacement. */
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

/** What the machine can do, for the refusal of specs that can never run. */
export interface Abilities {
  readonly allowLocalImages: boolean;
  /** Why sized volumes cannot be had, or undefined. */
  readonly noVolumes: string | undefined;
}

/** Throws on specs that this driver can never run, naming the service and the remedy. */
export function checkSpec(spec: LeaseSpec, abilities: Abilities): void {
  for (const service of spec.group.services) {
    const refuse = (text: string) => clusterErrors.unsupported(`service "${service.name}": ${text}`);
    const image = parseReference(service.image);
    if (image.local && !abilities.allowLocalImages) {
      throw clusterErrors.imageRefused(
        `service "${service.name}": image ${service.image} exists on the provider's machine alone; push it to a registry`,
      );
    }
    const { resources } = service;
    if (BigInt(resources.gpu.units.val) > 0n) throw refuse("GPUs are not available on a single host engine");
    if (BigInt(resources.memory.size.val) < MIN_MEMORY)
      throw refuse("memory is below the least possible, write 6Mi or more");
    if (service.expose.some((expose) => expose.ip !== "")) throw refuse("leased IP addresses are not available here");
    checkPorts(spec, service, refuse);
    checkVolumes(service, abilities, refuse);
  }
}

type Refuse = (text: string) => Error;

function checkPorts(spec: LeaseSpec, service: ManifestService, refuse: Refuse): void {
  for (const expose of service.expose.filter(isNodePortExpose)) {
    const assigned = spec.ports.some(
      (entry) => entry.service === service.name && entry.port === expose.port && entry.proto === expose.proto,
    );
    if (!assigned) throw refuse(`port ${expose.port} has no host port assigned`);
  }
}

function checkVolumes(service: ManifestService, abilities: Abilities, refuse: Refuse): void {
  const mounts = service.params?.storage ?? [];
  for (const storage of service.resources.storage) {
    const mount = mounts.find((entry) => entry.name === storage.name)?.mount;
    if (mount === undefined) {
      if (isPersistent(storage))
        throw refuse(`persistent volume "${storage.name}" has no mount; give it one in params.storage`);
      continue;
    }
    if (!mount.startsWith("/") || mount.includes(":")) {
      throw refuse(`volume "${storage.name}" is mounted at "${mount}"; write an absolute path without colon`);
    }
    if (isRam(storage)) continue;
    if (BigInt(storage.size.val) < 1n << 20n) throw refuse(`volume "${storage.name}" is smaller than 1Mi`);
    if (abilities.noVolumes !== undefined) throw refuse(`volume "${storage.name}": ${abilities.noVolumes}`);
  }
}
