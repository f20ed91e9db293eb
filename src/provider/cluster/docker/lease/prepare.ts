import { basename } from "node:path";
import { replicaName } from "../../contract/index.ts";
import { EngineFailure } from "../api/failure.ts";
import { isLayerSized, layerKey, moveWritable } from "../host/layers.ts";
import { seccompOption } from "../host/seccomp.ts";
import { giveFolder, usersOption } from "../host/users.ts";
import { LABEL } from "../labels.ts";
import { containerOptions } from "../replica/container.ts";
import { seldomChecked } from "../replica/health-check.ts";
import type { Observed } from "../replica/observe.ts";
import type { ServicePlan } from "../replica/plan.ts";
import { checkImageVolumes } from "./images.ts";
import type { LeaseState } from "./state.ts";

/** A replica about to be made. */
export interface NewReplica {
  readonly plan: ServicePlan;
  readonly index: number;
  readonly imageId: string;
  readonly config: string;
}

/** Programs that take over orphans themselves; some of them insist on being the first process. */
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
  // If one of the two fails, somebody must still wait for the other.
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
    healthCheck: seldomChecked(healthCheck),
  };
  const owner = { namespace: state.namespace, service: target.plan.name, index: target.index };
  const create = (withInit: boolean) =>
    context.gpus.take(owner, target.plan.gpu, (gpus) =>
      context.api.create(containerOptions({ ...input, init: withInit, gpus }, context.settings, context.naming)),
    );
  try {
    return await create(init && context.init.isThere).catch((error) => {
      if (!init || !context.init.isLacking(error)) throw error;
      return create(false);
    });
  } catch (error) {
    const text = error instanceof EngineFailure ? `${error.message} ${error.detail}` : "";
    if (!context.users.refused(text)) throw error;
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

/** Whether the volumes of a stopped container are mounted again: after a restart of the host they are not. */
export async function remountVolumes(state: LeaseState, plan: ServicePlan, unit: Observed): Promise<void> {
  const { volumes } = state.context;
  const replica = replicaName(unit.service, unit.index);
  const ownGeneration = `${replica}-g${unit.labels[LABEL.generation] ?? ""}`;
  for (const volume of plan.volumes) {
    const owner = volume.persistent ? replica : ownGeneration;
    await volumes.ensure({ namespace: state.namespace, replica: owner, volume });
  }
  if (isSized(state)) await volumes.ensure(layerKey(state.namespace, ownGeneration, plan.layerLimit));
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
    const folder = await state.context.volumes.ensure(key);
    await giveFolder(folder, first);
    folders.set(volume.name, folder);
  }
  return folders;
}

/** A new container never gets what another one has left. */
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
