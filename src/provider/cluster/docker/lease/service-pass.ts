import { smallest } from "../../../../util/index.ts";
import { replicaName } from "../../contract/index.ts";
import { initFailure } from "../replica/init-failure.ts";
import type { Observed } from "../replica/observe.ts";
import { configHash, type ServicePlan } from "../replica/plan.ts";
import type { LeaseImages } from "./images.ts";
import {
  abandonRollout,
  accountExit,
  createReplica,
  removeContainer,
  startContainer,
  stopContainer,
  type Target,
} from "./operations.ts";
import { type Action, decideSlot, type Slot, type Unit } from "./rollout.ts";
import type { LeaseState } from "./state.ts";

/** The outcome of a pass over a service. */
export interface PassResult {
  /** Something was made, started or removed: check again at once. */
  readonly changed: boolean;
  /** Time of the next thing that waits, milliseconds since the epoch. */
  readonly wakeAt?: number;
}

/** Brings one service a step nearer to its manifest. */
export async function reconcileService(state: LeaseState, images: LeaseImages, plan: ServicePlan): Promise<PassResult> {
  const imageId = await images.resolve(plan);
  const config = imageId === undefined ? undefined : configHash(plan, imageId);
  const units = state.units.filter((unit) => unit.service === plan.name && !state.leaving.has(unit.id));
  for (const unit of units) {
    const cause = state.historyOf(unit).isNewExit(unit) ? await initFailure(state.context.api, unit) : undefined;
    accountExit(state, unit, { memory: plan.memory, cause });
  }
  const surplus = units.filter((unit) => unit.index >= plan.service.count);
  const removals = surplus.map((unit) => removeContainer(state, unit));
  const indexes = Array.from({ length: plan.service.count }, (_, index) => index);
  const slots = indexes.map((index) => slotOf(state, units, index, config));
  const abandoned = config !== undefined && state.record.failed[plan.name]?.config === config;
  const steps = slots.map(async (slot, index) => {
    const mayReplace = slots.slice(0, index).every((lower) => lower.current?.ready === true);
    const rules = { stopFirst: plan.stopFirst, abandoned, creatable: imageId !== undefined, mayReplace };
    const target = imageId === undefined || config === undefined ? undefined : { plan, index, imageId, config };
    let changed = false;
    for (const action of decideSlot(slot, rules)) {
      changed = (await perform({ state, images, plan, units, target }, action)) || changed;
    }
    return changed;
  });
  const restarted = state.restarts.next(units, (unit) => state.historyOf(unit).ready);
  if (restarted !== undefined) steps.push(restart(state, restarted));
  const changed = (await Promise.all([...steps, ...removals])).some((result) => result !== false);
  return { changed, ...wake(state, images, plan, units, config) };
}

/** The next pass finds it stopped by the driver itself, and starts it without a pause. */
async function restart(state: LeaseState, unit: Observed): Promise<boolean> {
  const replica = replicaName(unit.service, unit.index);
  const note = `${replica} restarts on request`;
  state.event({ type: "Normal", reason: "Restarting", note, service: unit.service, replica });
  state.historyOf(unit).requested = true;
  await stopContainer(state, unit);
  return true;
}

function slotOf(state: LeaseState, units: readonly Observed[], index: number, config: string | undefined): Slot {
  const mine = units.filter((unit) => unit.index === index).sort((a, b) => b.generation - a.generation);
  const current = mine.find((unit) => unit.config === config);
  const olds = mine.filter((unit) => unit !== current);
  return {
    current: current === undefined ? undefined : unitOf(state, current),
    olds: olds.map((unit) => unitOf(state, unit)),
  };
}

/** Ends of a replica after which it is not expected to keep running. */
const HOPELESS = 3;

function unitOf(state: LeaseState, unit: Observed): Unit {
  const history = state.historyOf(unit);
  const late = unit.running && Date.now() - unit.startedAt > state.context.settings.timing.rolloutDeadline;
  const ready = unit.running && history.ready;
  const failing = !history.stopped && (history.failures > 0 || (late && !ready));
  const hopeless = history.failures >= HOPELESS;
  return { id: unit.id, running: unit.running, ready, failing, hopeless, overdue: Date.now() > readyBy(state, unit) };
}

/** By when a replica beside an old one must be ready. A daemon that begins again gives it no further time. */
function readyBy(state: LeaseState, unit: Observed): number {
  const since = Math.min(unit.createdAt, state.historyOf(unit).since);
  return since + state.context.settings.timing.progressDeadline;
}

interface StepInput {
  readonly state: LeaseState;
  readonly images: LeaseImages;
  readonly plan: ServicePlan;
  readonly units: readonly Observed[];
  readonly target: Target | undefined;
}

/** Does one action; returns whether it changed anything. */
async function perform(input: StepInput, action: Action): Promise<boolean> {
  const { state, images, target } = input;
  if (action.kind === "create") {
    if (target === undefined || Date.now() < state.history(target.plan.name, target.index, target.config).nextStart) {
      return false;
    }
    await createReplica(state, images, target);
    return true;
  }
  const unit = input.units.find((entry) => entry.id === action.id);
  if (unit === undefined) return false;
  if (action.kind === "keep") return keepRunning(input, unit);
  if (action.kind === "stop") await stopContainer(state, unit);
  else if (action.kind === "remove") await removeContainer(state, unit);
  else await abandonRollout(state, unit);
  return true;
}

async function keepRunning(input: StepInput, unit: Observed): Promise<boolean> {
  const { state, plan } = input;
  const history = state.historyOf(unit);
  if (unit.running || !history.mayStart(Date.now())) return false;
  if (unit.status !== "created" && (!history.stopped || history.requested)) history.restarts++;
  history.requested = false;
  const replica = replicaName(unit.service, unit.index);
  await startContainer(state, { id: unit.id, unit, replica, service: unit.service, history, plan });
  return true;
}

function wake(
  state: LeaseState,
  images: LeaseImages,
  plan: ServicePlan,
  units: readonly Observed[],
  config: string | undefined,
): { wakeAt?: number } {
  const times: number[] = [];
  for (const unit of units) if (!unit.running) times.push(state.historyOf(unit).nextStart);
  if (config !== undefined) {
    for (let index = 0; index < plan.service.count; index++) {
      const { nextStart } = state.history(plan.name, index, config);
      if (nextStart > Date.now()) times.push(nextStart);
    }
  }
  const pull = images.nextTry(plan.name);
  if (pull !== undefined) times.push(pull);
  const { rolloutDeadline } = state.context.settings.timing;
  for (const unit of units.filter((each) => !state.historyOf(each).ready)) {
    if (!plan.stopFirst) times.push(readyBy(state, unit) + 1);
    else if (unit.running) times.push(unit.startedAt + rolloutDeadline + 1);
  }
  const later = times.filter((time) => time > Date.now());
  return later.length === 0 ? {} : { wakeAt: smallest(later, Number.POSITIVE_INFINITY) };
}
