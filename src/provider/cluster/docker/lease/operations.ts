import { errorText } from "../../../../util/index.ts";
import { clusterErrors, isProbeLease, replicaName } from "../../contract/index.ts";
import { shownBytes } from "../../shared/index.ts";
import type { ContainerState } from "../api/answers.ts";
import {
  engineWords,
  hasLostFiles,
  ignoreNotFound,
  isNotFound,
  isUnreachable,
  type StartReason,
  startReason,
  startSentence,
} from "../api/failure.ts";
import { plainLogTail } from "../api/logs.ts";
import type { DriverContext } from "../context.ts";
import { freeDisk } from "../host/capacity.ts";
import { CommandError } from "../host/command.ts";
import { redirectPorts } from "../host/netns.ts";
import type { Observed, Place } from "../replica/observe.ts";
import type { ServicePlan } from "../replica/plan.ts";
import { killProgram } from "../replica/processes.ts";
import { handlesTerm } from "../replica/readiness.ts";
import { explainExit, KILL_EXIT, killedText, type ReplicaHistory } from "../replica/replica.ts";
import type { LeaseImages } from "./images.ts";
import { isLayerFull, layerFault, makeContainer, remountVolumes } from "./prepare.ts";
import type { LeaseState } from "./state.ts";

/** The replica that an operation is about, in the wanted configuration. */
export interface Target {
  readonly plan: ServicePlan;
  readonly index: number;
  readonly imageId: string;
  readonly config: string;
}

/** Makes and starts a replica's container. Faults are counted and reported, not thrown, unless the engine is away. */
export async function createReplica(state: LeaseState, images: LeaseImages, target: Target): Promise<void> {
  const { plan, index } = target;
  const history = state.history(plan.name, index, target.config);
  if (Date.now() < history.nextStart) return;
  const replica = replicaName(plan.name, index);
  try {
    const id = await makeContainer(state, target);
    state.event({
      type: "Normal",
      reason: "Created",
      note: `container of ${replica} created`,
      service: plan.name,
      replica,
    });
    await startContainer(state, { id, replica, service: plan.name, history, plan });
  } catch (error) {
    if (isUnreachable(error)) throw error;
    if (isNotFound(error) && /image/i.test(errorText(error))) return images.forget(plan.name);
    const isTrial = isProbeLease(state.spec.id);
    if (state.context.limits.refused(engineWords(error), { createdAt: Date.now(), isTrial })) return;
    startFailed(state, { replica, service: plan.name, history }, error);
  }
}

interface StartInput {
  readonly id: string;
  /** The container as it was seen; undefined for one that was just made. */
  readonly unit?: Observed;
  readonly replica: string;
  readonly service: string;
  readonly history: ReplicaHistory;
  /** Undefined for a container of an older manifest, whose ports were set when it was new. */
  readonly plan: ServicePlan;
}

/** Starts a container and makes the ports in `as` work inside it. */
export async function startContainer(state: LeaseState, input: StartInput): Promise<void> {
  const { context } = state;
  const { id, history } = input;
  history.preparing = true;
  history.ready = false;
  try {
    if (input.unit !== undefined) await remountVolumes(state, input.plan, input.unit);
    await context.starts.run(state.spec.id.owner, () => context.api.start(id));
    history.failedStarts = 0;
    history.stopped = false;
    history.killed = false;
    const note = `${input.replica} started`;
    state.event({ type: "Normal", reason: "Started", note, service: input.service, replica: input.replica });
    await afterStart(state, input);
    context.news.started(state.spec.id);
  } catch (error) {
    if (isUnreachable(error)) throw error;
    // A full layer cannot be mounted again: the replica starts afresh.
    if (isLayerFull(error) && !(await isHostFull(state))) return renewLayer(state, input);
    // The next pass creates it again.
    if (isOutdated(state, input, error)) return dropContainer(state, id, input.unit);
    startFailed(state, input, error);
    if (NEEDS_ANOTHER.test(engineWords(error))) await dropContainer(state, id, input.unit);
    else if (isOwnFault(error)) await countFailedStart(state, input);
  } finally {
    history.preparing = false;
  }
}

