import { type LeaseHealth, type ReplicaStatus, replicaName, type ServiceStatus } from "../../contract/index.ts";
import type { Observed } from "../replica/observe.ts";
import { configHash, planService, type ServicePlan } from "../replica/plan.ts";
import { validPin } from "./images.ts";
import type { LeaseState } from "./state.ts";

/** Health of a lease from the last observation; `known` is false while the engine does not answer. */
export function leaseHealth(state: LeaseState, known: boolean): LeaseHealth {
  const services = state.spec.group.services.map((service) => serviceStatus(state, planService(service)));
  if (!known) return { health: "unknown", services };
  const ok = services.every((service) => service.available >= service.total);
  return { health: ok ? "ok" : "bad", services };
}

/** Address of a published port on loopback, as a list of zero or one. */
export function readyPort(unit: Observed, key: string): string[] {
  const port = unit.ports.get(key);
  return port === undefined ? [] : [`127.0.0.1:${port}`];
}

function serviceStatus(state: LeaseState, plan: ServicePlan): ServiceStatus {
  const pin = validPin(state.record, plan);
  const config = pin === undefined ? undefined : configHash(plan, pin.imageId);
  const units = state.units.filter((unit) => unit.service === plan.name);
  const indexes = Array.from({ length: plan.service.count }, (_, index) => index);
  const replicas = indexes.map((index) => {
    const mine = units.filter((unit) => unit.index === index);
    return replicaStatus(
      state,
      plan,
      index,
      mine.find((unit) => isReady(state, unit)) ?? mine.find((unit) => unit.config === config) ?? mine[0],
    );
  });
  const updated = indexes.filter((index) =>
    units.some((unit) => unit.index === index && unit.config === config && isReady(state, unit)),
  );
  const error = serviceError(state, plan, units, config);
  return {
    name: plan.name,
    total: plan.service.count,
    available: replicas.filter((replica) => replica.ready).length,
    generation: state.spec.generation,
    updated: updated.length,
    replicas,
    ...(error === undefined ? {} : { error }),
  };
}

function replicaStatus(state: LeaseState, plan: ServicePlan, index: number, unit: Observed | undefined): ReplicaStatus {
  const name = replicaName(plan.name, index);
  if (unit === undefined) return { name, index, ready: false, restarts: 0, state: "pending" };
  const history = state.historyOf(unit);
  const ready = isReady(state, unit);
  const reason = history.error ?? history.reason;
  return {
    name,
    index,
    ready,
    restarts: history.restarts,
    state: wordOf(unit, ready, history.failures),
    ...(ready || reason === undefined ? {} : { reason }),
  };
}

/** It serves, and where its service has node ports, these lead to it. */
function isReady(state: LeaseState, unit: Observed): boolean {
  const hasPorts = state.spec.ports.some(({ service }) => service === unit.service);
  return unit.running && state.historyOf(unit).ready && (!hasPorts || state.reached.has(unit.id));
}

function wordOf(unit: Observed, ready: boolean, failures: number): string {
  if (unit.running) return ready ? "running" : "starting";
  return failures > 0 ? "backoff" : unit.status;
}

/** The most telling fault: of the lease or service as a whole, an undone update, single replicas, full volumes. */
function serviceError(
  state: LeaseState,
  plan: ServicePlan,
  units: readonly Observed[],
  config: string | undefined,
): string | undefined {
  const general = state.errors.get("") ?? state.errors.get(plan.name) ?? state.errors.get(`${plan.name}/ports`);
  if (general !== undefined) return general;
  const failed = state.record.failed[plan.name];
  if (failed !== undefined && failed.config === config) return failed.error;
  for (const unit of units) {
    const history = state.historyOf(unit);
    if (history.error !== undefined) return history.error;
    if (unit.running && !history.ready && history.reason !== undefined) return history.reason;
  }
  for (const { service, text } of state.full.values()) if (service === plan.name) return text;
  if (config === undefined) return undefined;
  for (let index = 0; index < plan.service.count; index++) {
    const { error } = state.history(plan.name, index, config);
    if (error !== undefined) return error;
  }
  return undefined;
}
