import { basename } from "node:path";
import { isProbeLease, replicaName } from "../../contract/index.ts";
import { shownBytes } from "../../shared/index.ts";
import { EngineFailure } from "../api/failure.ts";
import type { Lack } from "../host/fullness.ts";
import { isLayerSized, LAYER, layerKey, moveWritable } from "../host/layers.ts";
import { seccompOption } from "../host/seccomp.ts";
import { giveFolder, usersOption } from "../host/users.ts";
import type { VolumeKey } from "../host/volumes.ts";
import { LABEL } from "../labels.ts";
import { containerOptions } from "../replica/container.ts";
import { seldomChecked } from "../replica/health-check.ts";
import type { Observed } from "../replica/observe.ts";
import { planService, type ServicePlan } from "../replica/plan.ts";
import { checkImageVolumes } from "./images.ts";
import type { FullVolume, LeaseState } from "./state.ts";

/** A replica about to be made. */
export interface NewReplica {
  readonly plan: ServicePlan;
  readonly index: number;
  readonly imageId: string;
  readonly config: string;
}

/** Programs that reap orphans themselves; some must be the first process. */
const INITS: ReadonlySet<string> = new Set([
  "init",
  "tini",
  "tini-static",
  "dumb-init",
  "docker-init",
  "catatonit",
  "s6-svscan",
  "systemd",
  "runit-init",
]);

/** Makes the container of a replica on volumes and a layer of their sizes; returns its id. It is not started. */
export async function makeContainer(state: LeaseState, target: NewReplica): Promise<string> {
  const { context } = state;
  const layer = prepareLayer(state, target);
  // If one of the two fails, the other must still be awaited.
  layer.catch(() => {});
  const id = await context.starts.run(state.spec.id.owner, () => createContainer(state, target));
  await layer;
  if (isSized(state)) await sizeLayer(state, target, id);
  return id;
}

async function createContainer(state: LeaseState, target: NewReplica): Promise<string> {
  const { context, spec } = state;
  const first = context.users.first(state.namespace);
  const [folders, files, { words, volumes, healthCheck }] = await Promise.all([
    prepareVolumes(state, target, first),
    prepareFiles(state, target),
    context.api.imageProgram(target.imageId),
  ]);
  const { service, tmpfs } = target.plan;
  const mounted = new Set([...target.plan.volumes, ...tmpfs].map(({ mount }) => mount));
  const replicas = spec.group.services.reduce((sum, each) => sum + each.count, 0);
  checkImageVolumes(service.image, { declared: volumes, mounted, replicas });
  const init = needsInit(target, words);
  const engine = context.health.kind;
  const seccomp = seccompOption(engine, context.settings.stateDir);
  const users = first === 0 ? undefined : usersOption(first);
  const { forced } = context.gpus;
  const input = {
    ...target,
    spec,
    folders,
    files,
    engine,
    seccomp,
    users,
    forced,
    ulimits: context.limits.ulimits,
    healthCheck: seldomChecked(healthCheck),
  };
  const owner = { namespace: state.namespace, service: target.plan.name, index: target.index };
  const create = (withInit: boolean) =>
    context.gpus.take(owner, target.plan.gpu, (gpus) =>
      context.api.create(containerOptions({ ...input, init: withInit, gpus }, context.settings, context.naming)),
    );
  const isTrial = isProbeLease(spec.id);
  try {
    return await create(init && context.init.isThere).catch((error) => {
      if (!init || !context.init.isLacking(error, { createdAt: Date.now(), isTrial })) throw error;
      return create(false);
    });
  } catch (error) {
    const text = error instanceof EngineFailure ? `${error.message} ${error.detail}` : "";
    if (!context.users.refused(text, { isTrial })) throw error;
    return createContainer(state, target);
  }
}

async function sizeLayer(state: LeaseState, target: NewReplica, id: string): Promise<void> {
  const { context } = state;
  const { upper, imageVolumes } = await context.api.inspect(id);
  const key = layerKey(state.namespace, generationOwner(target, state.spec.generation), target.plan.layerLimit);
  try {
    await moveWritable(context.volumes, key, { engine: context.health.kind, upper, imageVolumes });
  } catch (error) {
    await context.api.remove(id).catch(() => {});
    throw error;
  }
}

/** Why a container that just started may not continue; undefined where its layer has its size. */
export async function layerFault(state: LeaseState, pid: number, plan: ServicePlan): Promise<string | undefined> {
  if (!isSized(state) || pid <= 0) return undefined;
  const sized = await isLayerSized(pid, plan.layerLimit);
  return sized ? undefined : "the engine keeps its writable layer where its size cannot be limited";
}

/** Mounts the volumes of a stopped container again: after a restart of the host they are not. */
export async function remountVolumes(state: LeaseState, plan: ServicePlan, unit: Observed): Promise<void> {
  for (const key of volumeKeys(state, plan, unit)) await ensureVolume(state, key);
}

/** Makes a persistent volume once in the life of a lease: later it must be there, for example because its disk is mounted again. */
async function ensureVolume(state: LeaseState, key: VolumeKey): Promise<string> {
  const made = `${key.replica}.${key.volume.name}`;
  const isMade = state.record.volumes.includes(made);
  const folder = await state.context.volumes.ensure(key, { isMade });
  if (key.volume.persistent && !isMade)
    await state.update((record) => ({ ...record, volumes: [...record.volumes, made] }));
  return folder;
}