/** Settings that the engine cannot take beforehand. */
async function afterStart(state: LeaseState, input: StartInput): Promise<void> {
  const started = await state.context.api.inspect(input.id);
  try {
    const fault = await layerFault(state, started.pid, input.plan);
    if (fault !== undefined) throw clusterErrors.refused(fault);
    await claimPorts(state, started);
  } catch (error) {
    await dropContainer(state, input.id, input.unit);
    throw error;
  }
  await redirect(state, started.pid, input.plan);
}

/** Rejects if a container that just started would not get the connections to its ports. */
async function claimPorts(state: LeaseState, { id, addresses, ports }: ContainerState): Promise<void> {
  const { api, engineRules, naming } = state.context;
  const address = addresses.get(naming.network(state.namespace));
  // One that has ended again has neither.
  if (address === undefined || ports.size === 0) return;
  const isRunning = (other: string) => api.inspect(other).then(({ running }) => running, isGone);
  await engineRules.claim({ id, address, ports }, isRunning);
}

/** For `catch`: an object unknown to the engine is gone. */
function isGone(error: unknown): boolean {
  if (isNotFound(error)) return false;
  throw error;
}

/** Below this many bytes a disk has no room for the next container. */
const FULL_DISK = 16n << 20n;

/** Whether the disk itself is full, and not only the replica's part. */
async function isHostFull({ context, spec }: LeaseState): Promise<boolean> {
  return isProbeLease(spec.id) || ((await freeDisk(context)) ?? FULL_DISK) < FULL_DISK;
}

/** Whether the container asks for an init process or limits that the engine cannot give, and another one will not. */
function isOutdated({ context, spec }: LeaseState, { unit }: StartInput, error: unknown): boolean {
  const refused = { createdAt: unit?.createdAt ?? Date.now(), isTrial: isProbeLease(spec.id) };
  return context.init.isLacking(error, refused) || context.limits.refused(engineWords(error), refused);
}

/** Another program has taken a published port meanwhile, or a device is gone: a new container gets another. */
const NEEDS_ANOTHER = /address already in use|port is already allocated|unresolvable CDI|CDI device injection/i;

/** Reasons of failed starts whose words about absent files may mean the container's own. All others are the host's. */
const OWN_REASONS: ReadonlySet<StartReason> = new Set(["engine", "mount", "program"]);
/** The file system of the layer itself is damaged, as `mount` says. */
const DAMAGED_LAYER = /\.layer\.mnt: .*(?:bad superblock|structure needs cleaning)/i;

function isOwnFault(error: unknown): boolean {
  if (error instanceof CommandError) return DAMAGED_LAYER.test(error.message);
  return OWN_REASONS.has(startReason(error)) && hasLostFiles(error);
}

/** After the last try the container goes and its volumes stay; a later pass makes it anew. */
async function countFailedStart(state: LeaseState, input: StartInput): Promise<void> {
  const { id, replica, service, history } = input;
  const { api, settings } = state.context;
  if (++history.failedStarts < settings.limits.failedStarts) return;
  // Its log goes with it.
  const words = await plainLogTail(api, id, 5).catch(() => "");
  const text = `${replica} could not be started ${history.failedStarts} times in a row; its container is created again`;
  const note = words === "" ? text : `${text}; last output: ${words}`;
  await dropContainer(state, id, input.unit);
  history.failedStarts = 0;
  state.event({ type: "Warning", reason: "Failed", note, service, replica });
  state.notices.say("a container cannot be started and is created again", { replica });
}

