import type { ContainerCreateOptions } from "dockerode";
import { errorText, type Logger, Mutex } from "../../../../util/index.ts";
import { clusterErrors, type GpuCapacity, type GpuWish, gpuName, isWantedGpu } from "../../contract/index.ts";
import type { EngineApi } from "../api/api.ts";
import type { EngineHealth } from "../api/health.ts";
import { LABEL, type Labels, type Naming } from "../labels.ts";
import { ALIAS_FOLDER, aliasMapping, aliasSpecs, writeAliases } from "./alias.ts";
import { type GpuDevice, gpuDevices, gpuKinds } from "./devices.ts";
import { type GpuModel, NVIDIA_FOLDER, nvidiaModels } from "./models.ts";
import { CDI_FOLDERS, readSpecs } from "./specs.ts";

const HIDES_ALL = { NVIDIA_VISIBLE_DEVICES: "void" } as const;

export interface GpuOptions {
  readonly api: Pick<EngineApi, "listLabelled" | "info">;
  readonly health: Pick<EngineHealth, "kind">;
  readonly naming: Naming;
  readonly log: Logger;
  /** The operator's models, by device or kind. */
  readonly models: ReadonlyMap<string, GpuModel>;
  /** Folders with descriptions of devices. */
  readonly folders?: readonly string[];
}

/** The kinds of graphics processors in this machine's descriptions, whether the engine accepts them or not. */
export async function describedGpus(): Promise<GpuCapacity[]> {
  const { specs } = await readSpecs(CDI_FOLDERS);
  return gpuKinds(gpuDevices(specs, { named: new Map(), detected: await nvidiaModels(NVIDIA_FOLDER) }), gpuName);
}

/** GPUs that one replica needs. */
export interface GpuNeed {
  readonly units: number;
  readonly wishes: readonly GpuWish[];
}

/** The replica that takes devices; devices of its own ending containers count as its own. */
export interface GpuOwner {
  readonly namespace: string;
  readonly service: string;
  readonly index: number;
}

/** Devices of the replica's containers, and devices of others. */
interface DevicesInUse {
  readonly own: ReadonlySet<string>;
  readonly others: ReadonlySet<string>;
}

/** The part of the create call that gives a container its devices. */
export type GpuConfig = Pick<NonNullable<ContainerCreateOptions["HostConfig"]>, "Devices" | "DeviceRequests">;

export interface TakenGpus {
  readonly config: GpuConfig;
  /** Labels that name the devices on the container, which reserves them. */
  readonly labels: Labels;
}

/**
 * The graphics processors of this machine, from descriptions of the Container Device Interface (CDI). A container
 * reserves a device by a label with its name, whoever made it, and its removal frees the device: the engine is the only
 * record, so a crash cannot make records disagree.
 */
export class Gpus {
  readonly #options: GpuOptions;
  readonly #picks = new Mutex();
  /** Devices of containers that the engine is making. */
  readonly #promised = new Set<string>();
  #said = "";
  #forced: Readonly<Record<string, string>> = {};

  constructor(options: GpuOptions) {
    this.#options = options;
  }

  /** Whether the engine answers; device descriptions made at run time are gone after a reboot. */
  async look(runtimes: readonly string[]): Promise<void> {
    this.#forced = runtimes.some((name) => /nvidia/i.test(name)) ? HIDES_ALL : {};
    await this.devices();
  }

  /** With NVIDIA's runtime as the engine's own, a tenant's variable would give a container every device. */
  get forced(): Readonly<Record<string, string>> {
    return this.#forced;
  }

  async kinds(): Promise<GpuCapacity[]> {
    return gpuKinds(await this.devices(), gpuName);
  }

  /** Devices that containers can get now; logs the reason for unusable ones. */
  async devices(): Promise<GpuDevice[]> {
    const { folders = CDI_FOLDERS, models } = this.#options;
    const { specs, faults } = await readSpecs(folders);
    const devices = gpuDevices(specs, { named: models, detected: await nvidiaModels(NVIDIA_FOLDER) });
    const obstacle = devices.length === 0 ? undefined : await this.#obstacle(specs);
    this.#say(obstacle === undefined ? devices : [], obstacle === undefined ? faults : [...faults, obstacle]);
    return obstacle === undefined ? devices : [];
  }

