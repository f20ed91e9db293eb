import type { ObservedPod } from "./pods.ts";

/**
 * Which replica each pod of a service is. A pod keeps its number while it lives; a new one gets the lowest that is free, and
 * during a replacement none until an old one has gone.
 */
export class Slots {
  readonly #numbers = new Map<string, number>();

  /** Pods by their number, of `count` replicas. */
  assign(pods: readonly ObservedPod[], count: number): ReadonlyMap<number, ObservedPod> {
    const live = pods.filter(({ terminating, ended }) => !terminating && !ended);
    const present = new Set(live.map(({ uid }) => uid));
    for (const [uid, number] of this.#numbers) if (!present.has(uid) || number >= count) this.#numbers.delete(uid);
    const taken = new Map<number, ObservedPod>();
    for (const pod of live) {
      const number = pod.ordinal ?? this.#numbers.get(pod.uid);
      if (number !== undefined && number < count) taken.set(number, pod);
    }
    for (const pod of [...live].sort(byAge)) {
      if (pod.ordinal !== undefined || this.#numbers.has(pod.uid)) continue;
      const free = firstFree(taken, count);
      if (free === undefined) break;
      taken.set(free, pod);
      this.#numbers.set(pod.uid, free);
    }
    return taken;
  }
}

function byAge(a: ObservedPod, b: ObservedPod): number {
  return a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}

function firstFree(taken: ReadonlyMap<number, unknown>, count: number): number | undefined {
  for (let number = 0; number < count; number++) if (!taken.has(number)) return number;
  return undefined;
}