async function renewLayer(state: LeaseState, input: StartInput): Promise<void> {
  const { replica, service, history } = input;
  history.error = `${replica} had filled its ephemeral storage of ${shownBytes(input.plan.layerLimit)} and starts again empty`;
  history.countFailure(Date.now());
  state.event({ type: "Warning", reason: "Evicted", note: history.error, service, replica });
  await dropContainer(state, input.id, input.unit);
}

/** Removes a container that another one follows. Its volumes stay for that one, unless they are of another generation. */
async function dropContainer(state: LeaseState, id: string, place?: Place): Promise<void> {
  await state.context.api.remove(id).catch(ignoreNotFound);
  if (place === undefined || place.generation === state.spec.generation) return;
  await removeVolumes(state, place);
}

/** Removes the volumes that do not outlive a container. */
function removeVolumes({ context, namespace }: LeaseState, { service, index, generation }: Place): Promise<void> {
  return context.volumes.removeReplica(namespace, `${replicaName(service, index)}-g${generation}`);
}

export async function applyRedirects(state: LeaseState, id: string, plan: ServicePlan): Promise<void> {
  if (plan.redirects.length === 0 || state.network === undefined) return;
  const { pid } = await state.context.api.inspect(id);
  await redirect(state, pid, plan);
}

async function redirect(state: LeaseState, pid: number, plan: ServicePlan): Promise<void> {
  if (plan.redirects.length === 0 || state.network === undefined || pid <= 0) return;
  await redirectPorts(pid, plan.redirects, state.network);
}

interface FailedStart {
  readonly replica: string;
  readonly service: string;
  readonly history: ReplicaHistory;
}

function startFailed(state: LeaseState, input: FailedStart, error: unknown): void {
  const { replica, service, history } = input;
  const { context, spec } = state;
  context.news.failed(spec.id, error);
  state.notices.say("a container could not be started", { replica, err: engineWords(error) });
  history.error = `${replica} could not be started: ${startSentence(error)}`;
  const delay = history.countFailure(Date.now());
  const note = `${history.error}; next try in ${Math.round(delay / 1000)} s`;
  state.event({ type: "Warning", reason: "Failed", note, service, replica });
}

interface ExitFacts {
  /** The limit, bytes. */
  readonly memory: bigint;
  /** Why the program never began, where that is known. */
  readonly cause: string | undefined;
}

/** Takes note of a container that ended by itself, and of the time it may be started again. */
export function accountExit(state: LeaseState, unit: Observed, { memory, cause }: ExitFacts): void {
  const history = state.historyOf(unit);
  if (history.stopped || !history.isNewExit(unit)) return;
  const replica = replicaName(unit.service, unit.index);
  const { reason, text, isGuess } = explainExit(unit, memory, history.killed);
  history.guessedAt = isGuess ? Date.now() : undefined;
  const delay = history.countExit(unit, Date.now());
  history.error = cause === undefined ? `${replica}: ${text}` : `${replica} could not be started: ${cause}`;
  history.ready = false;
  const base = { type: "Warning" as const, service: unit.service, replica };
  state.event({ ...base, reason: reason === "OOMKilled" ? reason : "Failed", note: history.error });
  state.event({ ...base, reason: "BackOff", note: `${replica} restarts in ${Math.round(delay / 1000)} s` });
  state.notices.say("a container ended and starts again", { reason: history.error, seconds: Math.round(delay / 1000) });
}

/** Notes a signal from the host to a container. Under load the engine reports it after the end. */
export function accountKill(state: LeaseState, unit: Observed): void {
  const history = state.historyOf(unit);
  if (!history.noteKill(Date.now())) return;
  const replica = replicaName(unit.service, unit.index);
  const note = `${replica}: ${killedText(KILL_EXIT)}`;
  if (history.error !== undefined) history.error = note;
  state.event({ type: "Warning", reason: "Failed", note, service: unit.service, replica });
}

/** The runtime has lost its own files about the container, and reaches its program no more. */
const FORGOTTEN = /sending sig|container does not exist/i;

