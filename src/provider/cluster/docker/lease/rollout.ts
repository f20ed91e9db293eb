/** A container of a replica as the decision sees it. */
export interface Unit {
  readonly id: string;
  readonly running: boolean;
  readonly ready: boolean;
  /** It ended by itself at least once, or was not ready in time. */
  readonly failing: boolean;
  /** It ended by itself again and again. */
  readonly hopeless: boolean;
  /** It had the time to become ready that an update has. */
  readonly overdue: boolean;
}

/** All containers of one replica index. */
export interface Slot {
  /** The one made from the wanted configuration. */
  readonly current: Unit | undefined;
  /** Others, newest first. */
  readonly olds: readonly Unit[];
}

export type Action =
  | { readonly kind: "create" }
  /** Start it when it does not run and its back-off is over. */
  | { readonly kind: "keep"; readonly id: string }
  | { readonly kind: "stop"; readonly id: string }
  | { readonly kind: "remove"; readonly id: string }
  /** Give the roll-out up: remove the new one, remember the failure, go back to the old one. */
  | { readonly kind: "abandon"; readonly id: string };

export interface SlotRules {
  /** Old and new must not run at once. */
  readonly stopFirst: boolean;
  /** The wanted configuration already failed and was undone. */
  readonly abandoned: boolean;
  /** The image is there. */
  readonly creatable: boolean;
  /** It is this replica's turn to be replaced. */
  readonly mayReplace: boolean;
}

/**
 * The next action for one replica. Level-triggered: it depends only on the current state, so a daemon that was killed
 * between two actions continues where it was. The old replica goes when the new one is ready, never before, except that
 * with a volume it is stopped (not removed) for the new one to start. A replica that is not ready in time is removed
 * itself.
 */
export function decideSlot(slot: Slot, rules: SlotRules): Action[] {
  const { current, olds } = slot;
  const [best, ...rest] = byWorth(olds);
  if (best === undefined) {
    if (current !== undefined) return [keep(current)];
    return rules.creatable ? [{ kind: "create" }] : [];
  }
  const surplus = rest.map(remove);
  if (current !== undefined) return [...surplus, ...duringReplacement(current, best, rules)];
  if (!rules.creatable || rules.abandoned || !rules.mayReplace) return [...surplus, keep(best)];
  return [...surplus, ...startReplacement(best, rules)];
}

function startReplacement(best: Unit, rules: SlotRules): Action[] {
  if (!rules.stopFirst) return [keep(best), { kind: "create" }];
  if (best.ready) return [{ kind: "stop", id: best.id }, { kind: "create" }];
  // Stopped for a replacement that a restart of the daemon interrupted: still the one to fall back on.
  const stopped = !best.running && !best.failing;
  return stopped ? [{ kind: "create" }] : [remove(best), { kind: "create" }];
}

function duringReplacement(current: Unit, best: Unit, rules: SlotRules): Action[] {
  if (current.ready) return [remove(best)];
  if (!rules.stopFirst) return besideTheOld(current, best);
  return current.failing ? [{ kind: "abandon", id: current.id }] : [keep(current)];
}

/**
 * Two replicas take twice the paid resources, so one must go in the end: the new one, unless the old one ends
 * repeatedly. A stopped old one, as after a reboot of the host, is started first.
 */
function besideTheOld(current: Unit, best: Unit): Action[] {
  if (!current.overdue) return [keep(current), keep(best)];
  if (best.running) return [{ kind: "abandon", id: current.id }, keep(best)];
  return [keep(current), best.hopeless ? remove(best) : keep(best)];
}

/** The old container to fall back on: a ready one, else a running one, else the newest. */
function byWorth(olds: readonly Unit[]): Unit[] {
  const worth = (unit: Unit) => (unit.ready ? 2 : unit.running ? 1 : 0);
  return [...olds].sort((a, b) => worth(b) - worth(a));
}

function keep(unit: Unit): Action {
  return { kind: "keep", id: unit.id };
}

function remove(unit: Unit): Action {
  return { kind: "remove", id: unit.id };
}
