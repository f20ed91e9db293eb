import type { ContainerState } from "../api/answers.ts";
import type { EngineApi, LabelledContainer } from "../api/api.ts";
import { hasLostFiles, isNotFound } from "../api/failure.ts";
import { LABEL, type Labels } from "../labels.ts";
import { checkPorts } from "./readiness.ts";

/** The place of a container in its lease, as its labels tell it. */
export interface Place {
  readonly id: string;
  readonly service: string;
  readonly index: number;
  readonly generation: number;
  readonly config: string;
}

/** A container of a lease as last seen. */
export interface Observed extends ContainerState, Place {
  readonly readyPorts: readonly number[];
}

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, for people. */
  readonly reason?: string;
}

/** All containers with the labels, fresh from the engine. */
export async function observeContainers(api: EngineApi, labels: Labels): Promise<Observed[]> {
  const listed = await api.listContainers(labels);
  const states = await Promise.all(listed.map((entry) => inspectIfPresent(api, entry.id)));
  return states.filter((state) => state !== undefined).map(observed);
}

/** A container may go between the list and the look at it. */
async function inspectIfPresent(api: EngineApi, id: string): Promise<ContainerState | undefined> {
  try {
    return await api.inspect(id);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Containers that the engine lists and cannot describe because they have lost files. */
export async function damagedContainers(
  api: Pick<EngineApi, "listContainers" | "inspect">,
  labels: Labels,
): Promise<Place[]> {
  const listed = await api.listContainers(labels);
  const isDamaged = (id: string) => api.inspect(id).then(() => false, hasLostFiles);
  const looks = await Promise.all(listed.map(async (entry) => ((await isDamaged(entry.id)) ? [placed(entry)] : [])));
  return looks.flat();
}

function placed({ id, labels }: LabelledContainer): Place {
  return {
    id,
    service: labels[LABEL.service] ?? "",
    index: Number(labels[LABEL.replica]),
    generation: Number(labels[LABEL.generation]),
    config: labels[LABEL.config] ?? "",
  };
}

export function observed(state: ContainerState): Observed {
  const ports = state.labels[LABEL.readyPorts] ?? "";
  return {
    ...state,
    ...placed(state),
    readyPorts: ports === "" ? [] : ports.split(",").map(Number),
  };
}

/** Ready: it runs, its own health check does not complain, and it accepts connections or has run for a while. */
export async function readinessOf(unit: Observed, minRunning: number): Promise<Readiness> {
  if (!unit.running) return { ready: false };
  if (unit.health === "unhealthy") return { ready: false, reason: "the image's health check fails" };
  if (unit.readyPorts.length > 0) return checkPorts(unit.pid, unit.readyPorts, unit.ports);
  return { ready: Date.now() - unit.startedAt >= minRunning };
}