  /**
   * Picks free devices and makes the container that carries them. They are picked for one at a time, so that no two
   * containers get the same. Throws one sentence where there are not enough.
   */
  async take(owner: GpuOwner, need: GpuNeed, make: (taken: TakenGpus) => Promise<string>): Promise<string> {
    if (need.units === 0) return make({ config: {}, labels: {} });
    const names = await this.#picks.run(() => this.#promise(owner, need));
    try {
      return await make(this.#taken(names));
    } finally {
      for (const name of names) this.#promised.delete(name);
    }
  }

  /** Removes the files written for the engine. */
  forget(): void {
    this.#alias(new Map());
  }

  /** A promised device may have no container yet in the engine's answer. */
  async #promise(owner: GpuOwner, need: GpuNeed): Promise<string[]> {
    const promised = [...this.#promised];
    const { own, others } = await this.#inUse(owner);
    const names = await this.#pick(need, { own, others: new Set([...others, ...promised]) });
    for (const name of names) this.#promised.add(name);
    return names;
  }

  async #pick({ units, wishes }: GpuNeed, { own, others }: DevicesInUse): Promise<string[]> {
    const free = (await this.devices()).filter(
      (each) => !others.has(each.name) && isWantedGpu({ ...each, count: 1n }, wishes),
    );
    for (const kind of new Set(free.map(gpuName))) {
      const some = free.filter((each) => gpuName(each) === kind);
      // An update keeps the devices that the replica had.
      const picked = [...some.filter(({ name }) => own.has(name)), ...some.filter(({ name }) => !own.has(name))];
      if (picked.length >= units) return picked.slice(0, units).map(({ name }) => name);
    }
    throw clusterErrors.refused(`${units} GPUs of one kind wanted, but fewer are free on this host`);
  }

  async #inUse(owner: GpuOwner): Promise<DevicesInUse> {
    const own = new Set<string>();
    const others = new Set<string>();
    for (const { labels } of await this.#options.api.listLabelled(LABEL.gpus)) {
      const set = isOwn(labels, owner, this.#options.naming.prefix) ? own : others;
      for (const name of (labels[LABEL.gpus] ?? "").split(",")) set.add(name);
    }
    return { own, others };
  }

  #taken(names: readonly string[]): TakenGpus {
    const { health, naming } = this.#options;
    const labels = { [LABEL.gpus]: names.join(",") };
    if (health.kind === "podman") {
      return { config: { Devices: names.map((name) => aliasMapping(naming.prefix, name)) }, labels };
    }
    return { config: { DeviceRequests: [{ Driver: "cdi", DeviceIDs: [...names] }] }, labels };
  }

  /** Why the engine cannot give devices to containers; undefined where it can. */
  async #obstacle(specs: Parameters<typeof aliasSpecs>[1]): Promise<string | undefined> {
    const { api, health, naming } = this.#options;
    if (health.kind === "podman")
      return this.#alias(
        aliasSpecs(
          naming.prefix,
          specs.filter(({ kind }) => kind.endsWith("/gpu")),
        ),
      );
    const { takesCdi } = await api.info();
    return takesCdi
      ? undefined
      : "the container engine gives containers no CDI devices: Docker does from version 25 on, with the feature cdi";
  }

  #alias(files: ReturnType<typeof aliasSpecs>): string | undefined {
    try {
      writeAliases(ALIAS_FOLDER, this.#options.naming.prefix, files);
      return undefined;
    } catch (error) {
      return `GPUs cannot be described to the container engine in ${ALIAS_FOLDER}: ${errorText(error)}`;
    }
  }

  #say(devices: readonly GpuDevice[], faults: readonly string[]): void {
    const { log } = this.#options;
    const text = JSON.stringify([devices, faults]);
    if (text === this.#said || (devices.length === 0 && faults.length === 0 && this.#said === "")) return;
    this.#said = text;
    for (const fault of faults) log.warn("GPUs are not offered", { err: fault });
    log.info("GPUs found", { gpus: devices.map((each) => `${each.name} ${gpuName(each)}`).join(", ") || "none" });
  }
}

function isOwn(labels: Labels, { namespace, service, index }: GpuOwner, prefix: string): boolean {
  return (
    labels[LABEL.home] === prefix &&
    labels[LABEL.namespace] === namespace &&
    labels[LABEL.service] === service &&
    labels[LABEL.replica] === index.toString()
  );
}
