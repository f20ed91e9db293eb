import type { Observed } from "../replica/observe.ts";

/** Containers that a tenant wants to start again, each with the start that it had at that time. */
export class Restarts {
  readonly #wanted = new Map<string, number>();

  /** Asks for the running containers of a service; those that do not run are started anyway. */
  add(service: string, units: readonly Observed[]): void {
    const present = new Set(units.map(({ id }) => id));
    for (const id of this.#wanted.keys()) if (!present.has(id)) this.#wanted.delete(id);
    for (const unit of units) if (unit.service === service && unit.running) this.#wanted.set(unit.id, unit.startedAt);
  }

  /** Containers that are still to be started again, or that were removed since the last wish. */
  get size(): number {
    return this.#wanted.size;
  }

  /** The next container of these to stop: none while one of them is not ready, the others of the service go on. */
  next(units: readonly Observed[], isReady: (unit: Observed) => boolean): Observed | undefined {
    const waiting = units.filter((unit) => this.#isWaiting(unit));
    if (waiting.length === 0) return undefined;
    // A container that is not ready serves nobody, so it can be first.
    const idle = waiting.find((unit) => !isReady(unit));
    if (idle !== undefined) return idle;
    return units.every((unit) => unit.running && isReady(unit)) ? waiting[0] : undefined;
  }

  #isWaiting(unit: Observed): boolean {
    const started = this.#wanted.get(unit.id);
    if (started === undefined) return false;
    if (unit.running && unit.startedAt === started) return true;
    this.#wanted.delete(unit.id);
    return false;
  }
}