/** TERM, grace, KILL; a program that does not handle TERM is not waited for. */
export async function stopContainer(state: LeaseState, unit: Observed): Promise<void> {
  const { context } = state;
  const history = state.historyOf(unit);
  history.stop();
  // Routing stops before the replica is asked to stop.
  history.ready = false;
  context.moved(state.spec.id);
  // Podman calls one that it could not stop "stopping", and would remove it without its program.
  if (!unit.running && unit.pid <= 1) return;
  const replica = replicaName(unit.service, unit.index);
  state.event({ type: "Normal", reason: "Killing", note: `stopping ${replica}`, service: unit.service, replica });
  const grace = (await handlesTerm(unit.pid)) ? context.settings.timing.stopGrace / 1000 : 0;
  try {
    await context.api.stop(unit.id, Math.ceil(grace)).catch(ignoreNotFound);
  } catch (error) {
    if (FORGOTTEN.test(engineWords(error)) && (await killProgram(unit))) return;
    // It still runs, and is needed until the call succeeds.
    history.stopped = false;
    throw error;
  }
}

/** Stops and removes a container with the volumes that do not outlive it. */
export async function removeContainer(state: LeaseState, unit: Observed): Promise<void> {
  state.leaving.add(unit.id);
  try {
    await stopContainer(state, unit);
    await state.context.api.remove(unit.id).catch(ignoreNotFound);
    await removeVolumes(state, unit);
  } finally {
    state.leaving.delete(unit.id);
  }
}

/** Undoes a roll-out that failed: the reason and the new program's last words go into the record and the events. */
export async function abandonRollout(state: LeaseState, unit: Observed): Promise<void> {
  const history = state.historyOf(unit);
  const cause = history.error ?? history.reason ?? "it was not ready in time";
  const words = await plainLogTail(state.context.api, unit.id, 5).catch(() => "");
  const error = `update to generation ${unit.generation} failed and was undone: ${cause}`;
  await state.update((record) => ({
    ...record,
    failed: { ...record.failed, [unit.service]: { config: unit.config, error } },
  }));
  const note = words === "" ? error : `${error}; last output: ${words}`;
  state.event({ type: "Warning", reason: "UpdateFailed", note, service: unit.service });
  await removeContainer(state, unit);
}

/** Removes a container that is there only according to the engine; the next pass makes another. */
export async function replaceLost(state: LeaseState, unit: Place, loss: string): Promise<void> {
  const replica = replicaName(unit.service, unit.index);
  const history = state.historyOf(unit);
  history.ready = false;
  history.error = `${replica}: ${loss}`;
  await dropContainer(state, unit.id, unit);
  history.restarts++;
  history.countFailure(Date.now());
  state.event({
    type: "Warning",
    reason: "Failed",
    note: `${history.error}; it is created again`,
    service: unit.service,
    replica,
  });
  state.notices.say("a container is gone and is created again", { reason: history.error });
}

/** Replaces a container that wrote more than its ephemeral storage allows. */
export async function evict(state: LeaseState, unit: Observed, used: bigint, limit: bigint): Promise<void> {
  const replica = replicaName(unit.service, unit.index);
  const history = state.historyOf(unit);
  history.error = `${replica} was removed for writing ${shownBytes(used)} of its ${shownBytes(limit)} ephemeral storage`;
  history.countFailure(Date.now());
  state.event({ type: "Warning", reason: "Evicted", note: history.error, service: unit.service, replica });
  await removeContainer(state, unit);
}

/** Removes what a lease has besides its containers and ports: network, rules and volumes. */
export async function removeSurroundings(context: DriverContext, namespace: string): Promise<void> {
  const { api, naming, firewall, engineRules, volumes } = context;
  const network = naming.network(namespace);
  await api.removeNetwork(network).catch(ignoreNotFound);
  await firewall.forget(namespace);
  await engineRules.forget(network);
  await volumes.removeLease(namespace);
}