/** All that a replica writes to and that has a size. */
function volumeKeys(state: LeaseState, plan: ServicePlan, unit: Observed): VolumeKey[] {
  const { namespace } = state;
  const replica = replicaName(unit.service, unit.index);
  const ownGeneration = `${replica}-g${unit.labels[LABEL.generation] ?? ""}`;
  const volumes = plan.volumes.map((volume) => ({
    namespace,
    replica: volume.persistent ? replica : ownGeneration,
    volume,
  }));
  return isSized(state) ? [...volumes, layerKey(namespace, ownGeneration, plan.layerLimit)] : volumes;
}

/** Tells the tenant when a volume or layer is full, and when it is no longer: once each. */
export async function noteFullVolumes(state: LeaseState): Promise<void> {
  const before = state.full;
  const full = new Map<string, FullVolume>();
  const freed: FullVolume[] = [];
  const seen = new Set<string>();
  for (const { unit, key } of volumesInUse(state)) {
    const name = `${key.replica}.${key.volume.name}`;
    seen.add(name);
    const known = before.get(name);
    const lack = await state.context.volumes.lackOf(key, known !== undefined);
    if (lack !== undefined) full.set(name, known ?? fullVolume(unit, key, lack));
    else if (known !== undefined) freed.push(known);
  }
  const services = new Set(state.spec.group.services.map(({ name }) => name));
  // A volume outlives its containers, and is as full for the next one.
  for (const [name, known] of before) {
    if (!seen.has(name) && known.outlives && services.has(known.service)) full.set(name, known);
  }
  state.full = full;
  for (const [name, { text, service, replica }] of full) {
    if (!before.has(name)) state.event({ type: "Warning", reason: "StorageFull", note: text, service, replica });
  }
  for (const { what, service, replica } of freed) {
    state.event({ type: "Normal", reason: "StorageFreed", note: `${what} has room again`, service, replica });
  }
}

function volumesInUse(state: LeaseState): { readonly unit: Observed; readonly key: VolumeKey }[] {
  return state.spec.group.services.map(planService).flatMap((plan) => {
    const units = state.units.filter(({ service }) => service === plan.name);
    return units.flatMap((unit) => volumeKeys(state, plan, unit).map((key) => ({ unit, key })));
  });
}

function fullVolume({ service, index }: Observed, { volume }: VolumeKey, lack: Lack): FullVolume {
  const replica = replicaName(service, index);
  const [what, remedy] =
    volume.name === LAYER
      ? [
          `the ephemeral storage of ${replica}`,
          "delete files outside of its volumes, or deploy again with more storage",
        ]
      : [`volume ${volume.name} of ${replica}`, "delete files in it, or deploy again with a larger one"];
  const state = lack === "room" ? `is full (${shownBytes(volume.size)})` : "has as many files as it can";
  return { service, replica, what, text: `${what} ${state}: ${remedy}`, outlives: volume.persistent };
}

/** Whether a start failed because the replica has filled its own layer. */
export function isLayerFull(error: unknown): boolean {
  return error instanceof EngineFailure && /no space left on device/i.test(error.detail);
}

function isSized(state: LeaseState): boolean {
  return state.context.settings.volumeSizeEnforcement === "loop";
}

function generationOwner({ plan, index }: NewReplica, generation: number): string {
  return `${replicaName(plan.name, index)}-g${generation}`;
}

/** `first` is the user whose volumes they are. */
async function prepareVolumes(
  state: LeaseState,
  { plan, index }: NewReplica,
  first: number,
): Promise<Map<string, string>> {
  const folders = new Map<string, string>();
  const replica = replicaName(plan.name, index);
  for (const volume of plan.volumes) {
    const owner = volume.persistent ? replica : `${replica}-g${state.spec.generation}`;
    const key = { namespace: state.namespace, replica: owner, volume };
    const folder = await ensureVolume(state, key);
    await giveFolder(folder, first);
    folders.set(volume.name, folder);
  }
  return folders;
}

/** A new container never gets another one's data. */
async function prepareLayer(state: LeaseState, target: NewReplica): Promise<void> {
  if (!isSized(state)) return;
  const { volumes } = state.context;
  const key = layerKey(state.namespace, generationOwner(target, state.spec.generation), target.plan.layerLimit);
  await volumes.discard(key);
  await volumes.ensure(key);
}

/**
 * Files that engines would bind from the host's disk, replaced by read-only files of ours: a program could fill the
 * disk through the host's files, and would read the names in them.
 */
async function prepareFiles(state: LeaseState, target: NewReplica): Promise<Map<string, string>> {
  const { namespace, network, context } = state;
  const owner = generationOwner(target, state.spec.generation);
  const hostname = replicaName(target.plan.name, target.index).slice(0, 63);
  const podman = context.health.kind === "podman";
  // Docker answers names on its own address inside the container.
  const resolver = podman ? (network?.gateway ?? "") : "127.0.0.11";
  const texts: [path: string, text: string][] = [
    ["/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"],
    ["/etc/hostname", `${hostname}\n`],
    ["/etc/resolv.conf", `nameserver ${resolver}\noptions ndots:0\n`],
    ...(podman ? [["/run/.containerenv", ""] as [string, string]] : []),
  ];
  const files = texts.map(async ([path, text]): Promise<[string, string]> => {
    const name = `${owner}.${basename(path).replace(/^\./, "")}.file`;
    return [path, await context.volumes.writeFile(namespace, name, text)];
  });
  return new Map(await Promise.all(files));
}

function needsInit({ plan }: NewReplica, words: readonly string[]): boolean {
  const own = plan.service.command ?? [];
  const [program = ""] = own.length > 0 ? own : words;
  return !INITS.has(basename(program));
}
